import JSON
import MobileSync

/// An edit that a run takes up, with what the ledger knows of its record.
@dynamicMemberLookup
package struct OpenEdit {
  /// What its device left.
  @Shared package var edit: Edit
  package var id: Int64
  package var returnID: Int64
  package var lineage: Int64
  package var handback: Int64?
  package var arrived: Int64
  package var issued: Int64?
  package var stampID: String
  package var creation: Creation?
  package var content: String
  package var unorderedWith: Int64?
  /// The Id of the record that we made anew in place of a deleted one.
  package var remadeID: String?
  /// What a person decided about it, and is to be carried out.
  package var decision: PendingDecision?
  /// Whether a run that the ledger does not know of may have sent it: its bundle was made before a recovery,
  /// and nothing was sent or looked for since.
  package var mayHaveBeenSent = false
  /// The limits of its user that a person has lifted for it, as they were shown (`OutcomeDetail.limit`).
  package var lifted: Set<String> = []

  /// A record that a device made.
  package struct Creation {
    package var id: Int64
    /// The Id of the record that we made of it.
    package var recordID: String?
    /// The Id that the device's own sync gave to it.
    package var deviceRecordID: String?
    /// Says that an upsert of ours found the record there, or somebody named it in the place of one that the
    /// org refused: it is somebody else's.
    package var isAdopted = false
    /// Says that its record is one that we made anew in the place of the first.
    package var isRemade = false

    /// Says that both the device and we made a record of it.
    package var isTwice: Bool {
      guard let recordID, let deviceRecordID else { return false }
      return recordID != deviceRecordID
    }
  }

  /// The record's Id in the org, as far as it has one.
  package var recordID: String? {
    remadeID ?? creation?.recordID ?? edit.serverID ?? creation?.deviceRecordID
  }

  /// Says whether its record is one that its device's own sync has made, and its row holds nothing of that: it is
  /// from a backup, or another phone's that was given the row.
  package var isBeforeOwnSync: Bool {
    edit.serverID == nil && remadeID == nil && creation?.recordID == nil
      && creation?.deviceRecordID != nil
  }

  package var soup: SoupKey { edit.row.inSoup }

  // What each edit is asked for most, without the price of a key path.
  package var row: RowKey { edit.row }
  package var operation: EditOperation { edit.operation }
  package var element: [UInt8] { edit.element }
  package var sobject: String? { edit.sobject }
  package var serverID: String? { edit.serverID }
  package var modificationDate: String? { edit.modificationDate }
  package var base: MergeBase? { edit.base }

  /// What its device left.
  @inlinable
  package subscript<Value>(dynamicMember path: WritableKeyPath<Edit, Value>) -> Value {
    get { edit[keyPath: path] }
    set { edit[keyPath: path] = newValue }
  }

  /// What has to be done: a create that became a record is an update of it, never a second create.
  ///
  /// Difference: the SDK sends an update of a record with a local id as it is, and it fails.
  package var syncOperation: SyncOperation {
    switch edit.operation {
    case .update: recordID == nil ? .create : .update
    case .delete: recordID == nil ? .dropLocally : .delete
    case .create: recordID == nil ? .create : .update
    // What the device gave up was never its own where an upsert found it there, or where the row bore the Id of a
    // record all along: no SDK sends anything then.
    case .dropped:
      recordID == nil || serverID != nil || creation?.isAdopted == true ? .dropLocally : .delete
    case .synced: .none
    }
  }

  /// Whether what it changed in the org is to be undone.
  package var isToBeUndone: Bool { decision?.isUndo == true }

  /// What the edit claims of its record.
  package var claim: RecordClaim {
    RecordClaim(editID: id, arrived: arrived, verdict: nil)
  }
}
