import JSON
import MobileSync

/// An edit that a run takes up, with what the ledger knows of its record.
struct OpenEdit {
  var id: Int64
  var returnID: Int64
  var lineage: Int64
  var handback: Int64?
  var arrived: Int64
  var issued: Int64?
  var stampID: String
  var row: RowKey
  var operation: EditOperation
  var sobject: String?
  var serverID: String?
  var localID: String?
  var creation: Creation?
  var modificationDate: String?
  var content: String
  var element: [UInt8]
  var base: MergeBase?
  var finding: String?
  var unorderedWith: Int64?
  /// The Id of the record that we made anew in place of a deleted one.
  var remadeID: String?

  /// A record that a device made.
  struct Creation {
    var id: Int64
    /// The Id of the record that we made of it.
    var recordID: String?
    /// The Id that the device's own sync gave to it.
    var deviceRecordID: String?

    /// Says that both the device and we made a record of it.
    var isTwice: Bool {
      guard let recordID, let deviceRecordID else { return false }
      return recordID != deviceRecordID
    }
  }

  /// The record's Id in the org, as far as it has one.
  var recordID: String? {
    remadeID ?? creation?.recordID ?? serverID ?? creation?.deviceRecordID
  }

  var soup: SoupKey { SoupKey(store: row.store, soup: row.soup) }

  /// What has to be done: a create that became a record is an update of it, never a second create.
  ///
  /// Difference: the SDK sends an update of a record with a local id as it is, and it fails.
  var syncOperation: SyncOperation {
    switch operation {
    case .update: recordID == nil ? .create : .update
    case .delete: recordID == nil ? .dropLocally : .delete
    case .create: recordID == nil ? .create : .update
    case .dropped: recordID == nil ? .dropLocally : .delete
    case .synced: .none
    }
  }

  var claim: RecordClaim {
    RecordClaim(
      editID: id, lineage: lineage, handback: handback, arrived: arrived, verdict: nil)
  }
}
