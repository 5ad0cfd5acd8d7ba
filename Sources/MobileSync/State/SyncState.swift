import JSON

/// A sync as `syncs_soup` keeps it: what it is, and how far it has come.
public struct SyncState: Sendable, Hashable {
  /// Where a sync stands.
  public enum Status: String, Sendable, Hashable, CaseIterable {
    case new = "NEW"
    case stopped = "STOPPED"
    case running = "RUNNING"
    case done = "DONE"
    case failed = "FAILED"
  }

  /// The id: the element's `_soupEntryId`; 0 before it is saved.
  public var id: Int64
  /// The direction.
  public var type: SyncType
  /// The name; a sync made by an app may have none.
  public var name: String?
  /// The soup that is synced.
  public var soupName: String
  /// Where the sync stands.
  public var status: Status
  /// Whole percents of the last run.
  public var progress: Int
  /// The records expected in the last run; -1 before one.
  public var totalSize: Int
  /// The cursor that an incremental run starts from, in milliseconds; -1 before a full run.
  public var maxTimeStamp: Int64
  /// When the last run began, in milliseconds.
  public var startTime: Int64
  /// When the last run ended, in milliseconds.
  public var endTime: Int64
  /// Why the last run failed; empty after a success.
  public var error: String
  /// The ids of records to fetch whenever they were modified, by soup.
  ///
  /// They are what LEAVE_IF_CHANGED left, and what the org has and the soup has not. The SDKs do not
  /// read this member.
  package var refetch: [String: [String]] = [:]
  /// The target with every default made explicit.
  package var target: JSONValue
  /// The merge mode and, for a sync up, the fields.
  package var options: JSONValue

  /// A sync that has not run.
  package init(
    type: SyncType, name: String?, target: JSONValue, options: JSONValue, soupName: String
  ) {
    id = 0
    self.type = type
    self.name = name
    self.target = target
    self.options = options
    self.soupName = soupName
    status = .new
    progress = 0
    totalSize = -1
    maxTimeStamp = -1
    startTime = 0
    endTime = 0
    error = ""
  }

  /// Reads an element of `syncs_soup`; nil when it is none.
  ///
  /// What a device may leave out is read as not set.
  package init?(element: JSONValue) {
    guard let type = element["type"]?.string.flatMap(SyncType.init(rawValue:)),
      let soupName = element["soupName"]?.string,
      let status = element["status"]?.string.flatMap(Status.init(rawValue:)),
      let target = element["target"]
    else { return nil }
    self.init(
      type: type, name: element["name"]?.string, target: target,
      options: element["options"] ?? .object(JSONObject()), soupName: soupName)
    self.status = status
    id = element["_soupEntryId"]?.int ?? 0
    progress = Int(element["progress"]?.int ?? 0)
    totalSize = Int(element["totalSize"]?.int ?? -1)
    maxTimeStamp = element["maxTimeStamp"]?.int ?? -1
    startTime = element["startTime"]?.int ?? 0
    endTime = element["endTime"]?.int ?? 0
    error = element["error"]?.string ?? ""
    for (soup, ids) in element[Self.refetchMember]?.object ?? JSONObject() {
      refetch[soup] = ids.array?.compactMap(\.string)
    }
  }

  private static let refetchMember = "attache_refetch"

  /// The sync as JSON text, with its target and options, as the SDKs write it.
  public var json: String { element.text }

  /// The element as the SDKs write it; a sync without a name has no member for it.
  package var element: JSONValue {
    var object = JSONObject()
    if id > 0 { object["_soupEntryId"] = JSONValue(id) }
    object["type"] = .string(type.rawValue)
    object["name"] = name.map(JSONValue.string)
    object["target"] = target
    object["options"] = options
    object["soupName"] = .string(soupName)
    object["status"] = .string(status.rawValue)
    object["progress"] = JSONValue(progress)
    object["totalSize"] = JSONValue(totalSize)
    object["maxTimeStamp"] = JSONValue(maxTimeStamp)
    object["startTime"] = JSONValue(startTime)
    object["endTime"] = JSONValue(endTime)
    object["error"] = .string(error)
    if !refetch.isEmpty {
      var lists = JSONObject()
      for (soup, ids) in refetch.sorted(by: { $0.key < $1.key }) { lists[soup] = JSONValue(ids) }
      object[Self.refetchMember] = .object(lists)
    }
    return .object(object)
  }

  /// Marks a run as done; an old error does not stay.
  package mutating func finish(totalSize: Int, maxTimeStamp: Int64, started: Int64, ended: Int64) {
    status = .done
    progress = 100
    self.totalSize = totalSize
    self.maxTimeStamp = maxTimeStamp
    startTime = started
    endTime = ended
    error = ""
  }
}
