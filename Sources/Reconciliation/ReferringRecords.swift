import MobileSync
import Salesforce

/// Which records refer to others, as one user sees them: asked at once for all about which a run will ask.
final class ReferringRecords {
  /// A record that refers to another one.
  struct Reference: Hashable {
    var sobject: String
    var id: String
  }

  /// What is known of the records of one object.
  private struct Answers {
    var of: [String: Set<Reference>] = [:]
    /// By the org's clock.
    var time: Int64 = 0
  }

  /// How long an answer is taken for true, in ms: others go on with their work.
  private static let lifeMilliseconds: Int64 = 120_000

  private let asker: RecordReader
  private let isForAll: Bool
  private let inFlight: Int
  private var known: [String: Answers] = [:]

  /// What `asker` sees; `isForAll` where he asks for all users of a run.
  init(_ asker: RecordReader, isForAll: Bool, inFlight: Int) {
    (self.asker, self.isForAll, self.inFlight) = (asker, isForAll, inFlight)
  }

  /// The records that refer to some records of an object.
  ///
  /// `all` are those about which the run may still ask.
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
    // An answer is good once: what is asked about again waited for something that is gone by now.
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
        // What is there only beside another record, such as a history of activities, cannot be asked.
        guard error.isAboutTheObject, try await !isQueryable(child.sobject) else { throw error }
      }
    }
    return found
  }

  /// The records whose field names one of some records, each with that one.
  private nonisolated(nonsending) func rows(
    of child: Describe.Child, _ question: RecordReader.Question
  ) async throws -> [(id: String, parent: String)] {
    let rows = try await asker.rows(question)
    var records = rows.compactMap { row in row["Id"]?.string.map { ($0, row) } }
    if !asker.asksAhead, !rows.isEmpty {
      // A dry run knows which of them it has presumed to change.
      records = try await asker.records(
        child.sobject, ids: records.map(\.0), fields: ["Id", child.field]
      ).map { ($0.key, $0.value) }
    }
    return records.compactMap { id, record in
      record[child.field]?.string?.recordID18.map { (id.recordID18 ?? id, $0) }
    }
  }

  /// Says whether an object answers queries at all, as far as the asker may know.
  private nonisolated(nonsending) func isQueryable(_ sobject: String) async throws -> Bool {
    do throws(OrgError) {
      return try await asker.describe(sobject).isQueryable
    } catch {
      guard error.isAboutTheObject else { throw error }
      return true
    }
  }

  /// Says whether the rows of an object are made by people or their programs, and not by the org beside
  /// each record.
  private static func isOfPeople(_ sobject: String) -> Bool {
    !["History", "Feed", "Share", "ChangeEvent"].contains { sobject.hasSuffix($0) }
      && sobject != "EntitySubscription"
  }
}
