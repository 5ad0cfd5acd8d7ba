import JSON
import Ledger
import Reports
import Salesforce

/// The request body of the page: `{"decisions": [{"edit", "revision", "decision", "fields", "rest",
/// "record"}]}`.
///
/// `revision` identifies what the page showed of the edit; if it is missing, that is the last
/// report. `decision` is a keyword as in decision files. With `set`, `fields` gives for each field
/// `{"take": "device" | "server"}` or `{"text": "…"}`, and `rest` the source of the other fields.
enum ReviewChoices {
  /// The error for a request that the page would not send.
  struct Unreadable: Error {
    /// The message.
    var words = "this is not a valid decision"
  }

  /// Returns the requests of a body, each with what was shown of its edit.
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
          throw Unreadable(words: "edit \(edit) was never shown like this; reload the page")
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
            "edit \(value["edit"]?.int ?? 0): this is not a record ID, which has 15 or 18 characters"
        )
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
