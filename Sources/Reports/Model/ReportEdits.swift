import Ledger

/// Some of a report's edits, in order of arrival, with their totals.
///
/// Only the list of edits is in memory. Their content is read from the ledger as it is needed, so
/// that a report of a thousand returns takes little more memory than that of one.
package struct ReportEdits {
  /// One edit as kept in memory, in 16 bytes.
  package struct Row: Sendable {
    package let number: Int64
    /// The number of the run that gave the verdict.
    package let run: Int32
    package let verdict: Verdict

    package init(number: Int64, run: Int32, verdict: Verdict) {
      self.number = number
      self.run = run
      self.verdict = verdict
    }
  }

  /// Passes the content of rows to a closure, in order, with what was sent if requested.
  package typealias Reading = (
    _ rows: [Row], _ withSent: Bool, _ body: (ReportEdit) throws -> Void
  ) throws -> Void

  let rows: [Row]
  package let totals: ReportTotals
  private let read: Reading

  /// Edits in ascending order, with the closure that reads them.
  package init(rows: [Row], totals: ReportTotals, read: @escaping Reading) {
    self.rows = rows
    self.totals = totals
    self.read = read
  }

  static var none: ReportEdits { ReportEdits(rows: [], totals: ReportTotals()) { _, _, _ in } }

  package var count: Int { rows.count }

  package var isEmpty: Bool { rows.isEmpty }

  package func contains(_ number: Int64) -> Bool {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < rows.count && rows[low].number == number
  }

  /// The number of edits read at a time.
  package static let batch = 500

  /// Passes the selected edits to `body`, in order of arrival, at most `limit` of them; with
  /// `withSent`, including what was sent.
  ///
  /// - Throws: errors from `body` and from the ledger.
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

  /// All edits at once, for small numbers.
  package func all() throws -> [ReportEdit] {
    var edits: [ReportEdit] = []
    try forEach { edits.append($0) }
    return edits
  }
}
