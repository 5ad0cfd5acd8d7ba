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
        agreement(of: write.operation.payload, with: record) == .whole
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
        agreement(of: write.operation.payload, with: record) == .whole
      else {
        answers.append((write, .notDone))
        continue
      }
      let created = record["CreatedDate"]?.string.flatMap { Dates.milliseconds(iso8601: $0) }
      let isOurs =
        record["CreatedById"]?.string == access.session.identity.userID
        && (created ?? 0) >= (write.operation.sentMilliseconds ?? .max)
      answers.append((write, .done(id: Self.id(of: record), created: isOurs)))
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
    let describe = try await access.describe(sobject)
    let earliest = writes.compactMap(\.operation.sentMilliseconds).min() ?? 0
    let fields = try await readable(writes, and: ["CreatedDate"])
    // The user id is the session's own.
    let soql =
      "SELECT \(fields.joined(separator: ", ")) FROM \(describe.name) "
      + "WHERE CreatedById = '\(access.session.identity.userID)' "
      + "AND CreatedDate >= \(Dates.utcSeconds(earliest)) ORDER BY Id"
    return try await access.session.queryAllRecords(soql).compactMap(\.object).filter {
      try !state.isClaimed(recordID: Self.id(of: $0) ?? "")
    }
  }

  /// Gives records to creates.
  ///
  /// Equal creates are interchangeable: as many records as creates are theirs. Where the numbers
  /// differ, or a record agrees in part, a person has to look.
  private func match(_ writes: [DoubtfulWrite], _ candidates: [JSONObject]) -> Answers {
    var answers: Answers = []
    var free = candidates
    var unmatched: [DoubtfulWrite] = []
    let groups = Dictionary(grouping: writes) { JSONValue.object($0.operation.payload) }
    for group in groups.values.sorted(by: { $0[0].operation.id < $1[0].operation.id }) {
      let agreeing = free.filter {
        agreement(of: group[0].operation.payload, with: $0) == .whole
      }
      if agreeing.count == group.count {
        for (write, record) in zip(group, agreeing) {
          answers.append((write, .done(id: Self.id(of: record), created: nil)))
        }
        let taken = Set(agreeing.compactMap(Self.id))
        free.removeAll { Self.id(of: $0).map(taken.contains) ?? false }
      } else if agreeing.isEmpty {
        unmatched += group
      } else {
        let words = "\(agreeing.count) records may be what \(group.count) creates made"
        answers += group.map { ($0, .unknown(words)) }
      }
    }
    return answers
      + unmatched.map { write in
        let similar = free.contains {
          agreement(of: write.operation.payload, with: $0) == .partial
        }
        let words = "a record created at that time agrees in part with it"
        return (write, similar ? .unknown(words) : .notDone)
      }
  }

  // MARK: comparing

  private enum Agreement { case whole, partial, none }

  private func agreement(of payload: JSONObject, with record: JSONObject) -> Agreement {
    let compared = payload.filter { record[$0.name] != nil }
    guard !compared.isEmpty else { return payload.isEmpty ? .whole : .partial }
    let same = compared.count { FieldValue.isSame($0.value, record[$0.name]) }
    if same == compared.count { return .whole }
    return same * 2 > compared.count ? .partial : .none
  }

  /// The fields of the payloads that the org lets read, with `Id` and `others`.
  private func readable(
    _ writes: [DoubtfulWrite], and others: [String]
  ) async throws -> [String] {
    let describe = try await access.describe(sobject)
    let names = Set(writes.flatMap(\.operation.payload.names) + others)
    return ["Id"] + names.compactMap { describe.field($0)?.name }.filter { $0 != "Id" }.sorted()
  }

  private static func id(of record: JSONObject) -> String? {
    record["Id"]?.string.flatMap { RecordID($0)?.text18 }
  }
}
