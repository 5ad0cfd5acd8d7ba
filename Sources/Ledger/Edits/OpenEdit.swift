import JSON
import MobileSync

/// An edit that a run processes, with what the ledger knows about its record.
@dynamicMemberLookup
package struct OpenEdit: Sendable {
  /// The edit as its device left it.
  @Shared package var edit: Edit
  package var id: Int64
  package var returnID: Int64 = 0
  package var lineage: Int64 = 0
  package var handback: Int64?
  package var arrived: Int64 = 0
  package var issued: Int64?
  package var stampID = ""
  package var snapshotID = ""
  package var creation: Creation?
  package var content = ""
  package var unorderedWith: Int64?
  /// The ID of the record recreated in place of a deleted one.
  package var remadeID: String?
  /// The pending decision about the edit.
  package var decision: PendingDecision?
  /// Whether a run that the ledger does not know may have sent the edit: its bundle was made before
  /// a recovery, and nothing has been sent or looked for since.
  package var mayHaveBeenSent = false
  /// The restrictions on its user that an operator has lifted for the edit
  /// (`OutcomeDetail.restriction`).
  package var lifted: Set<String> = []

  /// An edit about whose record nothing is known yet.
  package init(_ edit: Edit, id: Int64 = 0) {
    self.edit = edit
    self.id = id
  }

  /// Which edits are asked for.
  package enum Selection: Sendable {
    /// Those with these numbers, each with its pending decision.
    case numbered(Set<Int64>)
    /// Those of a snapshot that a sync up has left and that need review.
    case left(snapshotID: String)
    /// The unresolved deletions of a snapshot, in any state.
    case deletions(snapshotID: String)
    /// Those that earlier runs left in a device conflict, by snapshot.
    case deviceConflicts
  }

  /// A record that a device created.
  package struct Creation: Sendable {
    package var id: Int64
    /// The ID of the record that attache created from it.
    package var recordID: String?
    /// The ID that the device's own sync assigned to it.
    package var deviceRecordID: String?
    /// Whether the record is another user's: an upsert found it in the org, or an operator named it
    /// in place of one that the org refused.
    package var isAdopted = false
    /// Whether the record was recreated in place of the first one.
    package var isRemade = false
    /// All records in the org that are its own, whichever an operator chose, or that may be.
    package var records: Set<String> = []

    /// Whether both the device and attache created the record.
    package var isTwice: Bool {
      guard let recordID, let deviceRecordID else { return false }
      return recordID != deviceRecordID
    }
  }

  /// The record's ID in the org, as far as it has one.
  package var recordID: String? {
    remadeID ?? creation?.recordID ?? edit.serverID ?? creation?.deviceRecordID
  }

  /// Whether the device's own sync created the record, and the edit's row does not reflect this:
  /// the row is from a backup, or from another device that was issued it.
  package var isBeforeOwnSync: Bool {
    edit.serverID == nil && remadeID == nil && creation?.recordID == nil
      && creation?.deviceRecordID != nil
  }

  package var soup: SoupKey { edit.row.inSoup }

  // The most used members, without the cost of a key path.
  package var row: RowKey { edit.row }
  package var operation: EditOperation { edit.operation }
  package var element: [UInt8] { edit.element }
  package var sobject: String? { edit.sobject }
  package var serverID: String? { edit.serverID }
  package var modificationDate: String? { edit.modificationDate }
  package var base: MergeBase? { edit.base }

  /// A member of the edit as its device left it.
  @inlinable
  package subscript<Value>(dynamicMember path: WritableKeyPath<Edit, Value>) -> Value {
    get { edit[keyPath: path] }
    set { edit[keyPath: path] = newValue }
  }

  /// The operation to perform.
  ///
  /// An edit of a create that became a record is an update of it, never a second create.
  ///
  /// Difference: the SDK sends an update of a record with a local ID as it is, and it fails.
  package var syncOperation: SyncOperation {
    switch edit.operation {
    case .update: recordID == nil ? .create : .update
    case .delete: recordID == nil ? .dropLocally : .delete
    case .create: recordID == nil ? .create : .update
    // A record that an upsert found in the org, or whose row had a record ID from the start, never
    // belonged to the device that discarded it. No SDK sends anything in this case.
    case .dropped:
      recordID == nil || serverID != nil || creation?.isAdopted == true ? .dropLocally : .delete
    case .synced: .none
    }
  }

  /// Whether the edit's changes are to be undone.
  package var isToBeUndone: Bool { decision?.isUndo == true }

  /// What the edit claims of its record.
  package var claim: RecordClaim {
    RecordClaim(editID: id, arrived: arrived, verdict: nil)
  }
}

extension Sequence<OpenEdit> {
  /// The edits by their numbers.
  package var byNumber: [Int64: OpenEdit] {
    Dictionary(uniqueKeysWithValues: map { ($0.id, $0) })
  }
}
