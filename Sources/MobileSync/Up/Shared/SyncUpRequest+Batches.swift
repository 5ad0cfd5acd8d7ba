import Salesforce
import System

extension SyncUpRequest {
  /// Changes sent in one request.
  package struct Batch<Change: SyncUpChange> {
    package var form: Form
    package var changes: [Change]

    package init(form: Form, changes: [Change]) {
      self.form = form
      self.changes = changes
    }

    /// The batches in its place, in order: a change that goes alone has a separate one.
    var separated: [Batch] {
      guard form != .job, changes.count > 1, changes.contains(where: \.goesAlone) else {
        return [self]
      }
      var parts: [[Change]] = []
      for change in changes {
        if let last = parts.last?.last, !change.goesAlone, !last.goesAlone {
          parts[parts.count - 1].append(change)
        } else {
          parts.append([change])
        }
      }
      return parts.map { Batch(form: form, changes: $0) }
    }
  }

  /// Returns the batches for changes, by the kind of target.
  ///
  /// A batch has as many changes as the target allows, in order. A collection has a single
  /// operation, in the SDK's order; it does not support conditions, so changes with one are sent in
  /// composites. A tree is one composite, with space for what is read in it. Records are undeleted
  /// in separate collections for every target. More than `bulkAbove` changes of one action and
  /// object are sent as jobs for every target.
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

  /// Returns batches in steps; those of one step may be sent concurrently.
  ///
  /// A record has at most one change, so only operations have an order, that of the SDK:
  /// collections follow the order of their actions, rows their own order. The requests of a tree
  /// depend on each other's responses.
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

  /// Groups consecutive records of one type.
  ///
  /// An upsert names its type in the URL. For deletes, no limit is documented; they use the same
  /// grouping.
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
