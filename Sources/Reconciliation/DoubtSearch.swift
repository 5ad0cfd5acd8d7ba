import JSON
import MobileSync
import Salesforce
import System

/// Looks in the org for what writes without an answer have done.
///
/// It asks as the integration user where there is one: what a sender has written may since be
/// somebody else's, or deleted. What was created is asked for as its sender too, where that user can
/// log in: an integration user need not see all.
struct DoubtSearch {
  let access: OrgRecords
  let state: LedgerDatabase
  let options: ReconcileOptions
  let sobject: String
  let run: RunRow
  /// The senders' own sessions, by their Ids.
  var senders: [String: Session] = [:]

  private typealias Answers = [(DoubtfulWrite, DoubtAnswer)]

  // MARK: updates and deletes

  /// An update is done if the record holds what was sent and the sender wrote last.
  ///
  /// Where it holds that and another wrote last, somebody may have entered the same: nothing is to be
  /// sent, and it is not said that we did it.
  func updates(_ writes: [DoubtfulWrite]) async throws -> [(DoubtfulWrite, DoubtAnswer)] {
    guard !writes.isEmpty else { return [] }
    let fields = try await readable(writes, and: ["LastModifiedById"])
    let found = try await access.read(
      sobject, ids: writes.compactMap(\.operation.recordID), fields: fields)
    return writes.map { write in
      guard let record = write.operation.recordID.flatMap({ found[$0] }),
        LostCreates.agreement(of: write.operation.payload, with: record) == .whole
      else { return (write, .notDone) }
      return (write, .done(answer(write, record, id: write.operation.recordID)))
    }
  }

  private func answer(
    _ write: DoubtfulWrite, _ record: JSONObject, id: String?
  ) -> DoubtAnswer.Found {
    var found = DoubtAnswer.Found(id: id)
    if Self.id(record["LastModifiedById"]) != senderID(of: write.operation) {
      found.isSomebodyElses = true
      found.words = "no answer came back; the org holds what was sent, and another user wrote last"
    }
    return found
  }

  /// A delete is done if the record is proved to be deleted.
  func deletes(_ writes: [DoubtfulWrite]) async throws -> [(DoubtfulWrite, DoubtAnswer)] {
    guard !writes.isEmpty else { return [] }
    let ids = writes.compactMap(\.operation.recordID)
    let found = try await access.read(sobject, ids: ids, fields: ["Id"])
    let proofs = try await access.prove(sobject, absent: ids.filter { found[$0] == nil })
    return writes.map { write in
      let isDeleted = write.operation.recordID.flatMap { proofs[$0] } == .deleted
      return (write, isDeleted ? .done(.init(id: write.operation.recordID)) : .notDone)
    }
  }

  // MARK: upserts

  /// An upsert is done if the record of its external id was made by the sender since, or holds what
  /// was sent while the sender wrote last.
  ///
  /// All else is decided anew, by comparison with what was there before it was sent.
  func upserts(_ writes: [DoubtfulWrite]) async throws -> [(DoubtfulWrite, DoubtAnswer)] {
    var answers: Answers = []
    for write in writes { answers.append((write, try await upsert(write))) }
    return answers
  }

  private func upsert(_ write: DoubtfulWrite) async throws -> DoubtAnswer {
    let operation = write.operation
    let describe = try await access.describe(sobject)
    guard let field = operation.externalField, let value = operation.externalValue,
      let condition = ExternalKey.condition(describe, field: field, values: [value])
    else { return .notDone }
    let fields = try await readable([write], and: LostCreates.auditFields)
    let rows = try await access.session.queryAllRecords(
      "SELECT \(fields.joined(separator: ", ")) FROM \(describe.name) WHERE \(condition)", all: true
    ).compactMap(\.object)
    let lost = lost(operation)
    let sender = senderID(of: operation)
    let made = rows.filter { record in
      Self.id(record["CreatedById"]) == sender && sender != nil
        && LostCreates.isInTime(of: lost, record)
    }
    if operation.seen?.object == nil, made.count == 1,
      let own = LostCreates.Made(made[0], sent: operation.payload)
    {
      return .done(found(own, operation))
    }
    let alive = rows.filter { $0["IsDeleted"]?.bool != true }
    guard alive.count == 1, let id = LostCreates.id(of: alive[0]),
      LostCreates.agreement(of: operation.payload, with: alive[0]) == .whole
    else { return .notDone }
    var found = answer(write, alive[0], id: id)
    found.created = false
    return .done(found)
  }

