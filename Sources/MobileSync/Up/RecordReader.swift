import JSON
import Salesforce

/// What one user may read of an org's records, in one run.
///
/// A run describes an object once for each of its users.
package final class RecordReader {
  /// Who reads.
  package let session: Session
  /// Who proves deletions; nil where nobody can.
  package let prover: RecordReader?
  private var describes: [String: Describe] = [:]

  /// A reader that proves deletions itself.
  package convenience init(_ session: Session) { self.init(session, isProver: true, prover: nil) }

  /// A reader for whom another one proves deletions.
  package convenience init(_ session: Session, prover: RecordReader?) {
    self.init(session, isProver: false, prover: prover)
  }

  private let isProver: Bool

  private init(_ session: Session, isProver: Bool, prover: RecordReader?) {
    self.session = session
    self.isProver = isProver
    self.prover = prover
  }

  /// Whether what is deleted can be told from what the user does not see.
  package var provesDeletions: Bool { isProver || prover != nil }

  /// What the org says of an object to this user.
  package func describe(_ sobject: String) async throws(OrgError) -> Describe {
    let key = sobject.lowercased()
    if let known = describes[key] { return known }
    let describe = try await session.describe(sobject)
    describes[key] = describe
    return describe
  }

  /// The records of any number of ids, by their 18 characters; those that do not read are missing.
  package func records(
    _ sobject: String, ids: [String], fields: [String]
  ) async throws(OrgError) -> [String: JSONObject] {
    try await session.records(sobject, ids: ids, fields: fields)
  }

  /// The records that a condition selects, those in the recycle bin too.
  package func records(
    _ describe: Describe, fields: [String], where condition: String, all: Bool
  ) async throws(OrgError) -> [JSONObject] {
    try await session.queryAllRecords(
      "SELECT \(fields.joined(separator: ", ")) FROM \(describe.name) WHERE \(condition)", all: all
    ).compactMap(\.object)
  }

  /// What became of records that do not read; unproved where nobody can prove it.
  ///
  /// Every id has an answer.
  package func fates(
    of ids: [String], _ sobject: String
  ) async throws(OrgError) -> [String: RecordFate] {
    if ids.isEmpty { return [:] }
    if isProver { return try await session.fates(of: ids, try await describe(sobject)) }
    guard let prover else { return Dictionary(ids.map { ($0, .unproved) }) { $1 } }
    return try await prover.fates(of: ids, sobject)
  }
}
