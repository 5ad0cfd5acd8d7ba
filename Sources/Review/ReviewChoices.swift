import JSON
import Ledger
import Reconciliation
import Salesforce

/// What the page sends: `{"decisions": [{"edit", "decision", "fields", "rest", "record"}]}`.
///
/// `decision` is a word as files of decisions have it. With `set`, `fields` says of each field
/// `{"take": "device" | "server"}` or `{"text": "…"}`, and `rest` whose the others are.
enum ReviewChoices {
  /// What a request does not say as the page would say it.
  struct Unreadable: Error {}

  /// The requests of a body, beside what was seen of each edit.
  static func requests(
    _ body: JSONValue, seen: (Int64) -> DecisionRequest.Seen?
  ) throws(Unreadable) -> [DecisionRequest] {
    guard let list = body["decisions"]?.array else { throw Unreadable() }
    var requests: [DecisionRequest] = []
    for value in list {
      guard let edit = value["edit"]?.int,
        let kind = value["decision"]?.string.flatMap(Decision.Kind.init(rawValue:))
      else { throw Unreadable() }
      requests.append(
        DecisionRequest(edit: edit, try choice(kind, value), seen: seen(edit)))
    }
    return requests
  }

  private static func choice(
    _ kind: Decision.Kind, _ value: JSONValue
  ) throws(Unreadable) -> DecisionRequest.Choice {
    switch kind {
    case .device, .server, .again, .drop:
      guard let decision = Decision(kind, [:]) else { throw Unreadable() }
      return .whole(decision)
    case .record:
      guard let id = value["record"]?.string?.recordID18 else { throw Unreadable() }
      return .whole(.record(id))
    case .set:
      guard let members = value["fields"]?.object, !members.isEmpty else { throw Unreadable() }
      var fields: [String: DecisionRequest.FieldChoice] = [:]
      for (name, field) in members {
        switch (field["take"]?.string, field["text"]?.string) {
        case ("device"?, nil): fields[name] = .device
        case ("server"?, nil): fields[name] = .server
        case (nil, let text?): fields[name] = .text(text)
        default: throw Unreadable()
        }
      }
      return .fields(
        fields, rest: value["rest"]?.string.flatMap(Decision.Side.init(rawValue:)))
    }
  }
}