  // MARK: creates

  /// Creates are searched by type, creator and time, and compared here: long text cannot be
  /// filtered, and the org may have trimmed a value.
  ///
  /// Other creates without an answer, of any snapshot that has the same sender, may own what is found.
  func creates(_ writes: [DoubtfulWrite]) async throws -> [(DoubtfulWrite, DoubtAnswer)] {
    guard !writes.isEmpty else { return [] }
    let describe = try await access.describe(sobject)
    var answers: Answers = []
    var groups: [String: [DoubtfulWrite]] = [:]
    for write in writes {
      if write.operation.externalField != nil {
        answers.append((write, try await correlated(write, describe)))
      } else if let sender = senderID(of: write.operation) {
        groups[sender, default: []].append(write)
      } else {
        answers.append(
          (write, .unknown("\(write.operation.sender) sent it, whose Id is not known")))
      }
    }
    for (sender, group) in groups.sorted(by: { $0.key < $1.key }) {
      let ripe = group.filter { lost($0.operation).isOver }
      for write in group where !lost(write.operation).isOver {
        let words = "it may still be on its way; the org is asked after the quiet window"
        answers.append((write, .unknown(words)))
      }
      if !ripe.isEmpty { answers += try await search(ripe, sender, describe) }
    }
    return answers
  }

  /// A create that bears its edit's identity is found by that, at once.
  ///
  /// If it is not there it may be sent again: of two, the org refuses the later.
  private func correlated(
    _ write: DoubtfulWrite, _ describe: Describe
  ) async throws -> DoubtAnswer {
    let operation = write.operation
    guard let field = operation.externalField, let value = operation.externalValue,
      let condition = ExternalKey.condition(describe, field: field, values: [value])
    else { return .unknown("\(operation.externalField ?? "") cannot be asked for") }
    let fields = try await readable([write], and: LostCreates.auditFields)
    let rows = try await access.session.queryAllRecords(
      "SELECT \(fields.joined(separator: ", ")) FROM \(describe.name) WHERE \(condition)", all: true
    ).compactMap(\.object)
    let standing = rows.first { $0["IsDeleted"]?.bool != true } ?? rows.first
    guard let record = standing, let made = LostCreates.Made(record, sent: operation.payload)
    else { return .notDone }
    return .done(found(made, operation))
  }

  private func search(
    _ writes: [DoubtfulWrite], _ sender: String, _ describe: Describe
  ) async throws -> [(DoubtfulWrite, DoubtAnswer)] {
    var answers: Answers = []
    var asked: [DoubtfulWrite] = []
    for write in writes.sorted(by: { $0.operation.id < $1.operation.id }) {
      if LostCreates.isRefused(write.operation.payload, describe) {
        // It has made nothing: the org says so again.
        answers.append((write, .notDone))
      } else {
        asked.append(write)
      }
    }
    guard !asked.isEmpty else { return answers }
    let ids = Set(asked.map(\.operation.id))
    let rivals = try state.unfinishedOperations().filter {
      $0.action == .create && $0.externalField == nil && $0.sobject == sobject
        && !ids.contains($0.id)
        && $0.sentMilliseconds != nil && $0.state != "planned" && senderID(of: $0) == sender
        && !LostCreates.isRefused($0.payload, describe)
    }
    let all = asked.map { lost($0.operation) } + rivals.map(lost)
    var found = try await LostCreates.candidates(
      access.session, describe, of: all, userID: sender)
    if let own = senders[sender], own.identity.userID != access.session.identity.userID {
      let known = Set(found.compactMap { LostCreates.id(of: $0) })
      found += try await LostCreates.candidates(
        own, try await own.describe(sobject), of: all, userID: sender
      ).filter { LostCreates.id(of: $0).map { !known.contains($0) } ?? false }
    }
    found = try found.filter { try !state.isClaimed(recordID: LostCreates.id(of: $0) ?? "") }
    if LeftOut.rules.contains(.lostCreates) { found.removeAll { !Self.isLikeness($0, of: all) } }
    for (write, fate) in zip(asked, LostCreates.match(all, found)) {
      switch fate {
      case .made(let made): answers.append((write, .done(self.found(made, write.operation))))
      case .notMade: answers.append((write, .notDone))
      case .unclear(let words, let ids):
        answers.append((write, .unknown(words, otherID: ids.count == 1 ? ids[0] : nil)))
      }
    }
    return answers
  }

