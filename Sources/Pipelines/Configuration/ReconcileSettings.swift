import JSON
import MobileSync
import Reconciliation
import Salesforce

/// How edits are sent.
package struct ReconcileSettings: Sendable, Hashable {
  /// How an edit is combined with changes of other users.
  package enum Mode: String, CaseIterable, Sendable {
    /// As the merge mode of each sync up says.
    case config
    /// Under LEAVE_IF_CHANGED, an edit is sent if no one else has changed its fields.
    case mergeFields
  }

  /// How edits are detected.
  package enum EditDetection: String, CaseIterable, Sendable {
    /// By the flags that the SDK sets.
    case flags
    /// Also by comparison with the issued records.
    case compare
  }

  private static let standard = ReconcileOptions()

  /// The user as whom edits are sent.
  package var sendAs = Self.standard.sendAs
  /// The action for edits of a user who is no longer active.
  package var onInactiveUser = Self.standard.onInactiveUser
  /// How an edit is combined with changes of other users.
  package var mode = Mode.config
  /// Whether the org itself checks the condition of an update under LEAVE_IF_CHANGED.
  package var conditionalUpdates = Self.standard.conditionalUpdates
  /// The action for edits of one record by several devices.
  package var deviceConflicts = Self.standard.deviceConflicts
  /// Whether parents are sent before their children.
  package var orderParentsFirst = Self.standard.orderParentsFirst
  /// How edits are detected.
  package var detectEdits = EditDetection.flags
  /// When a deleted record is created again.
  package var recreateDeleted = Self.standard.recreateDeleted
  /// How many seconds a create without an answer may still be in flight.
  package var unansweredWaitSeconds = SyncDefaults.unansweredWaitSeconds
  /// The unique external ID field that every create sets to its edit's identity, by object.
  package var correlationField: [String: String] = [:]
  /// The number of changes by one user, action and object above which a bulk job is used.
  package var bulkAbove = Self.standard.bulkAbove
  /// The largest number of changes from one device that are sent without confirmation.
  package var maxChangesPerSnapshot = Self.standard.maxChanges.perSnapshot
  /// The largest share of a soup that is deleted without confirmation.
  package var maxDeletes = Percentage(DeletionGuard.standardPercent)
  /// Whether the next generation redelivers open edits, so that their devices can install it.
  package var returnOpenEdits = true

  static let keys = [
    "sendAs", "onInactiveUser", "mode", "conditionalUpdates", "deviceConflicts",
    "orderParentsFirst", "detectEdits", "recreateDeleted", "unansweredWaitSeconds",
    "correlationField",
    "bulkAbove", "maxChanges", "returnOpenEdits",
  ]

  init() {}

  init(_ object: ConfigurationObject) {
    sendAs = object.word("sendAs", "a user to send as", default: sendAs)
    onInactiveUser = object.word(
      "onInactiveUser", "an action for inactive users", default: onInactiveUser)
    mode = object.word("mode", "a merge mode", default: mode)
    conditionalUpdates = object.bool("conditionalUpdates", default: conditionalUpdates)
    deviceConflicts = object.word(
      "deviceConflicts", "an action for device conflicts", default: deviceConflicts)
    orderParentsFirst = object.bool("orderParentsFirst", default: orderParentsFirst)
    detectEdits = object.word("detectEdits", "a way to detect edits", default: detectEdits)
    recreateDeleted = object.word(
      "recreateDeleted", "a policy for deleted records", default: recreateDeleted)
    unansweredWaitSeconds = object.int("unansweredWaitSeconds", default: unansweredWaitSeconds)
    correlationField = Self.correlation(object)
    bulkAbove = object.int("bulkAbove", default: bulkAbove, in: 0...Int.max)
    let known = ["perSnapshot", "deletes"]
    if let most = object.object("maxChanges", known: known, what: "the section maxChanges") {
      maxChangesPerSnapshot = most.int("perSnapshot", default: maxChangesPerSnapshot)
      maxDeletes = most.percentage("deletes", default: maxDeletes)
    }
    // Edits detected by comparison cannot be redelivered by the rows' flags.
    returnOpenEdits = object.bool("returnOpenEdits", default: detectEdits != .compare)
  }

  private static func correlation(_ object: ConfigurationObject) -> [String: String] {
    guard let node = object["correlationField"] else { return [:] }
    guard let members = node.members else {
      object.reader.wrongType(node, "an object", #"write {"Contact": "Attache_Edit__c"}"#)
      return [:]
    }
    var fields: [String: String] = [:]
    for member in members {
      guard APIName.isValid(member.name) else {
        object.reader.report(
          member, "\(JSONText.quoted(member.name)) is not the name of an sObject",
          "write its API name")
        continue
      }
      guard let name = object.reader.string(member.value) else { continue }
      guard APIName.isValid(name) else {
        object.reader.report(
          member.value, "\(JSONText.quoted(name)) is not the name of a field", "write its API name")
        continue
      }
      fields[member.name] = name
    }
    return fields
  }

  var json: JSONValue {
    [
      "sendAs": .string(sendAs.rawValue), "onInactiveUser": .string(onInactiveUser.rawValue),
      "mode": .string(mode.rawValue), "conditionalUpdates": JSONValue(conditionalUpdates),
      "deviceConflicts": .string(deviceConflicts.rawValue),
      "orderParentsFirst": JSONValue(orderParentsFirst),
      "detectEdits": .string(detectEdits.rawValue),
      "recreateDeleted": .string(recreateDeleted.rawValue),
      "unansweredWaitSeconds": JSONValue(unansweredWaitSeconds),
      "correlationField": .object(
        JSONObject(
          correlationField.sorted { $0.key < $1.key }.map {
            (name: $0.key, value: .string($0.value))
          })),
      "bulkAbove": JSONValue(bulkAbove),
      "maxChanges": [
        "perSnapshot": JSONValue(maxChangesPerSnapshot), "deletes": .string("\(maxDeletes)"),
      ], "returnOpenEdits": JSONValue(returnOpenEdits),
    ]
  }
}
