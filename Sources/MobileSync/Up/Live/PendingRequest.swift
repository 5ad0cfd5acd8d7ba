import JSON
import Salesforce
import SmartStore

/// The entry committed to a live store before a request is sent whose response matters.
///
/// If no response arrives, the next run looks up the records instead of sending them again.
///
/// Each request is one element in a dedicated soup. Storing it in the edited elements would rewrite
/// each of them and leave our member in data that an app reads.
package struct PendingRequest: Sendable {
  struct Change: Sendable {
    var soupEntryID: Int64
    /// The row's creation time; a row with another creation time is a different element.
    var created: Int64
    /// The element's ID before the request; for a new record a local one, or nil.
    var id: String?
    var write: PendingWrite
  }

  var rowID: Int64 = 0
  var userID: String
  /// The org's time at its previous response; nothing was created before it.
  var since: Int64
  /// The org's time when the request was sent, as far as known.
  var sent: Int64
  var changes: [Change]
  /// Records of this device that are known not to be made by these creates.
  package var claimed: [String] = []
  /// Whether each change, if it is sent again, has a separate request, because this one was
  /// answered as too large.
  var goesAlone = false

  package static let soupName = "attache_sent"
  private static let soupPath = "soupName"

  /// The unresolved requests of a soup's sync ups.
  package static func all(of soup: String, in store: Store) throws(StoreError) -> [PendingRequest] {
    guard try store.hasSoup(soupName) else { return [] }
    return try store.elements(in: soupName, where: soupPath, is: soup).compactMap(
      PendingRequest.init)
  }

  /// Inserts a request and returns its row.
  static func put(
    _ request: PendingRequest, of soup: String, in store: Store
  ) throws(StoreError) -> Int64 {
    if try !store.hasSoup(soupName) {
      try store.registerSoup(
        soupName, indexSpecs: [IndexSpec(path: soupPath, type: .string)])
    }
    var element = request.element
    element[soupPath] = .string(soup)
    let stored = try store.upsert([.object(element)], into: soupName)
    return stored.first?[StoreField.soupEntryID]?.int ?? 0
  }

  /// Removes a request, or keeps only its unconfirmed rows.
  static func keep(
    _ rows: Set<Int64>, of request: PendingRequest, isLater: Bool, _ soup: String, in store: Store
  ) throws(StoreError) {
    var rest = request
    rest.changes.removeAll { !rows.contains($0.soupEntryID) }
    if rest.changes.isEmpty {
      try store.remove([request.rowID], from: soupName)
    } else if isLater || rest.changes.count < request.changes.count {
      _ = try put(rest, of: soup, in: store)
    }
  }
}

extension PendingRequest {
  /// The years 1970 to 9999.
  private static let times: Range<Int64> = 0..<253_402_300_800_000

  private init?(_ element: JSONValue) {
    // A store may be untrusted input: the user goes into a query, and the times are used in sums.
    guard let id = element[StoreField.soupEntryID]?.int,
      let user = element["user"]?.string?.recordID18,
      let since = element["since"]?.int, let sent = element["sent"]?.int,
      Self.times.contains(since), Self.times.contains(sent)
    else { return nil }
    self.init(
      rowID: id, userID: user, since: since, sent: sent, changes: [],
      claimed: (element["claimed"]?.array ?? []).compactMap(\.string),
      goesAlone: element["alone"]?.bool == true)
    changes = (element["changes"]?.array ?? []).compactMap { Change($0, of: self) }
  }

  private var element: JSONObject {
    var object: JSONObject = [
      "user": .string(userID), "since": JSONValue(since), "sent": JSONValue(sent),
      "changes": .array(changes.map(\.json)), "claimed": JSONValue(claimed),
    ]
    if goesAlone { object["alone"] = true }
    if rowID > 0 { object[StoreField.soupEntryID] = JSONValue(rowID) }
    return object
  }
}

extension PendingRequest.Change {
  /// Reads a change; nil if it is not valid.
  fileprivate init?(_ json: JSONValue, of request: PendingRequest) {
    guard let row = json["row"]?.int, let created = json["created"]?.int,
      let isCreate = json["create"]?.bool, let type = json["type"]?.string,
      let fields = json["fields"]?.object
    else { return nil }
    let id = json["id"]?.string
    let key = json["key"]
    let isUpsert = key?["field"]?.string != nil
    self.init(
      soupEntryID: row, created: created, id: id,
      write: PendingWrite(
        isCreate ? .create : isUpsert ? .upsert : .update, type, userID: request.userID,
        recordID: isCreate || isUpsert ? nil : id, externalField: key?["field"]?.string,
        externalValue: key?["value"]?.string, fields: fields, since: request.since,
        sent: request.sent))
  }

  fileprivate var json: JSONValue {
    var object: JSONObject = [
      "row": JSONValue(soupEntryID), "created": JSONValue(created),
      "create": .bool(write.action == .create), "type": .string(write.objectType),
    ]
    object["id"] = id.map(JSONValue.string)
    object["fields"] = .object(write.fields)
    if let field = write.externalField, let value = write.externalValue {
      object["key"] = ["field": .string(field), "value": .string(value)]
    }
    return .object(object)
  }
}
