import JSON
import Salesforce
import System

/// The search for the creates of records, and of records for creates: a pure function of both.
struct UnacknowledgedCreatesMatching {
  /// Creates of equal fields: nothing tells them apart, so that it does not matter which of them made
  /// which record.
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
    /// Whether somebody else than its maker has had it in hand since.
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

  /// How a record fits a create, from the surest on.
  private enum Tier: CaseIterable {
    /// It holds what was sent, and nothing of what only other creates have sent.
    case exact
    /// It holds what was sent.
    case whole
    /// It holds a value that no other create has sent.
    case resembling
  }

  private let creates: [UnacknowledgedCreates.Lost]
  private let asksPerson: Bool
  private var fatesByCreate: [UnacknowledgedCreates.Fate?]
  private var groups: [Group]
  private var free: [Candidate]

  init(_ creates: [UnacknowledgedCreates.Lost], _ candidates: [JSONObject], asksPerson: Bool) {
    self.creates = creates
    self.asksPerson = asksPerson
    fatesByCreate = Array(repeating: nil, count: creates.count)
    free = candidates.compactMap(Candidate.init)
    let equal = Dictionary(grouping: creates.indices) { JSONValue.object(creates[$0].fields) }
    groups = equal.values.sorted { $0[0] < $1[0] }.map {
      Group(members: $0, fields: creates[$0[0]].fields)
    }
  }

  mutating func fates() -> [UnacknowledgedCreates.Fate] {
    for tier in Tier.allCases {
      while assign(tier) {}
    }
    while adoptTheLast() {}
    return creates.indices.map { fatesByCreate[$0] ?? rest($0) }
  }

  /// Whether only a record that agrees as a whole is taken for a create.
  private func isUnsure(_ create: UnacknowledgedCreates.Lost) -> Bool {
    !create.isOver || create.isPresumed
  }

  /// Whether a record that holds nothing of a create is its sender's own work rather than that.
  private func isMostLikelyUnsent(_ create: UnacknowledgedCreates.Lost) -> Bool {
    create.isPresumed && !create.isRevised
  }

  // MARK: what fits

  private func isInTime(
    _ candidate: Candidate, _ create: UnacknowledgedCreates.Lost,
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

  /// Holds what was sent; where nothing was, nothing is told by that.
  private func isWhole(_ candidate: Candidate, _ group: Group) -> Bool {
    UnacknowledgedCreates.agreement(of: group.fields, with: candidate.record) == .whole
      && group.fields.contains { candidate.record[$0.name] != nil }
  }

  /// Holds a value in a field that only other creates have sent.
  private func holdsOthers(_ candidate: Candidate, _ group: Group) -> Bool {
    groups.contains { other in
      other.fields.names.contains { name in
        guard group.fields[name] == nil, let value = candidate.record[name] else { return false }
        return !FieldValue.isSame(value, nil) && value.bool != false
      }
    }
  }

  /// Holds a text or a number of its own; that records belong together tells nothing of which is
  /// which.
  private func resembles(_ candidate: Candidate, _ group: Group) -> Bool {
    group.fields.contains { name, value in
      guard !FieldValue.isSame(value, nil), value.bool == nil, candidate.record[name]?.bool == nil,
        value.string.flatMap({ RecordID($0) }) == nil,
        FieldValue.isSame(value, candidate.record[name])
      else { return false }
      return !groups.contains { other in
        other.members != group.members && FieldValue.isSame(other.fields[name], value)
      }
    }
  }

  // MARK: assigning

  /// Gives records to one group where there is no other way to do it; says whether it did.
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
      // Of records that hold what was sent the ones that are still there will do.
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
    guard let made = UnacknowledgedCreates.Made(candidate.record, sent: creates[create].fields)
    else {
      return
    }
    fatesByCreate[create] = .made(made)
  }

  /// The records that a create may have made, of those that are left.
  ///
  /// One from before the noted time is dated by another clock, or is older: it has to resemble.
  private func candidates(of create: Int) -> [Candidate] {
    guard let group = groups.first(where: { $0.members.contains(create) }) else { return [] }
    return free.filter { candidate in
      guard isInTime(candidate, creates[create]) else { return false }
      if resembles(candidate, group) { return true }
      return candidate.created >= creates[create].sent / 1000 * 1000
        && ((asksPerson && !isMostLikelyUnsent(creates[create])) || candidate.isTouched)
    }
  }

  /// Adopts where one record and one create are left for each other; says whether it did.
  ///
  /// One that nobody has touched and that holds nothing of what was sent may be the sender's own work
  /// at that time: a person has to look.
  private mutating func adoptTheLast() -> Bool {
    for index in groups.indices where groups[index].members.count == 1 {
      let create = groups[index].members[0]
      let left = candidates(of: create)
      guard !isUnsure(creates[create]), left.count == 1, let candidate = left.first,
        candidate.isTouched || resembles(candidate, groups[index])
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

  /// What is left for a create that got no record.
  private func rest(_ create: Int) -> UnacknowledgedCreates.Fate {
    let left = UnacknowledgedCreates.byLikeness(
      candidates(of: create).map { ($0.id, $0.record, $0.created) }, to: creates[create].fields)
    if !creates[create].isOver {
      let words =
        creates[create].isPresumed
        ? "whether it was sent before the ledger was recovered is looked up once more by the next run"
        : "it may still be on its way; the org is asked again later"
      return .unclear(words, ids: left)
    }
    if left.isEmpty { return .notMade }
    if creates[create].isPresumed {
      let words =
        left.count == 1
        ? "this record of its sender may be it" : "these records of its sender may be it"
      return .unclear(
        "since the ledger was recovered nobody knows whether it was sent; \(words): "
          + UnacknowledgedCreates.named(left), ids: left)
    }
    let lost = groups.reduce(0) { $0 + $1.members.count }
    let ids = UnacknowledgedCreates.named(left)
    let subject = left.count == 1 ? "1 record" : "\(left.count) records"
    let object = lost == 1 ? "1 create" : "one of \(lost) creates"
    return .unclear("\(subject) may be what \(object) made: \(ids)", ids: left)
  }
}
