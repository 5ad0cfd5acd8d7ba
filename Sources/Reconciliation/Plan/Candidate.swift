import JSON
import Ledger
import MobileSync
import Salesforce

/// An edit that is being decided, with all that its decision depends on.
package struct Candidate: Sendable {
  @Shared package var edit: OpenEdit
  /// The index of the sync up that decides about it.
  var sync: Int
  /// The content of the device's row.
  var element: JSONObject
  var sobject: String
  /// The operation to perform, given what is known about the record.
  var operation: SyncOperation
  /// The fields that may be sent; for a delete, those that an update would send.
  package var listed: [String]
  /// Whether it has the fields of all sync ups of its soup.
  var isOfAllSyncs = false
  package var server = ServerRecord.unknown(code: nil, message: "the record was not read")
  /// The surviving record if the edit's record was merged, as far as the sender can see it.
  package var remaining: (date: String?, fields: JSONObject)?

  // What the planner adds for each sync up.

  /// The sync up's merge mode.
  package var mode = MergeMode.overwrite
  /// The result of attache's writes for this lineage.
  package var ownWrite: FieldKnowledge?
  /// The fields that are sent for a new record; nil for those of an update.
  package var listedOfCreate: [String]?
  /// Whether the device's own sync created the record, and the row does not reflect that.
  var isUnseen = false
  /// The listed fields in which the device itself may have sent the org's values; an issued value
  /// on the device may have been restored by its user.
  var doubted: Set<String> = []
  /// Whether the device has other edits of the same record, in another soup or store.
  package var isShared = false
  /// Whether a bundle has redelivered it, with the org's values of that time.
  var wasCarried = false
  /// Whether it is sent in spite of changes by others in other fields, and with the edited fields
  /// only.
  package var mergesFields = false
  /// The fields in which the device's copy has values that were undone in the org since.
  var takenBack: Set<String> = []
  /// Whether a create is sent as an upsert.
  package var upserts = false
  /// The external ID that an upsert sends in addition to its fields.
  var upsertField: String?
  /// Which missing records are recreated.
  package var recreate = MissingRecordRule.Recreate.standard

  package init(
    _ edit: OpenEdit, sync: Int = 0, element: JSONObject, sobject: String = "",
    operation: SyncOperation, listed: [String] = []
  ) {
    self.edit = edit
    (self.sync, self.element, self.sobject) = (sync, element, sobject)
    (self.operation, self.listed) = (operation, listed)
  }

  /// Whether it is about an existing record.
  var isOfRecord: Bool { operation == .update || operation == .delete }

  /// The outcome if its record does not exist.
  func step(_ fate: RecordFate) -> MissingRecordRule.Step {
    MissingRecordRule.step(operation, fate, mode, recreate)
  }
}
