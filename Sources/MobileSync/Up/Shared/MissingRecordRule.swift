import Salesforce

/// What to do if the org responds to a change that its record does not exist (404 NOT_FOUND,
/// `ENTITY_IS_DELETED` and similar errors, which `RowAnswer` reads as `absent`), or if the record
/// cannot be read.
///
/// A deletion is done. For an update under OVERWRITE, the record is checked: if it is verified as
/// deleted it is recreated; if it is hidden or was merged, the error stands. Under LEAVE_IF_CHANGED
/// the error stands. A pipeline plans the edit again, so that `ThreeWayRule` decides with the
/// record's state.
package enum MissingRecordRule {
  /// When a missing record is recreated under OVERWRITE.
  package enum Recreate: String, Sendable, Hashable, CaseIterable {
    case whenProvedDeleted
    case never
    /// Whenever it cannot be read.
    case asSDK

    package static let standard = whenProvedDeleted
  }

  /// The next step for a change whose record is missing.
  package enum Step: Sendable, Hashable {
    /// Nothing is left to do: the change was a deletion.
    case done
    case recreate
    /// The record is not recreated, and the error is reported.
    case stands
  }

  /// Returns the next step once the record's state is known.
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

  /// Returns the state that a live store uses for a record that cannot be read; nil if its deletion
  /// is not verified.
  package static func state(_ fate: RecordFate?) -> ServerState? {
    switch fate {
    case .deleted, .merged: .deleted
    case .unproved, nil: nil
    }
  }

  /// Returns the refusal of an update if its record, or its parent in the field `parentKey`, may be
  /// deleted and could be recreated, so that it must be checked.
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

  /// Returns the outcome of an element whose record is not recreated.
  package static func end(
    _ refusal: RowRefusal, _ action: SyncUpAction, _ kind: SyncUpTarget.Kind, _ mode: MergeMode
  ) -> SyncUpSettled.End {
    switch (action, kind) {
    case (.delete, _): .removed
    // The SDK's target for single records stores no error here; the others do.
    case (.update, .single), (.update, .custom): .left(.deletedOnServer)
    case (.update, .parentChildren) where mode == .leaveIfChanged: .left(.deletedOnServer)
    default: .refused(refusal)
    }
  }

  /// Returns the outcome of an element whose record was checked and is not recreated.
  package static func end(_ refusal: RowRefusal, _ fate: RecordFate?) -> SyncUpSettled.End {
    var refusal = refusal
    if case .merged(let master)? = fate {
      refusal.message += "; the record was merged into \(master)"
    }
    return .refused(refusal)
  }
}
