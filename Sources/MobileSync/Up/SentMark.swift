import JSON
import Salesforce
import SmartStore

/// What is committed to the store before a request leaves whose answer matters: if none comes, the next
/// run searches for the records instead of sending them twice.
///
/// One element a request in a soup of its own: marking the elements themselves would write every one
/// of them once more, and leave our member in what an app reads.
struct SentMark: Sendable {
  /// One change of the request.
  struct Change: Sendable {
    /// The row.
    var soupEntryID: Int64
    /// When the row was made: a row that has another birth is another element.
    var created: Int64
    /// Whether a new record was asked for.
    var isCreate: Bool
    /// The sObject type.
    var objectType: String
    /// The record's id before the request; that of a new record is a local one, or none.
    var id: String?
    /// What was sent.
    var fields: JSONObject
  }

  /// The mark's own row.
  var markID: Int64 = 0
  /// Who sent it.
  var userID: String
  /// The org's clock as its last answer before had told it: nothing was made earlier.
  var since: Int64
  /// The org's clock when it was sent, as well as that is known.
  var sent: Int64
  /// The changes.
  var changes: [Change]
  /// Records of this device that are known to be others than those that these creates may have made.
  var claimed: [String] = []

  /// The soup of the marks.
  static let soupName = "attache_sent"
  private static let soupPath = "soupName"

  /// The marks that are left of a soup's sync ups.
  static func all(of soup: String, in store: Store) throws(StoreError) -> [SentMark] {
    guard try store.hasSoup(soupName) else { return [] }
    return try store.elements(in: soupName, where: soupPath, is: soup).compactMap(SentMark.init)
  }

  /// Writes a mark and answers its row.
  static func put(_ mark: SentMark, of soup: String, in store: Store) throws(StoreError) -> Int64 {
    if try !store.hasSoup(soupName) {
      try store.registerSoup(
        soupName, indexSpecs: [IndexSpec(path: soupPath, type: .string)])
    }
    var element = mark.element
    element[soupPath] = .string(soup)
    let stored = try store.upsert([.object(element)], into: soupName)
    return stored.first?[StoreField.soupEntryID]?.int ?? 0
  }

  /// Removes a mark, or leaves in it what is still in doubt.
  static func keep(
    _ rows: Set<Int64>, of mark: SentMark, _ soup: String, in store: Store
  ) throws(StoreError) {
    var rest = mark
    rest.changes.removeAll { !rows.contains($0.soupEntryID) }
    if rest.changes.isEmpty {
      try store.remove([mark.markID], from: soupName)
    } else if rest.changes.count < mark.changes.count {
      _ = try put(rest, of: soup, in: store)
    }
  }
}

extension SentMark {
  /// From 1970 to the year 9999.
  private static let times: Range<Int64> = 0..<253_402_300_800_000

  private init?(_ element: JSONValue) {
    // A store may come from elsewhere: the user goes into a query, and there are sums with the times.
    guard let id = element[StoreField.soupEntryID]?.int,
      let user = element["user"]?.string.flatMap({ RecordID($0)?.text18 }),
      let since = element["since"]?.int, let sent = element["sent"]?.int,
      Self.times.contains(since), Self.times.contains(sent)
    else { return nil }
    self.init(
      markID: id, userID: user, since: since, sent: sent,
      changes: (element["changes"]?.array ?? []).compactMap { Change($0) },
      claimed: (element["claimed"]?.array ?? []).compactMap(\.string))
  }

  private var element: JSONObject {
    var object: JSONObject = [
      "user": .string(userID), "since": JSONValue(since), "sent": JSONValue(sent),
      "changes": .array(changes.map(\.json)), "claimed": JSONValue(claimed),
    ]
    if markID > 0 { object[StoreField.soupEntryID] = JSONValue(markID) }
    return object
  }
}

extension SentMark.Change {
  fileprivate init?(_ json: JSONValue) {
    guard let row = json["row"]?.int, let created = json["created"]?.int,
      let isCreate = json["create"]?.bool, let type = json["type"]?.string,
      let fields = json["fields"]?.object
    else { return nil }
    self.init(
      soupEntryID: row, created: created, isCreate: isCreate, objectType: type,
      id: json["id"]?.string, fields: fields)
  }

  fileprivate var json: JSONValue {
    var object: JSONObject = [
      "row": JSONValue(soupEntryID), "created": JSONValue(created), "create": JSONValue(isCreate),
      "type": .string(objectType),
    ]
    object["id"] = id.map(JSONValue.string)
    object["fields"] = .object(fields)
    return .object(object)
  }
}
