import JSON
import MobileSync
import Salesforce

/// Reads what the org holds of records.
struct OrgRecords {
  let session: Session
  /// The session that proves deletions; nil where the pipeline names no integration user.
  let integration: Session?

  /// The names of the fields of an object that the session may read.
  func describe(_ sobject: String) async throws(OrgError) -> Describe {
    try await session.describe(sobject)
  }

  /// The records of `ids` with `fields`; those that do not read are missing.
  func read(
    _ sobject: String, ids: [String], fields: [String]
  ) async throws -> [String: JSONObject] {
    try await session.records(sobject, ids: ids, fields: fields)
  }

  /// What became of records that do not read: asked of the recycle bin as the integration user.
  func prove(_ sobject: String, absent ids: [String]) async throws -> [String: ServerRecord] {
    guard let integration, !ids.isEmpty else {
      return Dictionary(ids.map { ($0, .hidden) }, uniquingKeysWith: { $1 })
    }
    return try await integration.fates(of: ids, sobject).mapValues { fate in
      switch fate {
      case .deleted: .deleted
      case .merged(let id): .merged(into: id)
      case .unproved: .hidden
      }
    }
  }
}
