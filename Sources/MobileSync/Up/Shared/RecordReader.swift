import JSON
import Salesforce

/// Reads an org's records as one user, for one run.
///
/// A run describes an object once for each of its users.
package final class RecordReader {
  package let session: Session
  /// The reader that verifies deletions; nil if no one sees more than the user.
  package let prover: RecordReader?
  /// Responses fetched in advance; each is used once.
  var answers: [Question: Result<Answer, OrgError>] = [:]
  /// The state of missing records that was fetched in advance, by object.
  var knownFates: [String: [String: RecordFate]] = [:]
  /// The simulated writes of a dry run; nil if writes are sent.
  let presumed: SimulatedOrg?

  /// Creates a reader that verifies deletions itself.
  package convenience init(_ session: Session, presumed: SimulatedOrg? = nil) {
    self.init(session, isProver: true, prover: nil, presumed)
  }

  /// Creates a reader with another one that verifies deletions.
  package convenience init(
    _ session: Session, prover: RecordReader?, presumed: SimulatedOrg? = nil
  ) {
    self.init(session, isProver: false, prover: prover, presumed)
  }

  /// Whether it is the reader that verifies deletions and therefore sees all records.
  let isProver: Bool

  private init(
    _ session: Session, isProver: Bool, prover: RecordReader?, _ presumed: SimulatedOrg?
  ) {
    self.session = session.keepingObjects
    self.isProver = isProver
    self.prover = prover
    self.presumed = presumed
  }

  /// Whether deletions can be verified even of records that the user does not see.
  package var provesDeletions: Bool { isProver || prover != nil }

  /// Returns the description of an object for this user.
  package func describe(_ sobject: String) async throws(OrgError) -> Describe {
    if let known = known(sobject) { return known }
    // Only an error can be waiting here.
    _ = try takeAnswer(to: Question.describe(sobject).folded)
    return try await session.describe(sobject)
  }

  /// The cached description of an object for this user; nil if it was not fetched yet.
  package func known(_ sobject: String) -> Describe? { session.knownObject(sobject) }

  /// Returns the records with any number of IDs, by 18-character ID; those that cannot be read are
  /// missing.
  package func records(
    _ sobject: String, ids: [String], fields: [String]
  ) async throws(OrgError) -> [String: JSONObject] {
    let question = Question.records(sobject, ids: ids, fields: fields)
    if case .records(let ahead)? = try takeAnswer(to: question) { return ahead }
    guard let presumed else {
      return try await session.records(sobject, ids: ids, fields: fields)
    }
    let unknown = presumed.unknown(ids, fields)
    let found =
      unknown.isEmpty ? [:] : try await session.records(sobject, ids: unknown, fields: fields)
    return presumed.applied(to: found, ids, fields, for: self)
  }

  /// Returns the records with one of the given values in an external ID field; nil if the field
  /// cannot be queried in this way.
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

  /// Returns the records that a condition selects, including those in the recycle bin.
  package func records(
    _ describe: Describe, fields: [String], where condition: String, all: Bool
  ) async throws(OrgError) -> [JSONObject] {
    try await rows(.search(describe, fields: fields, where: condition, all: all))
  }

  package func rows(_ question: Question) async throws(OrgError) -> [JSONObject] {
    if case .rows(let ahead)? = try takeAnswer(to: question) { return ahead }
    guard case .rows(let rows) = try await question.ask(session) else { return [] }
    return rows
  }

  /// Returns the states of records that cannot be read; a deletion is unverified if no recycle bin
  /// shows the record.
  ///
  /// Without a prover, the user's own recycle bin is used: it shows records that the user could see
  /// before. The result has every ID.
  package func fates(
    of ids: [String], _ sobject: String
  ) async throws(OrgError) -> [String: RecordFate] {
    if ids.isEmpty { return [:] }
    if let presumed, ids.contains(where: presumed.isDeleted) {
      let gone = ids.filter(presumed.isDeleted).map { ($0.recordID18 ?? $0, RecordFate.deleted) }
      return try await fates(of: ids.filter { !presumed.isDeleted($0) }, sobject)
        .merging(gone) { $1 }
    }
    if isProver {
      let ahead = knownFates[sobject.lowercased()] ?? [:]
      let rest = ids.filter { ahead[$0] == nil }
      let known = Dictionary(ids.compactMap { id in ahead[id].map { (id, $0) } }) { $1 }
      if rest.isEmpty { return known }
      return try await session.fates(of: rest, try await describe(sobject)).merging(known) { $1 }
    }
    if let prover { return try await prover.fates(of: ids, sobject) }
    do throws(OrgError) {
      return try await session.fates(of: ids, try await describe(sobject))
    } catch {
      guard error.isAboutTheObject else { throw error }
      return Dictionary(ids.map { ($0, .unproved) }) { $1 }
    }
  }

  private func takeAnswer(to question: Question) throws(OrgError) -> Answer? {
    if answers.isEmpty { return nil }
    return try answers.removeValue(forKey: question)?.get()
  }
}
