import MobileSync
import Salesforce

/// Which records refer to others, as one user sees them; one query covers all records that a run
/// will ask about.
final class ReferringRecords {
  /// A record that refers to another one.
  struct Reference: Hashable {
    var sobject: String
    var id: String
  }

  /// The answers about the records of one object.
  private struct Answers {
    var of: [String: Set<Reference>] = [:]
    /// When they were read, in the org's time.
    var time: Int64 = 0
  }

  /// How long an answer is valid, in ms, because other users continue to work.
  private static let lifeMilliseconds: Int64 = 120_000

  private let asker: RecordReader
  private let isForAll: Bool
  private let inFlight: Int
  private var known: [String: Answers] = [:]

  /// The references that `asker` sees; `isForAll` if it is used for all users of a run.
  init(_ asker: RecordReader, isForAll: Bool, inFlight: Int) {
    (self.asker, self.isForAll, self.inFlight) = (asker, isForAll, inFlight)
  }

  /// The records that refer to some records of an object.
  ///
  /// `all` are the records that the run may still ask about.
  nonisolated(nonsending) func referring(
    to ids: [String], _ sobject: String, all: () throws -> [String]
  ) async throws -> [String: Set<Reference>] {
    let now = asker.session.serverDate ?? 0
    var answers = known[sobject] ?? Answers()
    if now - answers.time > Self.lifeMilliseconds { answers = Answers(time: now) }
    if ids.contains(where: { answers.of[$0] == nil }) {
      let others = isForAll ? try all() : []
      let asked = Set(ids + others).filter { answers.of[$0] == nil }.sorted()
      answers.of.merge(try await ask(asked, sobject)) { $1 }
    }
    // An answer is used once: a second query about a record means that it waited for another one
    // that has been deleted.
    let found = ids.map { ($0, answers.of.removeValue(forKey: $0) ?? []) }
    known[sobject] = answers
    return Dictionary(found) { $1 }
  }

  private nonisolated(nonsending) func ask(
    _ ids: [String], _ sobject: String
  ) async throws -> [String: Set<Reference>] {
    var found = Dictionary(ids.map { ($0, Set<Reference>()) }) { $1 }
    var questions: [(child: Describe.Child, question: RecordReader.Question)] = []
    for child in try await asker.describe(sobject).children where Self.isOfPeople(child.sobject) {
      for part in ids.parts(of: RequestLimits.idsPerQuery) {
        let list = part.map { "'\($0)'" }.joined(separator: ",")
        let soql =
          "SELECT Id, \(child.field) FROM \(child.sobject) WHERE \(child.field) IN (\(list))"
        questions.append((child, .query(soql, all: false)))
      }
    }
    await RecordReader.ask(
      questions.map { RecordReader.Inquiry(asker, $0.question) }, inFlight: inFlight)
    for (child, question) in questions {
      do {
        for (id, parent) in try await rows(of: child, question) where found[parent] != nil {
          found[parent]?.insert(Reference(sobject: child.sobject, id: id))
        }
      } catch let error as OrgError {
        // Records that only exist with another record, such as an activity history, cannot be
        // queried.
        guard error.isAboutTheObject, try await !isQueryable(child.sobject) else { throw error }
      }
    }
    return found
  }

  /// The records whose field has one of some records, each with that record.
  private nonisolated(nonsending) func rows(
    of child: Describe.Child, _ question: RecordReader.Question
  ) async throws -> [(id: String, parent: String)] {
    let rows = try await asker.rows(question)
    var records = rows.compactMap { row in row["Id"]?.string.map { ($0, row) } }
    if !asker.asksAhead, !rows.isEmpty {
      // A dry run knows which of them it has presumed to be changed.
      records = try await asker.records(
        child.sobject, ids: records.map(\.0), fields: ["Id", child.field]
      ).map { ($0.key, $0.value) }
    }
    return records.compactMap { id, record in
      record[child.field]?.string?.recordID18.map { (id.recordID18 ?? id, $0) }
    }
  }

  /// Whether an object can be queried, as far as the asker can know.
  private nonisolated(nonsending) func isQueryable(_ sobject: String) async throws -> Bool {
    do throws(OrgError) {
      return try await asker.describe(sobject).isQueryable
    } catch {
      guard error.isAboutTheObject else { throw error }
      return true
    }
  }

  /// Whether the rows of an object are created by users or programs, and not by the org for each
  /// record.
  private static func isOfPeople(_ sobject: String) -> Bool {
    !["History", "Feed", "Share", "ChangeEvent"].contains { sobject.hasSuffix($0) }
      && sobject != "EntitySubscription"
  }
}
