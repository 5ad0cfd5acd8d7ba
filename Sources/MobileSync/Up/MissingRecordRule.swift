import Salesforce

/// What it means that the org says of a change that its record is not there (404 NOT_FOUND, `ENTITY_IS_DELETED` and
/// the like, which `RowAnswer` reads as `absent`), or that it does not read, and what a merge mode does about it.
///
/// A deletion is done. An update under OVERWRITE is looked into: a record that is proved to be deleted is made
/// anew, and of one that is hidden or merged the answer stands. Under LEAVE_IF_CHANGED the answer stands. A pipeline
/// plans the edit once more, so that `ThreeWayRule` asks for the step with what became of the record.
package enum MissingRecordRule {
  /// When a record that is gone is made anew under OVERWRITE.
  package enum Recreate: String, Sendable, Hashable, CaseIterable {
    /// When it is proved that it was deleted.
    case whenProvedDeleted
    /// Never.
    case never
    /// Whenever it cannot be read.
    case asSDK

    /// What holds where nobody says otherwise.
    package static let standard = whenProvedDeleted
  }

  /// What becomes of a change whose record is not there.
  package enum Step: Sendable, Hashable {
    /// Nothing is left to do: it was to be deleted.
    case done
    /// The record is made anew.
    case recreate
    /// It is not made anew: whoever made the change is told.
    case stands
  }

  /// What becomes of a change once it is known what its record's fate was.
  package static func step(
    _ operation: SyncOperation, _ fate: RecordFate, _ mode: MergeMode,
    _ recreate: Recreate = .standard
  ) -> Step {
    if operation == .delete { return fate == .deleted ? .done : .stands }
    guard mode == .overwrite else { return .stands }
    return switch recreate {
    case .never: .stands
    case .whenProvedDeleted: fate == .deleted ? .recreate : .stands
    case .asSDK: .recreate
    }
  }

  /// What a live store is told of a record that does not read; nil where nothing is proved.
  package static func state(_ fate: RecordFate?) -> ServerState? {
    switch fate {
    case .deleted, .merged: .deleted
    case .unproved, nil: nil
    }
  }

  /// The refusal of an update whose record, or whose parent in the field `parentKey`, may be deleted and could then
  /// be made anew: it is looked into.
  package static func suspect(
    _ answer: RowAnswer, _ action: SyncUpAction, _ mode: MergeMode, parentKey: String? = nil
  ) -> RowRefusal? {
    guard step(.update, .deleted, mode) == .recreate else { return nil }
    switch answer {
    case .absent(let refusal) where action == .update: return refusal
    case .absent(let refusal), .refused(let refusal):
      guard let parentKey, refusal.saysMissing, refusal.fields.allSatisfy({ $0 == parentKey })
      else { return nil }
      return refusal
    default: return nil
    }
  }

  /// What the answer means for an element where nothing is made anew.
  package static func end(
    _ refusal: RowRefusal, _ action: SyncUpAction, _ kind: SyncUpTarget.Kind, _ mode: MergeMode
  ) -> SyncUpSettled.End {
    switch (action, kind) {
    case (.delete, _): .removed
    // The SDK's target of single records keeps no error then, the others do.
    case (.update, .single), (.update, .custom): .left(.deletedOnServer)
    case (.update, .parentChildren) where mode == .leaveIfChanged: .left(.deletedOnServer)
    default: .refused(refusal)
    }
  }

  /// What is told of an element whose record was looked into and is not made anew.
  package static func end(_ refusal: RowRefusal, _ fate: RecordFate?) -> SyncUpSettled.End {
    var refusal = refusal
    if case .merged(let master)? = fate {
      refusal.message += "; the record was merged into \(master)"
    }
    return .refused(refusal)
  }
}
