import JSON
import MobileSync
import Reconciliation
import Salesforce

/// How edits go up.
package struct ReconcileSettings: Sendable, Hashable {
  /// How an edit meets what others changed.
  package enum Mode: String, CaseIterable, Sendable {
    /// As each sync up's merge mode has it.
    case config
    /// Under LEAVE_IF_CHANGED an edit is sent where nobody else has touched its fields.
    case mergeFields
  }

  /// How edits are found.
  package enum EditDetection: String, CaseIterable, Sendable {
    /// By the flags that the SDK sets.
    case flags
    /// By comparison with what was issued, too.
    case compare
  }

  private static let standard = ReconcileOptions()

  /// As whom edits are sent.
  package var sendAs = Self.standard.sendAs
  /// What becomes of the edits of a user who is not active any more.
  package var onInactiveUser = Self.standard.onInactiveUser
  /// How an edit meets what others changed.
  package var mode = Mode.config
  /// Whether an update under LEAVE_IF_CHANGED is conditional in the org itself.
  package var conditionalUpdates = Self.standard.conditionalUpdates
  /// What becomes of edits of one record in several snapshots.
  package var deviceConflicts = Self.standard.deviceConflicts
  /// Whether parents are sent before their children.
  package var orderParentsFirst = Self.standard.orderParentsFirst
  /// How edits are found.
  package var detectEdits = EditDetection.flags
  /// When a record that is gone is created again.
  package var recreateDeleted = Self.standard.recreateDeleted
  /// How long a create in doubt may still be on its way.
  package var quietWindowSeconds = SyncDefaults.quietWindowSeconds
  /// The unique external id of an object that every create fills with its edit's identity, by object.
  package var correlationField: [String: String] = [:]
  /// Above how many changes of one user, action and object the org does them in a bulk job.
  package var bulkAbove = Self.standard.bulkAbove
  /// The most changes of one device of a snapshot that are sent without being confirmed.
  package var maxChangesPerSnapshot = Self.standard.maxChanges.perSnapshot
  /// The largest share of a soup that is deleted without being confirmed.
  package var maxDeletes = Percentage(DeletionGuard.standardPercent)
  /// Whether the next generation carries the edits that are open, so that their devices install.
  package var returnOpenEdits = true

  static let keys = [
    "sendAs", "onInactiveUser", "mode", "conditionalUpdates", "deviceConflicts",
    "orderParentsFirst", "detectEdits", "recreateDeleted", "quietWindowSeconds", "correlationField",
    "bulkAbove", "maxChanges", "returnOpenEdits",
  ]

  init() {}

  init(_ object: ConfigurationObject) {
    sendAs = object.word("sendAs", "a way to send", default: sendAs)
    onInactiveUser = object.word("onInactiveUser", "a way to go on", default: onInactiveUser)
    mode = object.word("mode", "a way to merge", default: mode)
    conditionalUpdates = object.bool("conditionalUpdates", default: conditionalUpdates)
    deviceConflicts = object.word("deviceConflicts", "a way to decide", default: deviceConflicts)
    orderParentsFirst = object.bool("orderParentsFirst", default: orderParentsFirst)
    detectEdits = object.word("detectEdits", "a way to find edits", default: detectEdits)
    recreateDeleted = object.word("recreateDeleted", "a way to decide", default: recreateDeleted)
    quietWindowSeconds = object.int("quietWindowSeconds", default: quietWindowSeconds)
    correlationField = Self.correlation(object)
    bulkAbove = object.int("bulkAbove", default: bulkAbove, in: 0...Int.max)
    let known = ["perSnapshot", "deletes"]
    if let most = object.object("maxChanges", known: known, what: "the section maxChanges") {
      maxChangesPerSnapshot = most.int("perSnapshot", default: maxChangesPerSnapshot)
      maxDeletes = most.percentage("deletes", default: maxDeletes)
    }
    // What goes by comparison cannot go by the flags of the rows that are carried.
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
          member, "\(JSONText.quoted(member.name)) is no name of an sObject", "write its API name")
        continue
      }
      guard let name = object.reader.string(member.value) else { continue }
      guard APIName.isValid(name) else {
        object.reader.report(
          member.value, "\(JSONText.quoted(name)) is no name of a field", "write its API name")
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
      "quietWindowSeconds": JSONValue(quietWindowSeconds),
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
