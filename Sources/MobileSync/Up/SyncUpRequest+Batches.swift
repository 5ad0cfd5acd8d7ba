import Salesforce
import System

extension SyncUpRequest {
  /// Changes that go in one request.
  package struct Batch<Change: SyncUpChange> {
    package var form: Form
    package var changes: [Change]

    /// Changes for a resource.
    package init(form: Form, changes: [Change]) {
      self.form = form
      self.changes = changes
    }
  }

  /// The batches that carry changes, by the kind of target.
  ///
  /// A batch takes as many changes as the target says, in their order. A collection is of one
  /// operation, in the SDK's order; it bears no condition, so that changes with one go in composites.
  /// A tree is one composite, with a place for what is read in it. Records are brought back in collections of
  /// their own, whatever the target. Of more than `bulkAbove` changes of one
  /// action and object the org makes jobs, whatever the target.
  package static func batches<Change: SyncUpChange>(
    _ changes: [Change], kind: SyncUpTarget.Kind, maxBatchSize: Int, reads: Bool = false,
    bulkAbove: Int? = nil
  ) -> [Batch<Change>] {
    let undeletes = changes.filter { $0.action == .undelete }
    if !undeletes.isEmpty {
      return undeletes.parts(of: RequestLimits.undelete).map {
        Batch(form: .collection, changes: $0)
      }
        + batches(
          changes.filter { $0.action != .undelete }, kind: kind, maxBatchSize: maxBatchSize,
          reads: reads, bulkAbove: bulkAbove)
    }
    if let bulkAbove, kind != .custom, kind != .parentChildren {
      let (jobs, rest) = jobs(changes, above: bulkAbove)
      return jobs
        + batches(rest, kind: kind, maxBatchSize: maxBatchSize, reads: reads)
    }
    switch kind {
    case .single, .custom:
      return changes.map { Batch(form: .row, changes: [$0]) }
    case .batch, .parentChildren:
      let most = kind == .batch ? maxBatchSize : RequestLimits.composite - (reads ? 1 : 0)
      return changes.parts(of: min(most, RequestLimits.composite)).map {
        Batch(form: .composite, changes: $0)
      }
    case .collection:
      return changes.parts(of: min(maxBatchSize, RequestLimits.collection)).flatMap { window in
        SyncUpAction.allCases.flatMap { action in
          collections(window.filter { $0.action == action }, action)
        }
      }
    }
  }

  /// Batches in steps: those of a step may go beside each other.
  ///
  /// A record has one change at most, so that only operations have an order, the SDK's: of collections
  /// that of their actions, of rows their own. The requests of a tree need each other's answers.
  package static func steps<Change: SyncUpChange>(
    _ batches: [Batch<Change>], kind: SyncUpTarget.Kind
  ) -> [[Batch<Change>]] {
    switch kind {
    case .parentChildren: return batches.map { [$0] }
    case .batch: return batches.isEmpty ? [] : [batches]
    case .collection:
      return SyncUpAction.allCases.map { action in
        batches.filter { $0.changes.first?.action == action }
      }.filter { !$0.isEmpty }
    case .single, .custom:
      return batches.reduce(into: []) { steps, batch in
        if let last = steps.last?.first?.changes.first, last.action == batch.changes.first?.action {
          steps[steps.count - 1].append(batch)
        } else {
          steps.append([batch])
        }
      }
    }
  }

  private static func collections<Change: SyncUpChange>(
    _ changes: [Change], _ action: SyncUpAction
  ) -> [Batch<Change>] {
    let plain = changes.filter { !$0.isConditional }
    let conditional = changes.filter { $0.isConditional }
    return runs(plain, action).map { Batch(form: .collection, changes: $0) }
      + conditional.parts(of: RequestLimits.composite).map { Batch(form: .composite, changes: $0) }
  }

  /// Records of one type follow each other.
  ///
  /// An upsert names its type in the address. Of deletes the documentation names no bound, and they keep it all
  /// the same.
  private static func runs<Change: SyncUpChange>(
    _ changes: [Change], _ action: SyncUpAction
  ) -> [[Change]] {
    if changes.isEmpty { return [] }
    var types: [String] = []
    for change in changes where !types.contains(change.objectType) {
      types.append(change.objectType)
    }
    return types.parts(of: action == .upsert ? 1 : RequestLimits.typesOfCollection).map { part in
      part.flatMap { type in changes.filter { $0.objectType == type } }
    }
  }
}
