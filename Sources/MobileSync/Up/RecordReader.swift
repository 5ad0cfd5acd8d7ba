import JSON
import Salesforce

/// What one user may read of an org's records, in one run.
///
/// A run describes an object once for each of its users.
package final class RecordReader {
  /// Who reads.
  package let session: Session
  /// Who proves deletions; nil where no one sees more than the user.
  package let prover: RecordReader?
  /// Answers that were asked for ahead; each is good once.
  var answers: [Question: Result<Answer, OrgError>] = [:]
  /// By object: what became of records, where that was asked for ahead.
  var knownFates: [String: [String: RecordFate]] = [:]
  /// What a dry run presumes to have written; nil where writes are sent.
  let presumed: PresumedWrites?

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

  let isProver: Bool

  private init(
    _ session: Session, isProver: Bool, prover: RecordReader?, _ presumed: PresumedWrites?
  ) {
    self.session = session.keepingObjects
    self.isProver = isProver
    self.prover = prover
    self.presumed = presumed
  }

  /// Whether what is deleted can be told from what the user does not see, whatever that is.
  package var provesDeletions: Bool { isProver || prover != nil }

  /// Whether it is the one who proves deletions, and therefore sees all records.
  var seesAll: Bool { isProver }

  /// What the org says of an object to this user.
  package func describe(_ sobject: String) async throws(OrgError) -> Describe {
    if let known = known(sobject) { return known }
    // Only a refusal waits there.
    _ = try takeAnswer(to: Question.describe(sobject).folded)
    return try await session.describe(sobject)
  }

  /// What the org has said of an object to this user; nil where it was not asked yet.
  package func known(_ sobject: String) -> Describe? { session.knownObject(sobject) }

  /// The records of any number of ids, by their 18 characters; those that do not read are missing.
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
    try await rows(.search(describe, fields: fields, where: condition, all: all))
  }

  /// What a query selects.
  package func rows(_ question: Question) async throws(OrgError) -> [JSONObject] {
    if case .rows(let ahead)? = try takeAnswer(to: question) { return ahead }
    guard case .rows(let rows) = try await question.ask(session) else { return [] }
    return rows
  }

  /// The fates of records that do not read; unproved where no recycle bin shows them.
  ///
  /// Without a prover the user's own recycle bin tells: it shows what the user could see before.
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
