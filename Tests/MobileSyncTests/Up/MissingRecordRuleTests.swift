import MobileSync
import Salesforce
import Testing

@Suite struct MissingRecordRuleTests {
  typealias Step = MissingRecordRule.Step

  @Test(
    "only OVERWRITE recreates a record, and only one verified as deleted",
    arguments: [
      (SyncOperation.update, RecordFate.deleted, Step.recreate),
      (.update, .merged(into: "0"), .stands), (.update, .unproved, .stands),
      (.create, .deleted, .recreate), (.create, .unproved, .stands),
      (.delete, .deleted, .done), (.delete, .merged(into: "0"), .stands),
      (.delete, .unproved, .stands),
    ])
  func overwrites(operation: SyncOperation, fate: RecordFate, step: Step) {
    #expect(MissingRecordRule.step(operation, fate, .overwrite) == step)
    let careful: Step = step == .recreate ? .stands : step
    #expect(MissingRecordRule.step(operation, fate, .leaveIfChanged) == careful)
    #expect(MissingRecordRule.step(operation, fate, .overwrite, .never) == careful)
    let asSDK: Step = operation == .delete ? step : .recreate
    #expect(MissingRecordRule.step(operation, fate, .overwrite, .asSDK) == asSDK)
  }

  @Test("a merged record is deleted for a live store, and an unverified one unknown")
  func readsState() {
    #expect(MissingRecordRule.state(.deleted) == .deleted)
    #expect(MissingRecordRule.state(.merged(into: "0")) == .deleted)
    #expect(MissingRecordRule.state(.unproved) == nil)
    #expect(MissingRecordRule.state(nil) == nil)
  }

  @Test("an absent update is checked only under OVERWRITE, as is a child with a missing parent")
  func looksInto() {
    let gone = RowRefusal(code: "ENTITY_IS_DELETED", message: "", fields: ["Parent__c"])
    let other = RowRefusal(code: "ENTITY_IS_DELETED", message: "", fields: ["Other__c"])
    func suspect(
      _ answer: RowAnswer, _ action: SyncUpAction, _ mode: MergeMode = .overwrite,
      key: String? = nil
    ) -> Bool { MissingRecordRule.suspect(answer, action, mode, parentKey: key) != nil }
    #expect(suspect(.absent(other), .update))
    #expect(!suspect(.absent(other), .update, .leaveIfChanged))
    #expect(!suspect(.absent(gone), .delete))
    #expect(!suspect(.refused(gone), .create))
    #expect(suspect(.refused(gone), .create, key: "Parent__c"))
    #expect(!suspect(.refused(other), .create, key: "Parent__c"))
    #expect(!suspect(.refused(gone), .create, .leaveIfChanged, key: "Parent__c"))
    #expect(!suspect(.locked(gone), .update))
  }

  @Test("the error stored in an element depends on the kind of target, as in the SDK") func ends() {
    let refusal = RowRefusal(code: "NOT_FOUND", message: "gone", raw: "[]")
    let refused = SyncUpSettled.End.failed(code: "NOT_FOUND", message: "gone", error: "[]")
    for kind in SyncUpTarget.Kind.allCases {
      for mode in [MergeMode.overwrite, .leaveIfChanged] {
        #expect(MissingRecordRule.end(refusal, .delete, kind, mode) == .removed)
        #expect(MissingRecordRule.end(refusal, .create, kind, mode) == refused)
        let isLeft =
          [.single, .custom].contains(kind) || (kind == .parentChildren && mode == .leaveIfChanged)
        #expect(
          MissingRecordRule.end(refusal, .update, kind, mode)
            == (isLeft ? .left(.deletedOnServer) : refused))
      }
    }
    #expect(MissingRecordRule.end(refusal, .unproved) == refused)
    #expect(
      MissingRecordRule.end(refusal, .merged(into: "00M"))
        == .failed(code: "NOT_FOUND", message: "gone; the record was merged into 00M", error: "[]"))
  }
}
