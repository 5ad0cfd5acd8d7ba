import JSON

/// A sync as stored in `syncs_soup`: its definition and its progress.
public struct SyncState: Sendable, Hashable {
  /// The status of a sync.
  public enum Status: String, Sendable, Hashable, CaseIterable {
    case new = "NEW"
    case stopped = "STOPPED"
    case running = "RUNNING"
    case done = "DONE"
    case failed = "FAILED"
  }

  /// The ID, which is the element's `_soupEntryId`; 0 before it is saved.
  public var id: Int64
  /// The direction.
  public var type: SyncType
  /// The name; a sync that an app creates may have none.
  public var name: String?
  /// The soup that is synced.
  public var soupName: String
  /// The sync's status.
  public var status: Status
  /// The progress of the last run in whole percent.
  public var progress: Int
  /// The number of records expected in the last run; -1 before the first one.
  public var totalSize: Int
  /// The cursor from which an incremental run starts, in milliseconds; -1 before a full run.
  public var maxTimeStamp: Int64
  /// When the last run started, in milliseconds.
  public var startTime: Int64
  /// When the last run ended, in milliseconds.
  public var endTime: Int64
  /// Why the last run failed; empty after a success.
  public var error: String
  /// The IDs of records to fetch regardless of when they were modified, by soup.
  ///
  /// They are the records that LEAVE_IF_CHANGED skipped, and records that the org has and the soup
  /// lacks. The SDKs ignore this member.
  package var refetch: [String: [String]] = [:]
  /// The target with every default made explicit.
  package var target: JSONValue
  /// The merge mode and, for a sync up, the fields.
  package var options: JSONValue

  /// Creates the state of a sync that has not run.
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

  /// Reads an element of `syncs_soup`; nil if it is not a sync.
  ///
  /// Members that a device may omit are read as unset.
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

  /// The sync, with its target and options, as the JSON text that the SDKs write.
  public var json: String { element.text }

  /// The element as the SDKs write it; without a name it has no member for the name.
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

  /// Marks a run as done and clears the previous error.
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
