import System

/// A user's access to a record that the user can read.
package struct RecordAccess: Sendable, Hashable {
  /// Whether the user may change the record.
  package var mayEdit: Bool
  /// Whether the user may delete the record.
  package var mayDelete: Bool
}

extension Session {
  /// The session user's access to records, by their 18-character IDs.
  ///
  /// Records that the user cannot read are missing (Object Reference, "UserRecordAccess").
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
