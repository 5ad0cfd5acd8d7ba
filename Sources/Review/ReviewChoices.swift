import JSON
import Ledger
import Reconciliation
import Salesforce

/// What the page sends: `{"decisions": [{"edit", "revision", "decision", "fields", "rest", "record"}]}`.
///
/// `revision` names what the page showed of the edit; without one it is what the last report shows.
/// `decision` is a word as files of decisions have it. With `set`, `fields` says of each field
/// `{"take": "device" | "server"}` or `{"text": "…"}`, and `rest` whose the others are.
enum ReviewChoices {
  /// What a request does not say as the page would say it.
  struct Unreadable: Error {
    /// What is wrong.
    var words = "this does not say what is decided"
  }

  /// The requests of a body, beside what was seen of each edit.
  static func requests(
    _ body: JSONValue, seen: (_ edit: Int64, _ revision: Int) -> DecisionRequest.Seen?
  ) throws(Unreadable) -> [DecisionRequest] {
    guard let list = body["decisions"]?.array else { throw Unreadable() }
    var requests: [DecisionRequest] = []
    for value in list {
      guard let edit = value["edit"]?.int,
        let kind = value["decision"]?.string.flatMap(Decision.Kind.init(rawValue:))
      else { throw Unreadable() }
      var request = DecisionRequest(edit: edit, try choice(kind, value))
      if let revision = value["revision"]?.int {
        guard let shown = seen(edit, Int(revision)) else {
          throw Unreadable(words: "edit \(edit) was never shown so; load the page anew")
        }
        request.seen = shown
      }
      requests.append(request)
    }
    return requests
  }

  private static func choice(
    _ kind: Decision.Kind, _ value: JSONValue
  ) throws(Unreadable) -> DecisionRequest.Choice {
    switch kind {
    case .undo: throw Unreadable()
    case .device, .server, .retry, .discard:
      guard let decision = Decision(kind, [:]) else { throw Unreadable() }
      return .whole(decision)
    case .record:
      guard let id = value["record"]?.string?.recordID18 else {
        throw Unreadable(
          words:
            "edit \(value["edit"]?.int ?? 0): this is no record's Id; it has 15 or 18 characters")
      }
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
