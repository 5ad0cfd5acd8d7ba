import Crypto
import JSON
import Ledger
import MobileSync
import Salesforce
import System

/// An edit with its write: to be sent, or sent without an answer.
@dynamicMemberLookup
package struct Write {
  @Shared var edit: OpenEdit
  /// The device that made it, as the lineage of the first edit in its history.
  var device: Int64 = 0
  /// The index of the sync up that sends it; requests are sent in this order.
  var sync = 0
  @Shared var operation: OperationRow
  /// The date that the org's record must still have.
  var condition: String?
  /// Whether the update, or the upsert of an existing record, itself has its condition.
  var isStrict = false
  /// Records whose IDs the payload needs.
  var needs: Set<NewRecord> = []
  /// Those records, by the fields for their IDs.
  var waiting: [String: NewRecord] = [:]
  /// The first level at which it may be sent, after parents that this run created before it was
  /// interrupted.
  var floor = 0
  /// For a deletion, the records that it refers to, which are deleted after it; for a restore from
  /// the recycle bin, those that are restored first.
  var parents: Set<String> = []
  /// The tree that it is sent with.
  var tree: Tree?
  /// The device's changes of details that are deleted with this record, their master.
  var followers: [Write] = []
  /// For a deletion, the edits of this plan that move records away from below its record first.
  var leaving: Set<Int64> = []
  /// Whether it is sent in a separate request.
  package var goesAlone = false

  /// A member of its write.
  package subscript<Value>(dynamicMember path: WritableKeyPath<OperationRow, Value>) -> Value {
    get { operation[keyPath: path] }
    _modify { yield &operation[keyPath: path] }
  }

  /// Its write, sent by a user.
  func operation(by identity: Session.Identity) -> OperationRow {
    var operation = operation
    operation.sender = identity.username
    return operation
  }

  /// The settlement if it is blocked: it lists the values that would have been sent, with the
  /// reason.
  func blocked(because words: String) -> Settlement { left(.blocked, because: words) }

  /// The settlement if it is not sent: it lists the values that would have been sent, with the
  /// reason.
  func left(_ verdict: Verdict, because words: String) -> Settlement {
    var detail = operation.expected.detail
    detail.message = words
    return Settlement(verdict, detail)
  }

  /// Why a detail waits if its device has deleted its parent, and the org still has the parent.
  static let parentStandsText =
    "the deletion of its parent is not resolved: it is deleted with the parent, or sent if that deletion is discarded"

  /// The settlement of a deletion below whose record others still are that the device moved away, by
  /// edits that did not reach the org, or that are sent without the move.
  func blocked(byLeaving edits: Set<Int64>, unsent: Set<Int64> = []) -> Settlement {
    let words = "a record that the device has moved away from it is still below it"
    var settlement = blocked(
      because: unsent.isEmpty ? words : words + ", because no sync up sends the reference")
    settlement.detail.otherEdits = edits.union(unsent).sorted()
    return settlement
  }

  /// The settlement of a detail if the deletion of its parent on the device has a verdict.
  func following(_ deletion: Int64, _ parent: Verdict) -> Settlement {
    var settlement: Settlement
    switch parent {
    case .deleted: return Self.gone(edit)
    case .notAttempted, .unconfirmed: settlement = left(parent, because: Self.parentStandsText)
    default: settlement = blocked(because: Self.parentStandsText)
    }
    settlement.detail.otherEdits = [deletion]
    return settlement
  }

  /// The settlement of a detail that is deleted with its parent.
  static func gone(_ edit: OpenEdit) -> Settlement {
    let words = "it is deleted with its parent, which the device deleted"
    return Settlement(.deleted, .because(words, of: edit.recordID))
  }

  /// The settlement if the record that a field refers to did not reach the org.
  func blocked(by field: String) -> Settlement {
    blocked(because: "\(field) refers to a record that did not reach the org")
  }

  /// The record that is changed: for an upsert, the one that was read with its external ID; nil for
  /// a new one.
  var targetID: String? {
    operation.recordID ?? UnacknowledgedCreates.id(ofSeen: operation.seen)
  }

  /// The object and field of an upsert; nil for other actions.
  var upsertKey: String? { action == .upsert ? operation.externalField.map(key) : nil }

  /// The targets of the write: its record, and the external IDs in the fields of `keys` that it
  /// sets or uses.
  func targets(_ keys: Set<String>) -> [String] {
    let record = targetID
    var values = operation.payload
    if let field = operation.externalField {
      values[field] = operation.externalValue.map(JSONValue.string)
    }
    return [record.map { $0.recordID18 ?? $0 }].compactMap(\.self)
      + values.compactMap { name, value in
        guard keys.contains(key(name)), let text = SnapshotPlanner.text(value) else { return nil }
        return "\(key(name)) \(text.lowercased())"
      }
  }

  private func key(_ field: String) -> String { "\(operation.sobject) \(field)".lowercased() }

  /// The references of an update that the org's record already has, so that sending them changes
  /// nothing.
  var heldReferences: [String] {
    guard action == .update, !edit.isToBeUndone, let seen = operation.seen?.object else {
      return []
    }
    return operation.payload.names.filter { name in
      guard let id = operation.payload[name]?.string?.recordID18 else { return false }
      return seen[name]?.string?.recordID18 == id
    }
  }

  /// Whether the org refuses it because of an unchanged reference to a deleted record.
  func isHindered(by refusal: RowRefusal) -> Bool {
    guard refusal.code == ErrorCodes.deleted else { return false }
    let blamed = Set(refusal.fields.map { $0.lowercased() })
    return heldReferences.contains { blamed.contains($0.lowercased()) }
  }

  /// Leaves out the unchanged references.
  mutating func leaveOutHeldReferences() {
    let held = heldReferences
    guard !held.isEmpty, held.count < operation.payload.count,
      var former = operation.seen?.object
    else { return }
    for name in held {
      operation.payload[name] = nil
      former[name] = nil
    }
    operation.seen = .object(former)
  }

  /// The position in a tree of a parent and its children.
  struct Tree {
    /// The parent: its ID, or the creation that creates it.
    var key: String
    /// The children's reference to their parent; nil for the parent itself.
    var field: String?
    /// Whether a child gets the ID that the tree's request gives its parent.
    var takesParentID = false

    var isParent: Bool { field == nil }
  }
}

