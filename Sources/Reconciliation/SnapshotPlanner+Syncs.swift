import Ledger
import MobileSync

// Which of the sync ups of a soup takes an edit, and with which fields.
//
// 1. They are asked in the file's order, as on a device: what one leaves is for the next.
// 2. The next one takes it only if it sends all that was edited of the fields of the one that left it. On a device the
//    row is clean after that, and what nobody has sent is gone; here the first one's verdict stands.
// 3. Where nothing of the one's fields was edited, the next one whose fields were takes it.
//    A family goes as a whole.
// 4. What all of them leave is shown, and decided by a person, with the fields of all.
extension SnapshotPlanner {
  /// What becomes of an edit by the sync ups of its soup.
  nonisolated(nonsending) func decide(
    _ candidate: Candidate, _ keyed: UpsertRule.Keyed?
  ) async throws -> (Candidate, EditFacts, ThreeWayRule.Step) {
    var candidate = candidate
    let isDecided = candidate.edit.decision?.decision.isAboutFields == true
    if isDecided { try listAll(&candidate) }
    var (facts, step) = try await step(candidate, keyed)
    if isDecided { return (candidate, facts, step) }
    while case .settle(let settlement) = step {
      guard let next = try next(after: candidate, facts, settlement) else {
        if settlement.verdict.leavesEdit, try listAll(&candidate) {
          (facts, step) = try await self.step(candidate, keyed)
        }
        break
      }
      candidate.sync = next
      candidate.listed = try fields(of: candidate, for: candidate.operation)
      (facts, step) = try await self.step(candidate, keyed)
    }
    return (candidate, facts, step)
  }

  private nonisolated(nonsending) func step(
    _ candidate: Candidate, _ keyed: UpsertRule.Keyed?
  ) async throws -> (EditFacts, ThreeWayRule.Step) {
    let facts = try facts(candidate)
    return (facts, try await upsertStep(candidate, facts, keyed) ?? ThreeWayRule.step(facts))
  }

  /// The sync up that takes an edit after the one that settled it so; nil where none does.
  private func next(
    after candidate: Candidate, _ facts: EditFacts, _ settlement: Settlement
  ) throws -> Int? {
    let rule = rules[candidate.sync]
    let edited: (Set<String>) -> Bool
    if settlement.verdict.leavesEdit {
      let own = candidate.operation == .delete ? [] : ThreeWayRule.editedFields(facts)
      edited = { own.isSubset(of: $0) }
    } else if rule.place == nil, Self.hasNothing(settlement) {
      let outside = Set(settlement.detail.outside.map(\.name))
      edited = { !outside.isDisjoint(with: $0) }
    } else {
      return nil
    }
    return rules.following(candidate.sync, of: candidate.edit.soup) { next in
      // The org was asked for the record of the one's external id.
      let isOfOneKey =
        candidate.operation != .create
        || next.target.externalIdFieldName == rule.target.externalIdFieldName
      return isOfOneKey && edited(next.sentFields(of: candidate.operation))
    }
  }

  /// Says whether an edit was settled because nothing that travels was edited.
  private static func hasNothing(_ settlement: Settlement) -> Bool {
    switch settlement.verdict {
    case .notInFieldList: true
    case .alreadyInOrg: settlement.detail.fields.isEmpty
    default: false
    }
  }

  /// Gives an edit the fields of all sync ups of its soup; false where these are what it had.
  @discardableResult
  private func listAll(_ candidate: inout Candidate) throws -> Bool {
    let before = candidate.listed
    candidate.isOfAllSyncs = true
    candidate.listed = try fields(of: candidate, for: candidate.operation)
    return candidate.listed != before
  }

  /// The fields of an edit that an operation sends; of a deletion what the updates of all sync ups would, for that
  /// it destroys.
  func fields(of candidate: Candidate, for operation: SyncOperation) throws -> [String] {
    let isDelete = candidate.operation == .delete
    let operation = operation == .delete ? SyncOperation.update : operation
    if candidate.isOfAllSyncs || isDelete {
      return rules.fields(of: candidate.edit.soup, for: operation)
    }
    return try rules[candidate.sync].fields(for: operation)
  }

  /// The first sync up that decides about an edit.
  func sync(for edit: OpenEdit) -> Int? {
    let first = firstSync[edit.id] ?? 0
    return rules.indices.first { $0 >= first && rules[$0].soup == edit.soup }
  }
}

extension [ReconciledSync] {
  /// The next sync up of a soup that answers to a condition.
  func following(
    _ place: Int, of soup: SoupKey, where isRight: (ReconciledSync) -> Bool
  ) -> Int? {
    indices.first { $0 > place && self[$0].soup == soup && isRight(self[$0]) }
  }

  /// What the sync ups of a soup send of an operation together, each field once, in the file's order.
  func fields(of soup: SoupKey, for operation: SyncOperation) -> [String] {
    var seen: Set<String> = []
    return filter { $0.soup == soup }.flatMap { (try? $0.fields(for: operation)) ?? [] }
      .filter { seen.insert($0).inserted }
  }
}

extension Decision {
  /// Whether it says what becomes of an edit's fields: of all, whichever sync up sends them.
  fileprivate var isAboutFields: Bool {
    switch self {
    case .device, .server, .set: true
    case .record, .retry, .discard, .undo: false
    }
  }
}
