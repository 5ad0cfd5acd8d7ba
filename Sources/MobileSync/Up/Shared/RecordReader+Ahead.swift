import JSON
import Salesforce
import System

// Requests sent in advance, concurrently and for several users at once.
extension RecordReader {
  /// A request that can be sent in advance.
  package enum Question: Hashable, Sendable {
    /// The description of an object.
    case describe(String)
    /// The records with some IDs.
    case records(String, ids: [String], fields: [String])
    /// A query's result; `all` includes the recycle bin.
    case query(String, all: Bool)

    /// Returns the request for the records that a condition selects.
    package static func search(
      _ describe: Describe, fields: [String], where condition: String, all: Bool
    ) -> Question {
      .query(
        "SELECT \(fields.joined(separator: ", ")) FROM \(describe.name) WHERE \(condition)",
        all: all)
    }
  }

  enum Answer: Sendable {
    case describe(Describe)
    case records([String: JSONObject])
    case rows([JSONObject])

    /// Combines the responses to parts of a request; if one is refused, the result is its error.
    static func whole(_ parts: some Sequence<Result<Answer, OrgError>>) -> Result<Answer, OrgError>
    {
      var whole: Result<Answer, OrgError>?
      for part in parts {
        switch (whole, part) {
        case (.success(.records(let some))?, .success(.records(let more))):
          whole = .success(.records(some.merging(more) { $1 }))
        case (.failure?, _): break
        default: whole = part
        }
      }
      return whole ?? .success(.records([:]))
    }
  }

  /// A request with its reader.
  package struct Inquiry {
    let reader: RecordReader
    let question: Question

    package init(_ reader: RecordReader, _ question: Question) {
      self.reader = reader
      self.question = question
    }

    fileprivate var ids: [String] {
      if case .records(_, let ids, _) = question { ids } else { [] }
    }

    /// The request as a function that can run in any task.
    var request: @concurrent @Sendable () async -> Result<Answer, OrgError> {
      let (session, question) = (reader.session, question)
      return {
        do throws(OrgError) {
          return .success(try await question.ask(session))
        } catch {
          return .failure(error)
        }
      }
    }

    /// Stores the response in the reader.
    func keep(_ answer: Result<Answer, OrgError>) { reader.keep(answer, to: question) }
  }

  /// Requests combined into one: for records of one object, with the same fields, by one reader.
  private struct Batch {
    var members: [Inquiry]

    static func all(for inquiries: [Inquiry]) -> [Batch] {
      var batches: [Batch] = []
      var places: [Key: Int] = [:]
      for inquiry in inquiries {
        guard case .records(let sobject, _, let fields) = inquiry.question else {
          batches.append(Batch(members: [inquiry]))
          continue
        }
        let key = Key(
          reader: ObjectIdentifier(inquiry.reader),
          question: .records(sobject, ids: [], fields: fields))
        if let place = places[key] {
          batches[place].members.append(inquiry)
        } else {
          places[key] = batches.count
          batches.append(Batch(members: [inquiry]))
        }
      }
      return batches
    }

    /// The actual requests; as many as needed.
    var requests: [@concurrent @Sendable () async -> Result<Answer, OrgError>] {
      guard case .records(let sobject, _, let fields) = members[0].question else {
        return [members[0].request]
      }
      var seen: Set<String> = []
      let ids = members.flatMap(\.ids).filter { seen.insert($0).inserted }
      return ids.parts(of: RequestLimits.retrieve).map {
        Inquiry(members[0].reader, .records(sobject, ids: $0, fields: fields)).request
      }
    }

    /// Stores in each reader what it requested.
    func keep(_ answer: Result<Answer, OrgError>) {
      for member in members {
        if members.count > 1, case .success(.records(let found)) = answer {
          let own = member.ids.compactMap(\.recordID18).compactMap { id in
            found[id].map { (id, $0) }
          }
          member.keep(.success(.records(Dictionary(own) { $1 })))
        } else {
          member.keep(answer)
        }
      }
    }
  }