extension Write: SyncUpChange {
  package var action: SyncUpAction { operation.action }
  package var objectType: String { operation.sobject }
  package var isConditional: Bool {
    guard isStrict, condition != nil else { return false }
    // The children of a tree refer to the ID in the answer, which an update does not have.
    return action == .update || (action == .upsert && tree?.isParent != true)
  }

  package var write: SyncUpWrite {
    var fields = operation.payload
    var write = SyncUpWrite(action, operation.sobject, recordID: operation.recordID)
    if let field = operation.externalField, let value = operation.externalValue {
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
      write.recordID = targetID
      write.unmodifiedSince = condition.flatMap { Dates.milliseconds(iso8601: $0) }
    }
    return write
  }
}

/// A run's plan for one snapshot.
struct SnapshotPlan {
  var snapshotID: String
  var settled: [(edit: OpenEdit, settlement: Settlement)] = []
  var sends: [Write] = []
  /// Deletions that may be sent or may have to wait.
  var waiting: [WaitingDelete] = []
  var levels: [[Int64]] = []
  /// The digests of what the guard would hold and an operator has confirmed.
  var confirmed: Set<String> = []
  /// The devices (`Write.device`) whose changes the guard holds, with the digest that
  /// confirms them.
  var held: [Int64: String] = [:]
}

/// The result of a run.
package struct ReconcileSummary: Sendable {
  /// The number of edits that the run processed; always the sum of the verdicts.
  package var edits = 0
  /// The number of edits by verdict.
  package var verdicts: [Verdict: Int] = [:]
  /// The number of writes that the org accepted.
  package var writes = 0
  /// Why the run stopped early; nil if it finished.
  package var interruption: String?
  /// The org's error in that case; nil for the deadline.
  package var interruptionCause: OrgError?
  /// The arguments of `--confirm` for devices whose changes are held, by snapshot.
  package var awaiting: [String: [String]] = [:]
  /// The digests of what the guard would have held and an operator has confirmed.
  package var confirmed: Set<String> = []
  /// Warnings for the operator.
  package var warnings: [String] = []
}
