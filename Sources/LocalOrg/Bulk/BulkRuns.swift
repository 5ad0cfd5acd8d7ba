import System

/// The runs of a job as the parts of a response; each is read after the previous one was sent.
struct BulkRuns: Sendable {
  let org: Org
  let jobID: String

  /// Returns a first part, then one for each run.
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

  /// Returns a JSON list to which each run contributes entries.
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
