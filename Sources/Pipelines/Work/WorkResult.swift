import JSON
import MobileSync
import Snapshots

/// What a worker made of an order, as the document that the run reads.
struct WorkResult: Sendable {
  /// One snapshot.
  struct Snapshot: Sendable {
    var userID: String
    var outcome: Outcome
    /// Whether no requests were left when its prime started.
    var hadNoRequests = false
  }

  enum Outcome: Sendable {
    /// The prime succeeded; the files are those of a new generation, if it made one.
    case primed(PrimeOutput, files: [WorkFile], issued: WorkFile?)
    case failed(WorkFailure)
  }

  /// The SHA-256 of the order.
  var order: String
  var shard: String
  var snapshots: [Snapshot]
  var shared = PrimeWork.Shared()
  /// The number of requests that the worker sent for it, and of bytes received.
  var spent = (requests: 0, bytes: 0)
  /// What was learned about calls with several parts.
  var wide: String?

  /// Whether another attempt may succeed where this one failed.
  var isForLater: Bool {
    snapshots.contains {
      if case .failed(let failure) = $0.outcome { failure.error.kind == .tryLater } else { false }
    }
  }
}

extension WorkResult {
  var json: JSONValue {
    var object: JSONObject = [
      "format": JSONValue(OrderList.format), "order": .string(order), "shard": .string(shard),
      "snapshots": .array(snapshots.map(\.json)),
      "shared": JSONValue(shared.records), "poolFull": .bool(shared.isFull),
      "unlike": .array(
        shared.unlike.map { ["object": .string($0.object), "field": .string($0.field)] }),
      "requests": JSONValue(spent.requests), "bytes": JSONValue(spent.bytes),
    ]
    object["wide"] = wide.map(JSONValue.string)
    return .object(object)
  }

  init(_ reader: MemberReader) throws(SnapshotError) {
    order = try reader.text("order")
    shard = try reader.text("shard")
    snapshots = []
    for item in try reader.items("snapshots") { snapshots.append(try Snapshot(item)) }
    shared.records = try reader.integer("shared")
    shared.isFull = try reader.flag("poolFull")
    for item in try reader.items("unlike") {
      shared.unlike.append(
        RecordPool.Unlike(object: try item.text("object"), field: try item.text("field")))
    }
    spent = (try reader.integer("requests"), try reader.integer("bytes"))
    wide = try reader.optionalText("wide")
  }
}

extension WorkResult.Snapshot {
  fileprivate var json: JSONValue {
    var object: JSONObject = ["user": .string(userID), "hadNoRequests": .bool(hadNoRequests)]
    switch outcome {
    case .primed(let output, let files, let issued):
      object["output"] = output.json
      object["files"] = .array(files.map(\.json))
      object["issued"] = issued.map(\.json)
    case .failed(let failure): object["failure"] = failure.json
    }
    return .object(object)
  }

  fileprivate init(_ reader: MemberReader) throws(SnapshotError) {
    userID = try reader.text("user")
    hadNoRequests = try reader.flag("hadNoRequests")
    guard reader.json["failure"] == nil else {
      outcome = .failed(try WorkFailure(reader.member("failure")))
      return
    }
    var files: [WorkFile] = []
    for item in try reader.items("files") { files.append(try WorkFile(item)) }
    let issued = reader.json["issued"] == nil ? nil : try WorkFile(reader.member("issued"))
    outcome = .primed(try PrimeOutput(reader.member("output")), files: files, issued: issued)
  }
}