  /// Sends requests concurrently.
  ///
  /// The readers store the responses, including refusals, for later calls that request the same.
  package static func ask(_ inquiries: [Inquiry], inFlight: Int) async {
    var seen: Set<Key> = []
    let open = inquiries.filter { inquiry in
      if !inquiry.reader.asksAhead { return false }
      if case .describe(let name) = inquiry.question, inquiry.reader.known(name) != nil {
        return false
      }
      let key = Key(reader: ObjectIdentifier(inquiry.reader), question: inquiry.question.folded)
      return inquiry.reader.answers[key.question] == nil && seen.insert(key).inserted
    }
    let batches = Batch.all(for: open)
    let parts = batches.map { $0.requests }
    // A single request is as fast when it is needed.
    if batches.count < 2, open.count < 2, parts.reduce(0, { $0 + $1.count }) < 2 { return }
    var answers = await InFlight.all(inFlight, parts.flatMap(\.self), stops: Self.stops)[...]
    for (batch, requests) in zip(batches, parts) {
      // Requests that were not sent are sent when they are needed.
      let own = answers.prefix(requests.count).compactMap(\.self)
      if own.count == requests.count { batch.keep(Answer.whole(own)) }
      answers = answers.dropFirst(requests.count)
    }
  }

  /// Whether the response shows that the org will not answer other requests either.
  private static func stops(_ answer: Result<Answer, OrgError>) -> Bool {
    if case .failure(let error) = answer { return !error.isAboutTheObject && !error.isAboutTheUser }
    return false
  }

  /// Checks the records that were requested in advance and cannot be read, with one query for all
  /// users if a prover covers them.
  package static func askForAbsent(of inquiries: [Inquiry]) async throws(OrgError) {
    var absent: [String: Set<String>] = [:]
    var provers: [String: RecordReader] = [:]
    for inquiry in inquiries {
      guard case .records(let sobject, let ids, _) = inquiry.question,
        case .success(.records(let found))? = inquiry.reader.answers[inquiry.question],
        let prover = inquiry.reader.isProver ? inquiry.reader : inquiry.reader.prover
      else { continue }
      let missing = ids.filter { found[$0] == nil }
      if missing.isEmpty { continue }
      provers[sobject] = prover
      absent[sobject, default: []].formUnion(missing)
    }
    for (sobject, ids) in absent.sorted(by: { $0.key < $1.key }) {
      guard let prover = provers[sobject] else { continue }
      do throws(OrgError) {
        let fates = try await prover.fates(of: ids.sorted(), sobject)
        prover.knownFates[sobject.lowercased(), default: [:]].merge(fates) { $1 }
      } catch {
        // The caller that needs it gets the error from the same request.
        guard error.isAboutTheObject || error.isFailedAnswer else { throw error }
      }
    }
  }

  /// Whether requests may be sent in advance; a simulated state must be read when it is needed.
  package var asksAhead: Bool { presumed == nil }

  /// Discards the responses fetched in advance, since they may be outdated later.
  package func forgetAnswers() {
    answers = [:]
    knownFates = [:]
    prover?.forgetAnswers()
  }

  private func keep(_ answer: Result<Answer, OrgError>, to question: Question) {
    // The session caches descriptions.
    if case .success(.describe) = answer { return }
    answers[question.folded] = answer
  }

  private struct Key: Hashable {
    let reader: ObjectIdentifier
    let question: Question
  }
}

extension RecordReader.Question {
  /// The request with object names in lower case.
  var folded: RecordReader.Question {
    if case .describe(let name) = self { return .describe(name.lowercased()) }
    return self
  }

  func ask(_ session: Session) async throws(OrgError) -> RecordReader.Answer {
    switch self {
    case .describe(let name): .describe(try await session.describe(name))
    case .records(let sobject, let ids, let fields):
      .records(try await session.records(sobject, ids: ids, fields: fields))
    case .query(let soql, let all):
      .rows(try await session.queryAllRecords(soql, all: all).compactMap(\.object))
    }
  }
}
