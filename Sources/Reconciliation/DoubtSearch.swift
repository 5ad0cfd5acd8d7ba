import JSON
import MobileSync
import Salesforce
import System

/// Looks in the org for what writes without an answer have done.
struct DoubtSearch {
  let access: OrgRecords
  let state: StateDatabase
  let options: ReconcileOptions
  let sobject: String
  let run: RunRow

  private typealias Answers = [(DoubtfulWrite, DoubtAnswer)]

  /// An update is done if the record holds what was sent and the sender wrote last.
  func updates(_ writes: [DoubtfulWrite]) async throws -> [(DoubtfulWrite, DoubtAnswer)] {
    guard !writes.isEmpty else { return [] }
    let fields = try await readable(writes, and: ["LastModifiedById"])
    let found = try await access.read(
      sobject, ids: writes.compactMap(\.operation.recordID), fields: fields)
    return writes.map { write in
      guard let record = write.operation.recordID.flatMap({ found[$0] }),
        record["LastModifiedById"]?.string == access.session.identity.userID,
        LostCreates.agreement(of: write.operation.payload, with: record) == .whole
      else { return (write, .notDone) }
      return (write, .done(id: write.operation.recordID, created: nil))
    }
  }

  /// A delete is done if the record is proved to be deleted.
  func deletes(_ writes: [DoubtfulWrite]) async throws -> [(DoubtfulWrite, DoubtAnswer)] {
    guard !writes.isEmpty else { return [] }
    let ids = writes.compactMap(\.operation.recordID)
    let found = try await access.read(sobject, ids: ids, fields: ["Id"])
    let proofs = try await access.prove(sobject, absent: ids.filter { found[$0] == nil })
    return writes.map { write in
      let isDeleted = write.operation.recordID.flatMap { proofs[$0] } == .deleted
      return (write, isDeleted ? .done(id: write.operation.recordID, created: nil) : .notDone)
    }
  }

  /// An upsert can be sent again by its key; it is looked for so that its verdict says what it did.
  func upserts(_ writes: [DoubtfulWrite]) async throws -> [(DoubtfulWrite, DoubtAnswer)] {
    var answers: Answers = []
    for write in writes {
      guard let field = write.operation.externalField, let value = write.operation.externalValue
      else { continue }
      let describe = try await access.describe(sobject)
      guard let key = describe.field(field)?.name else {
        answers.append((write, .notDone))
        continue
      }
      let fields = try await readable([write], and: ["CreatedById", "CreatedDate"])
      let soql =
        "SELECT \(fields.joined(separator: ", ")) FROM \(describe.name) "
        + "WHERE \(key) = \(SOQLVariables.literal(value))"
      let found = try await access.session.queryAllRecords(soql)
      guard found.count == 1, let record = found[0].object,
        LostCreates.agreement(of: write.operation.payload, with: record) == .whole
      else {
        answers.append((write, .notDone))
        continue
      }
      let created = record["CreatedDate"]?.string.flatMap { Dates.milliseconds(iso8601: $0) }
      let isOurs =
        record["CreatedById"]?.string == access.session.identity.userID
        && (created ?? 0) >= (write.operation.sentMilliseconds ?? .max)
      answers.append((write, .done(id: LostCreates.id(of: record), created: isOurs)))
    }
    return answers
  }

  /// Creates are searched by type, creator and time, and compared here: long text cannot be
  /// filtered, and the org may have trimmed a value.
  func creates(_ writes: [DoubtfulWrite]) async throws -> [(DoubtfulWrite, DoubtAnswer)] {
    guard !writes.isEmpty else { return [] }
    let window = options.quietWindowSeconds * 1000
    let now = max(run.now, access.session.serverDate ?? 0)
    var answers: Answers = []
    var ripe: [DoubtfulWrite] = []
    for write in writes {
      if write.operation.sender != access.session.identity.username {
        answers.append((write, .unknown("\(write.operation.sender) sent it, who is not logged in")))
      } else if now - (write.operation.sentMilliseconds ?? 0) < window {
        let words = "it may still be on its way; the org is asked after the quiet window"
        answers.append((write, .unknown(words)))
      } else {
        ripe.append(write)
      }
    }
    guard !ripe.isEmpty else { return answers }
    let candidates = try await candidates(for: ripe)
    return answers + match(ripe, candidates)
  }

  private func candidates(for writes: [DoubtfulWrite]) async throws -> [JSONObject] {
    let earliest = writes.compactMap(\.operation.sentMilliseconds).min() ?? 0
    return try await LostCreates.candidates(
      access.session, access.describe(sobject), fields: writes.flatMap(\.operation.payload.names),
      userID: access.session.identity.userID, since: earliest
    ).filter {
      try !state.isClaimed(recordID: LostCreates.id(of: $0) ?? "")
    }
  }

  private func match(_ writes: [DoubtfulWrite], _ candidates: [JSONObject]) -> Answers {
    let writes = writes.sorted { $0.operation.id < $1.operation.id }
    return zip(writes, LostCreates.match(writes.map(\.operation.payload), candidates)).map {
      write, fate in
      switch fate {
      case .made(let id): (write, .done(id: id, created: nil))
      case .notMade: (write, .notDone)
      case .unclear(let words): (write, .unknown(words))
      }
    }
  }

  // MARK: comparing

  /// The fields of the payloads that the org lets read, with `Id` and `others`.
  private func readable(
    _ writes: [DoubtfulWrite], and others: [String]
  ) async throws -> [String] {
    LostCreates.readable(
      writes.flatMap(\.operation.payload.names), try await access.describe(sobject), and: others)
  }
}
