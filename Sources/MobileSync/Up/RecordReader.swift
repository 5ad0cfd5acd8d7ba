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
  /// What a dry run presumes to have written; nil where writes are sent.
  private let presumed: PresumedWrites?

  /// A reader that proves deletions itself.
  package convenience init(_ session: Session, presumed: PresumedWrites? = nil) {
    self.init(session, isProver: true, prover: nil, presumed)
  }

  /// A reader for whom another one proves deletions.
  package convenience init(
    _ session: Session, prover: RecordReader?, presumed: PresumedWrites? = nil
  ) {
    self.init(session, isProver: false, prover: prover, presumed)
  }

  private let isProver: Bool

  private init(
    _ session: Session, isProver: Bool, prover: RecordReader?, _ presumed: PresumedWrites?
  ) {
    self.session = session
    self.isProver = isProver
    self.prover = prover
    self.presumed = presumed
  }

  /// Whether what is deleted can be told from what the user does not see.
  package var provesDeletions: Bool { isProver || prover != nil }

  /// Whether it is the one who proves deletions, and therefore sees all records.
  var seesAll: Bool { isProver }

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
    guard let presumed else {
      return try await session.records(sobject, ids: ids, fields: fields)
    }
    let unknown = presumed.unknown(ids, fields)
    let found =
      unknown.isEmpty ? [:] : try await session.records(sobject, ids: unknown, fields: fields)
    return presumed.applied(to: found, ids, fields, for: self)
  }

  /// The records that have one of some values in a field that holds external ids; nil where the field
  /// cannot be asked for in that way.
  package func records(
    _ describe: Describe, fields: [String], externalID field: String, among values: [String]
  ) async throws(OrgError) -> [JSONObject]? {
    guard let condition = ExternalIDQuery.condition(describe, field: field, values: values) else {
      return nil
    }
    let rows = try await records(describe, fields: fields, where: condition, all: false)
    guard let presumed else { return rows }
    return presumed.applied(
      to: rows, fields, of: describe.name, field: field, values: values, for: self)
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
    if let presumed, ids.contains(where: presumed.isDeleted) {
      let gone = ids.filter(presumed.isDeleted).map { ($0.recordID18 ?? $0, RecordFate.deleted) }
      return try await fates(of: ids.filter { !presumed.isDeleted($0) }, sobject)
        .merging(gone) { $1 }
    }
    if isProver { return try await session.fates(of: ids, try await describe(sobject)) }
    guard let prover else { return Dictionary(ids.map { ($0, .unproved) }) { $1 } }
    return try await prover.fates(of: ids, sobject)
  }
}
