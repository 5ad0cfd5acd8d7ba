import JSON
import Ledger
import Reports
import SmartStore
import Snapshots

/// What a prime of one snapshot must know besides the pipeline and the newest generation.
///
/// It is all that the ledger knows, so that a worker without the ledger makes the same stores as
/// the run. It contains no key: the IDs of the stamps are created where the key is.
struct PrimeOrder: Sendable {
  var user: SnapshotUser
  var run: String
  /// The org's time, which cursors are compared with.
  var now: Int64
  /// The run's time, which orders generations.
  var created: Int64
  var organizationID: String
  /// The number of the last run that primed from another org.
  ///
  /// Its generations cannot be continued.
  var lastRunElsewhere: Int64 = 0
  /// The lowest number for a new generation.
  ///
  /// Devices may hold generations that are no longer recorded.
  var number: Int
  /// The epoch that stamps name; nil if the ledger was never recovered.
  var stampEpoch: Int?
  /// The IDs of the stamps, by the number of the generation and the platform.
  ///
  /// There are two numbers, because a snapshot is primed again if it turns out to have records of a
  /// user who reads them differently.
  var stampIDs: [Int: [Platform: String]]
  /// The open edits that the next generation redelivers.
  var carried: [CarriedEdit] = []
  /// The returns that the next generation includes.
  var included: [IncludedReturn] = []
  /// The `soql` syncs that list the IDs of all their records in this run.
  var listIDs: Set<String> = []
  /// The records that the user's own edits have changed since the last prime, by soup.
  var changed: [String: Set<String>] = [:]
  /// The records of the user's unresolved edits, by soup.
  var edited: [String: Set<String>] = [:]
  /// The generation that was last compared with the org, and when, by the org's clock; nil if not
  /// recorded.
  var lastRead: GenerationRead?
  /// The largest share of a soup that may be deleted, if it differs from the pipeline's for this
  /// run.
  var maxDeletes: Percentage?
  /// Whether nothing of earlier generations is used.
  var isFromScratch = false

  var isGlobal: Bool { user.id == SnapshotID.global }
}

extension PrimeOrder {
  /// The document that a worker reads; equal orders give the same bytes.
  var json: JSONValue {
    func sets(_ sets: [String: Set<String>]) -> JSONValue {
      var object: JSONObject = [:]
      for (name, set) in sets.sorted(by: { $0.key < $1.key }) {
        object[name] = JSONValue(set.sorted())
      }
      return .object(object)
    }
    var stamps: JSONObject = [:]
    for (number, ids) in stampIDs.sorted(by: { $0.key < $1.key }) {
      var object: JSONObject = [:]
      for (platform, id) in ids.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        object[platform.rawValue] = .string(id)
      }
      stamps[String(number)] = .object(object)
    }
    var object: JSONObject = [
      "user": .string(user.id), "username": .string(user.username), "run": .string(run),
      "now": JSONValue(now), "created": JSONValue(created),
      "organization": .string(organizationID), "lastRunElsewhere": JSONValue(lastRunElsewhere),
      "number": JSONValue(number), "stampIds": .object(stamps),
      "carried": .array(carried.map(\.json)), "included": .array(included.map(\.json)),
      "listIds": JSONValue(listIDs.sorted()), "changed": sets(changed), "edited": sets(edited),
      "fromScratch": .bool(isFromScratch),
    ]
    object["stampEpoch"] = stampEpoch.map { JSONValue($0) }
    object["lastRead"] = lastRead.map {
      ["generation": JSONValue($0.generation), "time": JSONValue($0.time)]
    }
    object["maxDeletes"] = maxDeletes.map { JSONValue($0.value) }
    return .object(object)
  }

  /// Parses the document; `mask` is that of the pipeline's reports.
  init(_ reader: MemberReader, mask: ReportMask) throws(SnapshotError) {
    user = SnapshotUser(id: try reader.text("user"), username: try reader.text("username"))
    run = try reader.text("run")
    (now, created) = (try reader.long("now"), try reader.long("created"))
    organizationID = try reader.string("organization")
    lastRunElsewhere = try reader.long("lastRunElsewhere")
    number = try reader.integer("number")
    stampEpoch = reader.json["stampEpoch"] == nil ? nil : try reader.integer("stampEpoch")
    stampIDs = [:]
    for (text, ids) in try reader.member("stampIds").json.object ?? [:] {
      guard let number = Int(text) else { throw reader.wrong("stampIds") }
      for (name, id) in ids.object ?? [:] {
        guard let platform = Platform(rawValue: name), let id = id.string else {
          throw reader.wrong("stampIds")
        }
        stampIDs[number, default: [:]][platform] = id
      }
    }
    for item in try reader.items("carried") { carried.append(try CarriedEdit(item, mask: mask)) }
    for item in try reader.items("included") {
      guard let entry = IncludedReturn(json: item.json) else { throw reader.wrong("included") }
      included.append(entry)
    }
    listIDs = Set(try reader.texts("listIds"))
    changed = try Self.sets(reader, "changed")
    edited = try Self.sets(reader, "edited")
    if reader.json["lastRead"] != nil {
      let read = try reader.member("lastRead")
      lastRead = GenerationRead(
        generation: try read.integer("generation"), time: try read.long("time"))
    }
    if reader.json["maxDeletes"] != nil {
      maxDeletes = Percentage(try reader.integer("maxDeletes"))
    }
    isFromScratch = try reader.flag("fromScratch")
  }

  private static func sets(
    _ reader: MemberReader, _ name: String
  ) throws(SnapshotError) -> [String: Set<String>] {
    let member = try reader.member(name)
    var sets: [String: Set<String>] = [:]
    for soup in member.json.object?.names ?? [] { sets[soup] = Set(try member.texts(soup)) }
    return sets
  }
}
