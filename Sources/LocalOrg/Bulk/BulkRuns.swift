import System

/// The runs of a job one after another, as the pieces of an answer: each is read when the last one
/// has gone.
struct BulkRuns: Sendable {
  let org: Org
  let jobID: String

  /// A first piece, then one of each run.
  func pieces(
    after head: [UInt8], _ piece: @escaping @Sendable (BulkRun) throws -> [UInt8]
  ) -> @Sendable () throws -> [UInt8]? {
    let last = Locked<Int?>(nil)
    return {
      guard let number = last.withLock({ $0 }) else {
        last.withLock { $0 = -1 }
        return head
      }
      let run = try org.locked { try BulkJobs(store: $0).run(after: number, of: jobID) }
      guard let run else { return nil }
      last.withLock { $0 = run.number }
      return try piece(run)
    }
  }

  /// A JSON list, of which each run has some entries.
  func joined(_ piece: @escaping @Sendable (BulkRun) throws -> [UInt8])
    -> @Sendable () throws -> [UInt8]?
  {
    let isOver = Locked(false)
    let hasEntries = Locked(false)
    let next = pieces(after: Array("[".utf8)) { run in
      let entries = try piece(run)
      guard !entries.isEmpty else { return [] }
      let isFirst = hasEntries.withLock { had in
        defer { had = true }
        return !had
      }
      return isFirst ? entries : Array(",".utf8) + entries
    }
    return {
      if let bytes = try next() { return bytes }
      let wasOver = isOver.withLock { over in
        defer { over = true }
        return over
      }
      return wasOver ? nil : Array("]".utf8)
    }
  }
}
