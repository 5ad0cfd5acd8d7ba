import Ledger
import Returns
import SmartStore

/// A return that was validated and read, but is not in the ledger yet.
struct ReadReturn: Sendable {
  /// The result of the validation.
  var validated: ValidatedReturn
  /// The return itself, then the stores in it that have their own stamp.
  var parts: [Part]

  /// The stores of one stamp.
  struct Part: Sendable {
    /// Its row in the ledger.
    var row: ReturnRow
    /// The ID of the stamp.
    let stampID: String
    /// The reader of its stores.
    let reading: ReturnReading
    /// The stores that were read, each with its edits.
    var stores: [(store: ValidatedStore, found: EditReading)] = []

    init(row: ReturnRow, stampID: String, reading: ReturnReading) {
      (self.row, self.stampID, self.reading) = (row, stampID, reading)
    }

    /// Updates the row with what was read.
    mutating func takeStock() {
      for (_, found) in stores {
        row.soupTotals.merge(found.totals) { $1 }
        row.compared.formUnion(found.compared)
      }
    }

    /// Returns what the ledger records, including the unchanged rows among those that earlier
    /// returns had as edits.
    func entry(_ rows: [RowKey], _ platform: Platform) throws -> ReturnPart {
      var entry = ReturnPart(row: row, edits: [], witnesses: [])
      for (store, found) in stores {
        entry.edits += found.edits
        entry.witnesses += try reading.witnesses(
          store, platform: platform, rows: rows, besides: found)
      }
      return entry
    }
  }

  /// The soups that were not issued and belong to the app.
  ///
  /// They are not read.
  var leftAlone: [String] {
    let read = Set(parts.flatMap(\.row.soupTotals.keys).map(\.soup))
    return Set(validated.stores.flatMap(\.unknownSoups)).subtracting(read).sorted()
  }
}
