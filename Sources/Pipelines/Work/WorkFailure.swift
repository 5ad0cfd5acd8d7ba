import JSON
import Snapshots

/// The error of a prime on another machine.
struct WorkFailure: Error, Sendable {
  let error: PipelineError
  /// Whether the worker's machine caused it, rather than the org's answer.
  let isOurs: Bool

  init(_ error: PipelineError, isOurs: Bool) { (self.error, self.isOurs) = (error, isOurs) }

  init(_ error: any Error) {
    self.init(PipelineError(describing: error), isOurs: PipelineError.isOurs(error))
  }
}

extension WorkFailure {
  /// The kinds of errors that leave a worker, by name.
  private static let kinds: [(name: String, kind: PipelineError.Kind)] = [
    ("failed", .failed), ("configuration", .configuration), ("authentication", .authentication),
    ("tryLater", .tryLater), ("damaged", .damaged),
  ]

  var json: JSONValue {
    let kind = Self.kinds.first { $0.kind == error.kind }?.name ?? "failed"
    var object: JSONObject = [
      "kind": .string(kind), "code": .string(error.code), "message": .string(error.message),
      "ours": .bool(isOurs),
    ]
    object["location"] = error.location.map(JSONValue.string)
    object["address"] = error.address.map(JSONValue.string)
    object["reason"] = error.reason.map(JSONValue.string)
    object["fix"] = error.fix.map(JSONValue.string)
    return .object(object)
  }

  init(_ reader: MemberReader) throws(SnapshotError) {
    let name = try reader.text("kind")
    guard let kind = Self.kinds.first(where: { $0.name == name })?.kind else {
      throw reader.wrong("kind")
    }
    var error = PipelineError(
      kind, try reader.text("code"), try reader.text("message"),
      location: reader.json["location"]?.string, reason: reader.json["reason"]?.string,
      fix: reader.json["fix"]?.string)
    error.address = reader.json["address"]?.string
    self.init(error, isOurs: try reader.flag("ours"))
  }
}
