import JSON
import Ledger
import MobileSync
import Reconciliation

extension Candidate {
  /// An edit for the tables of the rules.
  init(
    operation: SyncOperation, mode: MergeMode, device: JSONObject, deviceDate: String? = nil,
    issued: MergeBase? = nil, ownWrite: FieldKnowledge? = nil, server: ServerRecord,
    listed: [String], isShared: Bool = false, upserts: Bool = false,
    recreate: MissingRecordRule.Recreate = .standard
  ) {
    self.init(
      .ofTable(deviceDate, issued: issued), element: device, operation: operation, listed: listed)
    (self.mode, self.ownWrite, self.server) = (mode, ownWrite, server)
    (self.isShared, self.upserts, self.recreate) = (isShared, upserts, recreate)
  }
}

extension OpenEdit {
  /// An edit for the tables of the rules, of which the ledger knows nothing else.
  static func ofTable(_ date: String? = nil, issued: MergeBase? = nil) -> OpenEdit {
    OpenEdit(
      Edit(
        row: LedgerFixture.row(1), created: 0, lastModified: 0, element: [], operation: .update,
        modificationDate: date, base: issued))
  }
}
