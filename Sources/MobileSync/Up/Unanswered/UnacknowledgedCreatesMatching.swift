import JSON
import Salesforce
import System

/// Matches creates and records with each other, as a pure function of both.
struct UnacknowledgedCreatesMatching {
  /// Creates with equal fields: they cannot be distinguished, so it does not matter which of them
  /// made which record.
  private struct Group {
    var members: [Int]
    var fields: JSONObject
  }

  /// A record that some create may have made.
  private struct Candidate {
    var id: String
    var record: JSONObject
    var created: Int64
    var isDeleted: Bool
    /// Whether a user other than its creator has changed it since.
    var isTouched: Bool

    init?(_ record: JSONObject) {
      guard let id = UnacknowledgedCreates.id(of: record) else { return nil }
      self.id = id
      self.record = record
      created =
        record["CreatedDate"]?.string.flatMap { Dates.milliseconds(iso8601: $0) } ?? 0
      isDeleted = record["IsDeleted"]?.bool == true
      let maker = record["CreatedById"]
      isTouched =
        isDeleted || record["LastModifiedById"] != maker
        || record["OwnerId"].map { $0 != maker } ?? false
    }
  }

  /// How well a record matches a create, the best match first.
  private enum Tier: CaseIterable {
    /// It has what was sent, and no value that only other creates sent.
    case exact
    /// It has what was sent.
    case whole
    /// It has a value that no other create sent.
    case resembling
  }

  private let creates: [PendingWrite]
  private let describe: Describe?
  private let asksPerson: Bool
  private var fatesByCreate: [InDoubtResolver.Resolution?]
  private var groups: [Group]
  private var free: [Candidate]

  init(
    _ creates: [PendingWrite], _ candidates: [JSONObject], _ describe: Describe?, asksPerson: Bool
  ) {
    self.creates = creates
    self.describe = describe
    self.asksPerson = asksPerson
    fatesByCreate = Array(repeating: nil, count: creates.count)
    free = candidates.compactMap(Candidate.init)
    let equal = Dictionary(grouping: creates.indices) { JSONValue.object(creates[$0].fields) }
    groups = equal.values.sorted { $0[0] < $1[0] }.map {
      Group(members: $0, fields: creates[$0[0]].fields)
    }
  }

  mutating func fates() -> [InDoubtResolver.Resolution] {
    for tier in Tier.allCases {
      while assign(tier) {}
    }
    while adoptTheLast() {}
    return creates.indices.map { fatesByCreate[$0] ?? rest($0) }
  }

  /// Whether only a record that agrees in full matches the create.
  private func isUnsure(_ create: PendingWrite) -> Bool {
    !create.isOver || create.isPresumed
  }

  /// Whether a record that has no value of a create is its sender's separate work rather than the
  /// create's result.
  private func isMostLikelyUnsent(_ create: PendingWrite) -> Bool {
    create.isPresumed && !create.isRevised
  }

  // MARK: Matching

  private func isInTime(
    _ candidate: Candidate, _ create: PendingWrite,
    lateBy late: Int64 = UnacknowledgedCreates.slackMilliseconds
  ) -> Bool {
    UnacknowledgedCreates.isInTime(of: create, candidate.created, lateBy: late)
  }

  private func fits(_ candidate: Candidate, _ group: Group, _ tier: Tier) -> Bool {
    let late =
      tier == .resembling
      ? UnacknowledgedCreates.slackMilliseconds : UnacknowledgedCreates.lateMilliseconds
    guard group.members.contains(where: { isInTime(candidate, creates[$0], lateBy: late) })
    else { return false }
    switch tier {
    case .exact: return isWhole(candidate, group) && !holdsOthers(candidate, group)
    case .whole: return isWhole(candidate, group)
    case .resembling: return resembles(candidate, group)
    }
  }

  /// Whether the candidate has what was sent; false if nothing was sent.
  private func isWhole(_ candidate: Candidate, _ group: Group) -> Bool {
    WriteEvidence.isWhole(group.fields, in: candidate.record)
      && group.fields.contains { candidate.record[$0.name] != nil }
  }

  /// Whether the candidate has a value in a field that only other creates sent.
  private func holdsOthers(_ candidate: Candidate, _ group: Group) -> Bool {
    groups.contains { other in
      other.fields.names.contains { name in
        guard group.fields[name] == nil, let value = candidate.record[name] else { return false }
        return !FieldValue.isSame(value, nil) && value.bool != false
      }
    }
  }

  /// Whether the candidate has a distinctive text or number of the group; a shared reference does
  /// not distinguish records.
  private func resembles(_ candidate: Candidate, _ group: Group) -> Bool {
    group.fields.contains { name, value in
      let held = candidate.record[name]
      guard WriteEvidence.isDistinctive(value, held), FieldValue.isSame(value, held) else {
        return false
      }
      return !groups.contains { other in
        other.members != group.members && FieldValue.isSame(other.fields[name], value)
      }
    }
  }

