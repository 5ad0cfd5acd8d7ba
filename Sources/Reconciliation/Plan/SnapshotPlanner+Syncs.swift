import Ledger
import MobileSync

// Which of a soup's sync ups sends an edit, and with which fields.
//
// 1. They are tried in the file's order, as on a device: an edit that one leaves is passed to the
//    next.
// 2. The next one takes it only if it sends all fields that were edited of those of the previous
//    one. On a device the row would then be clean, and a field that was not sent would be lost;
//    here the first one's verdict stands.
// 3. If none of a sync up's fields were edited, the next one whose fields were edited takes it.
//    A family is sent as a whole.
// 4. An edit that all of them leave is reported, and decided by an operator with the fields of all.
extension SnapshotPlanner {
  /// The outcome of an edit with the sync ups of its soup.
  nonisolated(nonsending) func decide(
    _ candidate: Candidate, _ keyed: UpsertRule.Keyed?
  ) async throws -> (Candidate, ThreeWayRule.Step) {
    var candidate = candidate
    let isDecided = candidate.edit.decision?.decision.isAboutFields == true
    if isDecided { try listAll(&candidate) }
    var step = try await step(&candidate, keyed)
    if isDecided { return (candidate, step) }
    while case .settle(let settlement) = step {
      guard let next = try next(after: candidate, settlement) else {
        if settlement.verdict.leavesEdit, try listAll(&candidate) {
          step = try await self.step(&candidate, keyed)
        }
        break
      }
      candidate.sync = next
      candidate.listed = try fields(of: candidate, for: candidate.operation)
      step = try await self.step(&candidate, keyed)
    }
    return (candidate, step)
  }

  private nonisolated(nonsending) func step(
    _ candidate: inout Candidate, _ keyed: UpsertRule.Keyed?
  ) async throws -> ThreeWayRule.Step {
    try complete(&candidate)
    return try await upsertStep(candidate, keyed) ?? ThreeWayRule.step(candidate)
  }

  /// The sync up that takes an edit after the one that gave it this verdict; nil if none does.
  private func next(
    after candidate: Candidate, _ settlement: Settlement
  ) throws -> Int? {
    let rule = rules[candidate.sync]
    let edited: (Set<String>) -> Bool
    if settlement.verdict.leavesEdit {
      let own = candidate.operation == .delete ? [] : ThreeWayRule.editedFields(candidate)
      edited = { own.isSubset(of: $0) }
    } else if rule.place == nil, Self.hasNothing(settlement) {
      let outside = Set(settlement.detail.outside.map(\.name))
      edited = { !outside.isDisjoint(with: $0) }
    } else {
      return nil
    }
    return rules.following(candidate.sync, of: candidate.edit.soup) { next in
      // The record was read by the external ID of this sync up.
      let isOfOneKey =
        candidate.operation != .create
        || next.target.externalIdFieldName == rule.target.externalIdFieldName
      return isOfOneKey && edited(next.sentFields(of: candidate.operation))
    }
  }

  /// Whether an edit has the verdict that no field to be sent was edited.
  private static func hasNothing(_ settlement: Settlement) -> Bool {
    switch settlement.verdict {
    case .notInFieldList: true
    case .alreadyInOrg: settlement.detail.fields.isEmpty
    default: false
    }
  }

  /// Gives an edit the fields of all sync ups of its soup; returns false if it already had them.
  @discardableResult
  private func listAll(_ candidate: inout Candidate) throws -> Bool {
    let before = candidate.listed
    candidate.isOfAllSyncs = true
    candidate.listed = try fields(of: candidate, for: candidate.operation)
    return candidate.listed != before
  }

  /// The fields of an edit that an operation sends; for a deletion those that the updates of all
  /// sync ups send, because it destroys them.
  func fields(of candidate: Candidate, for operation: SyncOperation) throws -> [String] {
    let isDelete = candidate.operation == .delete
    let operation = operation == .delete ? SyncOperation.update : operation
    if candidate.isOfAllSyncs || isDelete {
      return rules.fields(of: candidate.edit.soup, for: operation)
    }
    return try rules[candidate.sync].fields(for: operation)
  }

  /// The first sync up that decides about an edit: one that names fields for its operation, if any
  /// does.
  func sync(for edit: OpenEdit) -> Int? {
    let first = firstSync[edit.id] ?? 0
    let places = rules.indices.filter { $0 >= first && rules[$0].soup == edit.soup }
    return places.first { (try? rules[$0].fields(for: edit.syncOperation)) != nil } ?? places.first
  }
}

extension Settlement {
  /// The outcome of an edit that no sync up can send, or whose element cannot be read.
  static func notSendable(_ error: SyncError) -> Settlement {
    // Only a missing field list is an error of the definition here.
    Settlement(error.code == .definition ? .notConfigured : .failed, .because(error.description))
  }
}

extension [ReconciledSync] {
  /// The next sync up of a soup that meets a condition.
  func following(
    _ place: Int, of soup: SoupKey, where isRight: (ReconciledSync) -> Bool
  ) -> Int? {
    indices.first { $0 > place && self[$0].soup == soup && isRight(self[$0]) }
  }

  /// The fields that a soup's sync ups send for an operation, each once, in the file's order.
  func fields(of soup: SoupKey, for operation: SyncOperation) -> [String] {
    var seen: Set<String> = []
    return filter { $0.soup == soup }.flatMap { (try? $0.fields(for: operation)) ?? [] }
      .filter { seen.insert($0).inserted }
  }
}

extension Decision {
  /// Whether the verdict is about an edit's fields, and so about those of all sync ups.
  fileprivate var isAboutFields: Bool {
    switch self {
    case .device, .server, .set: true
    case .record, .retry, .discard, .undo: false
    }
  }
}
