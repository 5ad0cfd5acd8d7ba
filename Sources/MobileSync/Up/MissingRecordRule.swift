import Salesforce

/// What it means that the org says of a change that its record is not there: 404 NOT_FOUND,
/// `ENTITY_IS_DELETED` and the like, which `RowAnswer` reads as `absent`.
///
/// A deletion is done. An update under OVERWRITE is looked into: a record that is proved to be deleted is made
/// anew, and of one that is hidden or merged the answer stands. Under LEAVE_IF_CHANGED the answer stands.
package enum MissingRecordRule {
  /// Whether an update of a record makes it anew once the record is proved to be deleted, whoever finds
  /// that out: who asked before, or who reads it from a refusal.
  package static func makesAnew(_ mode: MergeMode) -> Bool {
    MergeDecision.decide(.update, local: nil, server: .deleted, mode: mode) == .recreate
  }

  /// What the answer means for an element where nothing is made anew.
  static func end(
    _ refusal: RowRefusal, action: SyncUpAction, kind: SyncUpTarget.Kind
  ) -> SyncUpSettled.End {
    switch action {
    case .delete: .removed
    // The SDK's target of single records keeps no error then, the others do.
    case .update where kind == .single || kind == .custom: .left(.deletedOnServer)
    case .create, .update, .upsert: .refused(refusal)
    }
  }
}
