import Crypto
import JSON
import Ledger
import MobileSync
import Salesforce
import System

/// One edit that is to be sent.
package struct PlannedSend {
  @Shared var edit: OpenEdit
  /// The device that asks for it, by the lineage of the first edit that it goes on from.
  var device: Int64 = 0
  /// Where its sync up stands among the pipeline's: requests go in that order.
  var sync: Int
  /// The field whose date `condition` is.
  var modificationField: String
  var sobject: String
  package var action: SyncUpAction
  /// The outcome of success.
  @Shared var expected: Settlement
  /// The date that the org's record has to bear still.
  var condition: String?
  /// Whether an update carries its condition.
  var isStrict = false
  var payload: JSONObject
  /// Whether Ids of records that were made meanwhile stand in the payload, which the plan does not have.
  var isCompleted = false
  var recordID: String?
  var externalField: String?
  var externalValue: String?
  /// The record as it was read: of an upsert that of its external id, null for none; of an update the
  /// fields that are sent.
  var seen: JSONValue?
  /// Records whose ids the payload waits for.
  var needs: Set<NewRecord> = []
  /// Those records by the fields that their ids go into.
  var waiting: [String: NewRecord] = [:]
  /// The first level at which it may go: after parents that this run made before it died.
  var floor = 0
  /// What a record refers to that is taken out of the recycle bin: those come back before it.
  var parents: Set<String> = []
  /// The tree that it goes with.
  var tree: Tree?
  /// What its device changed in records that go with this one, which it deleted: details of a master.
  var followers: [PlannedSend] = []
  /// Whether nothing else is of its edit's record (`LedgerDatabase.isAlone`).
  var isAlone = false
  var level = 0
  var operationID: Int64 = 0

  func operation(sender: String) -> OperationRow {
    var operation = OperationRow(
      id: operationID, editID: edit.id, action: action, sender: sender, sobject: sobject,
      recordID: recordID, externalField: externalField, externalValue: externalValue,
      payload: payload, expected: expected, level: level, seen: seen,
      modificationField: modificationField)
    operation.isCompleted = isCompleted
    return operation
  }

  /// What becomes of it where it cannot go: what it would have brought is told with the reason.
  func blocked(because words: String) -> Settlement { left(.blocked, because: words) }

  /// What becomes of it where it is not sent: what it would have brought is told with the reason.
  func left(_ verdict: Verdict, because words: String) -> Settlement {
    var detail = expected.detail
    detail.message = words
    return Settlement(verdict, detail)
  }

  /// Why a detail waits whose parent its device has deleted, and the org has that still.
  static let parentStandsText =
    "the deletion of its parent is not settled: it goes with that, and is sent where that is given up"

  /// What becomes of a detail where its parent, which the device deleted, has a verdict.
  func following(_ parent: Verdict) -> Settlement {
    switch parent {
    case .deleted: Self.gone(edit)
    case .notAttempted, .unconfirmed: left(parent, because: Self.parentStandsText)
    default: blocked(because: Self.parentStandsText)
    }
  }

  /// What becomes of a detail that is deleted with its parent.
  static func gone(_ edit: OpenEdit) -> Settlement {
    var detail = OutcomeDetail.because("it goes with its parent, which the device deleted")
    detail.recordID = edit.recordID
    return Settlement(.deleted, detail)
  }

  /// What becomes of it where the record that a field names did not reach the org.
  func blocked(by field: String) -> Settlement {
    blocked(because: "\(field) refers to a record that did not reach the org")
  }

  /// Names the object and the field by which it is upserted; nil for what is not.
  var upsertKey: String? { action == .upsert ? externalField.map(key) : nil }

  /// What it writes to: its record, and the external ids in the fields of `keys` that it gives or goes by.
  func targets(_ keys: Set<String>) -> [String] {
    let record = recordID ?? seen?.object.flatMap { UnacknowledgedCreates.id(of: $0) }
    var values = payload
    if let externalField { values[externalField] = externalValue.map(JSONValue.string) }
    return [record.map { $0.recordID18 ?? $0 }].compactMap(\.self)
      + values.compactMap { name, value in
        guard keys.contains(key(name)), let text = SnapshotPlanner.text(value) else { return nil }
        return "\(key(name)) \(text.lowercased())"
      }
  }

  private func key(_ field: String) -> String { "\(sobject) \(field)".lowercased() }

  /// The references of an update that the org's record was read to hold just so: what is sent in them changes nothing.
  var heldReferences: [String] {
    guard action == .update, !edit.isToBeUndone, let seen = seen?.object else { return [] }
    return payload.names.filter { name in
      guard let id = payload[name]?.string?.recordID18 else { return false }
      return seen[name]?.string?.recordID18 == id
    }
  }

  /// Whether the org refuses it for a reference in which it brings nothing: to a record that was deleted.
  func isHindered(by refusal: RowRefusal) -> Bool {
    guard refusal.code == ErrorCodes.deleted else { return false }
    let blamed = Set(refusal.fields.map { $0.lowercased() })
    return heldReferences.contains { blamed.contains($0.lowercased()) }
  }

  /// Leaves the references out in which it brings nothing.
  mutating func leaveOutHeldReferences() {
    let held = heldReferences
    guard !held.isEmpty, held.count < payload.count, var former = seen?.object else { return }
    for name in held {
      payload[name] = nil
      former[name] = nil
    }
    seen = .object(former)
  }

  /// A place in a tree of a parent and its children.
  struct Tree {
    /// The parent: its Id, or the creation that makes it.
    var key: String
    /// The field of the children that names it; nil for the parent itself.
    var field: String?
    /// Whether a child gets the id that the tree's request gives its parent.
    var takesParentID = false

    var isParent: Bool { field == nil }
  }
}

