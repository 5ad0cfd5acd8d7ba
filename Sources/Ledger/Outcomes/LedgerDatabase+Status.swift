import SQLite

extension LedgerDatabase {
  /// The number of edits with an unresolved latest verdict, by verdict; `status` shows them as
  /// open.
  package func unsettledEdits() throws -> [Verdict: Int] {
    var counts: [Verdict: Int] = [:]
    for row in try connection.all(
      "SELECT verdict, count(*) FROM edit e WHERE \(Self.isUnsettledEdit) GROUP BY verdict")
    {
      guard let verdict = row[0].text.flatMap(Verdict.init(rawValue:)), !verdict.isSettled else {
        continue
      }
      counts[verdict] = Int(row[1].integer ?? 0)
    }
    return counts
  }
}
