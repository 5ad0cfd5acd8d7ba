import JSON
import Ledger
import Snapshots

/// The object that names the orders of a run, which workers read first.
struct OrderList: Sendable, Hashable {
  /// The directory of the orders and results below `work/`: the run, and its attempt.
  var set: String
  /// The version of the program that wrote the orders.
  var version: String
  /// The digest of the settings that a worker must have too.
  var definitions: String
  var organizationID: String
  /// The SHA-256 of each order.
  var orders: [String]
  /// The number of requests that all workers may send together; nil for any number.
  var requests: Int?
  /// What is known about calls with several parts; nil before the first prime.
  var wide: String?
  /// The stages for whose needs each user is checked; nil if the org could not be asked.
  var checked: Set<Stage>?
  /// Whether the orders are for all users.
  var isWhole = true
  /// The summary of the stages before the prime, which the collecting run continues; nil in the
  /// store.
  var earlier: JSONValue?

  static let format = 1

  /// Whether the orders are those of a run.
  func isOf(_ run: RunRow) -> Bool { set.hasPrefix(run.id + ".") }

  /// Throws if a pipeline makes other stores than the orders are for.
  func checkSettings(of pipeline: Pipeline, fix: String) throws(PipelineError) {
    if definitions == pipeline.workDigest() { return }
    throw PipelineError(
      .configuration, "work.other-pipeline",
      "the orders were written with other settings or syncs", location: pipeline.file, fix: fix)
  }
}

extension OrderList {
  var json: JSONValue {
    var object: JSONObject = [
      "format": JSONValue(Self.format), "set": .string(set), "version": .string(version),
      "definitions": .string(definitions), "organization": .string(organizationID),
      "orders": JSONValue(orders), "whole": .bool(isWhole),
    ]
    object["requests"] = requests.map { JSONValue($0) }
    object["wide"] = wide.map(JSONValue.string)
    object["earlier"] = earlier
    object["checked"] = checked.map { JSONValue($0.map(\.rawValue).sorted()) }
    return .object(object)
  }

  init(_ reader: MemberReader) throws(SnapshotError) {
    set = try reader.text("set")
    version = try reader.text("version")
    definitions = try reader.text("definitions")
    organizationID = try reader.string("organization")
    orders = try reader.texts("orders")
    isWhole = try reader.flag("whole")
    requests = reader.json["requests"] == nil ? nil : try reader.integer("requests")
    wide = try reader.optionalText("wide")
    earlier = reader.json["earlier"]
    checked =
      reader.json["checked"] == nil
      ? nil : Set(try reader.texts("checked").compactMap { Stage(rawValue: $0) })
  }
}