  /// Says whether a record is there and holds all that one of the creates has sent.
  private static func isLikeness(_ record: JSONObject, of creates: [LostCreates.Lost]) -> Bool {
    record["IsDeleted"]?.bool != true
      && creates.contains { LostCreates.agreement(of: $0.fields, with: record) == .whole }
  }

  /// A create as the search takes it.
  func lost(_ operation: OperationRow) -> LostCreates.Lost {
    let window = options.quietWindowSeconds * 1000
    let now = max(run.now, access.session.serverDate ?? 0)
    let sent = operation.sentMilliseconds ?? 0
    return LostCreates.Lost(
      operation.payload, sent: sent, until: sent + window, isOver: now - sent >= window)
  }

  private func found(_ made: LostCreates.Made, _ operation: OperationRow) -> DoubtAnswer.Found {
    var found = DoubtAnswer.Found(id: made.id, created: true, words: made.words)
    found.otherID = made.masterID
    found.differences = made.changed.map { name in
      FieldDifference(
        name: name, base: nil, device: operation.payload[name], server: made.record[name])
    }
    return found
  }

  // MARK: comparing

  /// The fields of the payloads that the org lets read, with `Id` and `others`.
  private func readable(
    _ writes: [DoubtfulWrite], and others: [String]
  ) async throws -> [String] {
    LostCreates.readable(
      writes.flatMap(\.operation.payload.names), try await access.describe(sobject), and: others)
  }

  /// The Id of the user who sent a write; nil where a ledger of an earlier version does not tell.
  private func senderID(of operation: OperationRow) -> String? {
    if let id = operation.senderID { return id }
    let identity = access.session.identity
    return operation.sender == identity.username ? identity.userID : nil
  }

  static func id(_ value: JSONValue?) -> String? {
    value?.string.flatMap { RecordID($0)?.text18 }
  }
}

/// Names records by a value of another system.
enum ExternalKey {
  /// The condition of a query for records with one of the values; nil where the field cannot be
  /// asked for in that way.
  static func condition(_ describe: Describe, field: String, values: [String]) -> String? {
    guard let field = describe.field(field), field.isFilterable else { return nil }
    let literals: [String]
    switch field.type {
    case "double", "int", "long", "currency", "percent":
      // A number stands bare in a query: nothing but a number may.
      literals = values.filter { Double($0)?.isFinite == true && $0.allSatisfy(Self.isOfNumber) }
    default: literals = values.map { SOQLVariables.literal($0) }
    }
    guard !literals.isEmpty else { return nil }
    return "\(field.name) IN (\(literals.joined(separator: ", ")))"
  }

  /// Says whether a record's value is the one that was asked for, as the org compares.
  static func isSame(_ one: JSONValue?, _ value: String) -> Bool {
    switch one {
    case .string(let text)?: text == value || text.lowercased() == value.lowercased()
    case .number(let literal)?: literal == value || Double(literal) == Double(value)
    default: false
    }
  }

  private static func isOfNumber(_ character: Character) -> Bool {
    character.isASCII && (character.isNumber || "+-.eE".contains(character))
  }
}
