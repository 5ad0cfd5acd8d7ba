import System

/// What a user may do with a record that he can read.
package struct RecordAccess: Sendable, Hashable {
  /// Whether he may change it.
  package var mayEdit: Bool
  /// Whether he may delete it.
  package var mayDelete: Bool
}

extension Session {
  /// What the session's user may do with records, by their 18 characters; those that he cannot read are
  /// missing (Object Reference, "UserRecordAccess").
  package func access(to ids: [String]) async throws(OrgError) -> [String: RecordAccess] {
    var found: [String: RecordAccess] = [:]
    let known = Set(ids.compactMap(\.recordID18)).sorted()
    for part in known.parts(of: RequestLimits.recordAccess) {
      let rows = try await queryAllRecords(
        "SELECT RecordId, HasEditAccess, HasDeleteAccess FROM UserRecordAccess WHERE UserId = "
          + SOQLLiteral.text(identity.userID) + " AND RecordId IN ("
          + part.map { SOQLLiteral.text($0) }.joined(separator: ", ") + ")")
      for row in rows {
        guard let id = row["RecordId"]?.string?.recordID18 else { continue }
        found[id] = RecordAccess(
          mayEdit: row["HasEditAccess"]?.bool ?? true,
          mayDelete: row["HasDeleteAccess"]?.bool ?? true)
      }
    }
    return found
  }
}