extension PlannedSend: SyncUpChange {
  package var objectType: String { sobject }
  package var isConditional: Bool { isStrict && action == .update && condition != nil }

  package var write: SyncUpWrite {
    var fields = payload
    var write = SyncUpWrite(action, sobject, recordID: recordID)
    if let field = externalField, let value = externalValue {
      if action == .upsert {
        write.externalKey = .init(
          field: field, text: value, json: JSONValue.string(value).bytes)
      } else {
        fields[field] = .string(value)
      }
    }
    if let tree {
      write.isParent = tree.isParent
      if tree.takesParentID, let field = tree.field {
        fields[field] = nil
        write.parentField = field
      }
    }
    write.fields = Array(JSONValue.object(fields).bytes.dropFirst().dropLast())
    if isConditional {
      write.unmodifiedSince = condition.flatMap { Dates.milliseconds(iso8601: $0) }
    }
    return write
  }
}

/// What a run means to do for one snapshot.
struct SnapshotPlan {
  var snapshotID: String
  var settled: [(edit: OpenEdit, settlement: Settlement)] = []
  var sends: [PlannedSend] = []
  /// Deletions of which it is not known yet whether they go or wait.
  var waiting: [WaitingDelete] = []
  var levels: [[Int64]] = []
  /// The digests of what the guard would hold and a person has confirmed.
  var confirmed: Set<String> = []
  /// The devices (`PlannedSend.device`) of which the guard holds all changes, with what confirms them.
  var held: [Int64: String] = [:]
}

/// What a run did.
package struct ReconcileSummary: Sendable {
  /// The edits that the run took up; always the sum of the verdicts.
  package var edits = 0
  /// How many have which verdict.
  package var verdicts: [Verdict: Int] = [:]
  /// How many writes the org accepted.
  package var writes = 0
  /// Why the run stopped early; nil when it went to its end.
  package var interruption: String?
  /// What the org did then; nil where it was the deadline.
  package var interruptionCause: OrgError?
  /// What `--confirm` takes for each device whose changes wait for it, by snapshot.
  package var awaiting: [String: [String]] = [:]
  /// The digests of what the guard would have held and a person has confirmed.
  package var confirmed: Set<String> = []
  /// What a person should know.
  package var warnings: [String] = []
}