  // MARK: Assignment

  /// Assigns records to one group if there is no alternative; returns whether it did.
  private mutating func assign(_ tier: Tier) -> Bool {
    for index in groups.indices where !groups[index].members.isEmpty {
      let group = groups[index]
      if tier == .resembling, group.members.contains(where: { isUnsure(creates[$0]) }) { continue }
      let fitting = free.filter { fits($0, group, tier) }
      var own = fitting.filter { candidate in
        !groups.contains { other in
          other.members != group.members && !other.members.isEmpty && fits(candidate, other, tier)
        }
      }
      // Of the records that have what was sent, existing ones are preferred.
      let alive = own.filter { !$0.isDeleted }
      if tier != .resembling, alive.count == group.members.count { own = alive }
      let isSettled =
        own.count == group.members.count
        || (own.count == fitting.count && own.count < group.members.count)
      guard !own.isEmpty, isSettled else { continue }
      for candidate in own { give(candidate, toGroup: index) }
      return true
    }
    return false
  }

  private mutating func give(_ candidate: Candidate, toGroup index: Int) {
    let create = groups[index].members.removeFirst()
    free.removeAll { $0.id == candidate.id }
    fatesByCreate[create] = UnacknowledgedCreates.Made(
      candidate.record, sent: creates[create].fields
    ).map { .made($0) }
  }

  /// Returns the unassigned records that a create may have made.
  ///
  /// A record from before the recorded time was dated by another clock, or is older: it must
  /// resemble the create. So must one from the day after the wait.
  private func candidates(of create: Int) -> [Candidate] {
    guard let group = groups.first(where: { $0.members.contains(create) }) else { return [] }
    return free.filter { candidate in
      guard isInTime(candidate, creates[create]) else { return isLate(candidate, creates[create]) }
      if resembles(candidate, group) { return true }
      return candidate.created >= creates[create].since / 1000 * 1000
        && ((asksPerson && !isMostLikelyUnsent(creates[create])) || candidate.isTouched)
    }
  }

  /// Whether an operator must decide about a record that was made in the day after the wait, and
  /// changed since.
  private func isLate(_ candidate: Candidate, _ create: PendingWrite) -> Bool {
    guard asksPerson, let describe else { return false }
    return isInTime(candidate, create, lateBy: UnacknowledgedCreates.lateMilliseconds)
      && !candidate.isDeleted
      && UnacknowledgedCreates.mayBe(candidate.record, create.fields, describe)
  }

  /// Assigns the record if only one record and one create remain; returns whether it did.
  ///
  /// A record that has nothing of what was sent may be the sender's separate work at that time, even
  /// if another user has changed it since, so an operator must decide.
  private mutating func adoptTheLast() -> Bool {
    for index in groups.indices where groups[index].members.count == 1 {
      let create = groups[index].members[0]
      let left = candidates(of: create)
      guard !isUnsure(creates[create]), left.count == 1, let candidate = left.first,
        isInTime(candidate, creates[create]),
        resembles(candidate, groups[index])
          || candidate.isTouched
            && WriteEvidence.derivesAny(of: groups[index].fields, in: candidate.record)
      else { continue }
      let rivals = groups.contains { other in
        other.members.contains { rival in
          rival != create && candidates(of: rival).contains { $0.id == candidate.id }
        }
      }
      if rivals { continue }
      give(candidate, toGroup: index)
      return true
    }
    return false
  }

  /// Returns the outcome of a create without a record.
  private func rest(_ create: Int) -> InDoubtResolver.Resolution {
    let left = UnacknowledgedCreates.byLikeness(
      candidates(of: create).map { ($0.id, $0.record, $0.created) }, to: creates[create].fields)
    if !creates[create].isOver {
      let words =
        creates[create].isPresumed
        ? "the next run checks again whether it was sent before the ledger was recovered"
        : "it may still be in transit; it is looked up again later"
      return .unclear(words, ids: left)
    }
    if left.isEmpty { return .notDone() }
    if creates[create].isPresumed {
      let words =
        left.count == 1
        ? "this record of its sender may be its result"
        : "these records of its sender may be its result"
      return .unclear(
        "since the ledger was recovered, it is unknown whether it was sent; \(words): "
          + UnacknowledgedCreates.named(left), ids: left)
    }
    let lost = groups.reduce(0) { $0 + $1.members.count }
    let ids = UnacknowledgedCreates.named(left)
    let subject = CountText.of(left.count, "record")
    let object = lost == 1 ? "1 create" : "one of \(lost) creates"
    return .unclear("\(subject) may be the result of \(object): \(ids)", ids: left)
  }
}
