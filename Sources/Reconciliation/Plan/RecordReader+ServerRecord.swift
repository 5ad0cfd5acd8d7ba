import MobileSync

extension RecordReader {
  /// Looks up records that cannot be read in the recycle bin, as the integration user.
  nonisolated(nonsending) func prove(_ sobject: String, absent ids: [String]) async throws
    -> [String: ServerRecord]
  {
    try await fates(of: ids, sobject).mapValues { fate in
      switch fate {
      case .deleted: .deleted
      case .merged(let id): .merged(into: id)
      case .unproved: .hidden
      }
    }
  }
}
