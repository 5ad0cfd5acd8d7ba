import HTTP
import JSON
import System

/// The notifications at the end of a run.
package struct NotifySettings: Sendable, Hashable {
  /// A webhook, with the key that signs its messages.
  package struct Webhook: Sendable, Hashable {
    /// The URL; https, except on this machine.
    package var url: TextSource
    /// The key of the signature.
    package var secret: SecretSource?
  }

  /// The outcomes after which the command and the webhook are notified.
  package var on: [RunEnd.Outcome] = [.failure, .attention]
  /// The program with its arguments; empty for none.
  package var command: [String] = []
  /// The webhook; nil for none.
  package var webhook: Webhook?
  /// The URL that is requested after each run that completed its work; nil for none.
  package var heartbeat: TextSource?

  /// The time limit for all notifications together, in seconds.
  package var timeoutSeconds = 30

  static let keys = ["on", "command", "webhook", "heartbeat", "timeoutSeconds"]

  init() {}

  init(_ object: ConfigurationObject, in directory: String) {
    let reader = object.reader
    on = object.words("on", "an outcome of a run", default: on)
    if let node = object["command"], let text = node.string {
      reader.wrongType(node, "an array of strings", Self.commandFix([text]))
    } else {
      command = object.strings("command") ?? []
    }
    if let node = object["command"], let program = command.first, !program.hasPrefix("/") {
      reader.report(
        node, "\(JSONText.quoted(program)) is not an absolute path", Self.commandFix(command))
    }
    func address(_ node: JSONNode) -> TextSource? {
      let text = reader.text(node, in: directory)
      if case .plain(let url) = text, !reader.hasCredentials(url, node), !TransferRules.isSafe(url)
      {
        reader.report(
          node, "\(JSONText.quoted(url)) is not an https URL", "write \"https://…\"")
      }
      return text
    }
    if let section = object.object("webhook", known: ["url", "secret"], what: "a webhook") {
      let secret = section["secret"].flatMap { reader.secret($0, in: directory) }
      webhook = section.required("url", "\"https://…\"").flatMap(address).map {
        Webhook(url: $0, secret: secret)
      }
    }
    heartbeat = object["heartbeat"].flatMap(address)
    timeoutSeconds = object.int("timeoutSeconds", default: timeoutSeconds, in: 1...600)
  }

  /// The fix for a command that is written as in a shell.
  private static func commandFix(_ command: [String]) -> String {
    let words =
      (command.first ?? "").split(separator: " ").map(String.init) + command.dropFirst()
    let program = words.first ?? "PROGRAM"
    let path = program.hasPrefix("/") ? program : "/usr/bin/" + Files.name(of: program)
    return "write the program's absolute path and each argument as a string: "
      + JSONValue([path] + words.dropFirst()).text
  }

  var json: JSONValue {
    JSONObject.of([
      ("on", .array(on.map { .string($0.rawValue) })),
      ("command", command.isEmpty ? nil : JSONValue(command)),
      (
        "webhook",
        webhook.map { JSONObject.of([("url", $0.url.json), ("secret", $0.secret?.json)]) }
      ),
      ("heartbeat", heartbeat?.json), ("timeoutSeconds", JSONValue(timeoutSeconds)),
    ])
  }
}
