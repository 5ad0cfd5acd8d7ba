import Ledger

/// Some of a report's edits, in order of arrival, with their totals.
///
/// Which edits they are is in memory. What each of them says is read from the ledger while it is told, so
/// that the report of a thousand returns takes hardly more memory than that of one.
package struct ReportEdits {
  /// One edit, as it is kept in memory: 16 bytes.
  package struct Row: Sendable {
    /// Its number in the ledger.
    package let number: Int64
    /// The number of the run that gave the verdict.
    package let run: Int32
    /// The verdict.
    package let verdict: Verdict

    package init(number: Int64, run: Int32, verdict: Verdict) {
      self.number = number
      self.run = run
      self.verdict = verdict
    }
  }

  /// Hands over what rows say, each in its turn, and where that is asked for with what was sent.
  package typealias Reading = (
    _ rows: [Row], _ withSent: Bool, _ body: (ReportEdit) throws -> Void
  ) throws -> Void

  /// The edits, by rising numbers.
  let rows: [Row]
  /// What they come to.
  package let totals: ReportTotals
  private let read: Reading

  /// Edits by rising numbers, with what reads them.
  package init(rows: [Row], totals: ReportTotals, read: @escaping Reading) {
    self.rows = rows
    self.totals = totals
    self.read = read
  }

  /// No edits.
  static var none: ReportEdits { ReportEdits(rows: [], totals: ReportTotals()) { _, _, _ in } }

  /// How many there are.
  package var count: Int { rows.count }

  /// Says whether there are none.
  package var isEmpty: Bool { rows.isEmpty }

  /// Says whether an edit is among them.
  package func contains(_ number: Int64) -> Bool {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < rows.count && rows[low].number == number
  }

  /// How many edits are read at a time.
  package static let batch = 500

  /// Hands over the edits that are wanted, in order of arrival, no more than `limit` of them; `withSent` also
  /// reads what was sent of them.
  ///
  /// - Throws: what `body` throws, or an error of the ledger.
  package func forEach(
    where isWanted: (Row) -> Bool = { _ in true }, limit: Int = .max, withSent: Bool = false,
    _ body: (ReportEdit) throws -> Void
  ) throws {
    var batch: [Row] = []
    var room = limit
    for row in rows where room > 0 && isWanted(row) {
      batch.append(row)
      room -= 1
      if batch.count == Self.batch {
        try read(batch, withSent, body)
        batch.removeAll(keepingCapacity: true)
      }
    }
    if !batch.isEmpty { try read(batch, withSent, body) }
  }

  /// All of them at once: for where there are few.
  package func all() throws -> [ReportEdit] {
    var edits: [ReportEdit] = []
    try forEach { edits.append($0) }
    return edits
  }
}
