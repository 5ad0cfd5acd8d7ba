import Ledger
import Returns
import SmartStore

/// A return that was proved and read, and is not in the ledger yet.
struct ReadReturn: Sendable {
  /// What it was found to be.
  var validated: ValidatedReturn
  /// The return itself, then the stores in it that have a stamp of their own.
  var parts: [Part]

  /// The stores of one stamp.
  struct Part: Sendable {
    /// What the ledger keeps of it.
    var row: ReturnRow
    /// The stamp.
    let stampID: String
    /// How its stores are read.
    let reading: ReturnReading
    /// Each store that was read, with what was found.
    var stores: [(store: ValidatedStore, found: EditReading)] = []

    init(row: ReturnRow, stampID: String, reading: ReturnReading) {
      (self.row, self.stampID, self.reading) = (row, stampID, reading)
    }

    /// Notes in the row what was read.
    mutating func takeStock() {
      for (_, found) in stores {
        row.soupTotals.merge(found.totals) { $1 }
        row.compared.formUnion(found.compared)
      }
    }

    /// What the ledger enters, with the clean ones among rows that earlier returns had as edits.
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

  /// The soups that were not issued and are an app's own: nothing was read from them.
  var leftAlone: [String] {
    let read = Set(parts.flatMap(\.row.soupTotals.keys).map(\.soup))
    return Set(validated.stores.flatMap(\.unknownSoups)).subtracting(read).sorted()
  }
}
