import JSON
import Returns
import System

/// Where returns arrive, and which are accepted.
package struct InboxSettings: Sendable, Hashable {
  /// The directory, relative to `snapshots/<name>/`.
  package var path = "inbox"
  /// The object store from which returns are collected as well; nil for none.
  package var store: ObjectStoreSettings?
  package var accept = TakenReturn.Kind.allCases
  /// The passphrase of sealed returns; nil for that of the bundles.
  package var passphrase: SecretSource?
  /// How many seconds a file's size and time must stay unchanged before it is taken.
  package var settleSeconds = 60
  /// Whether returns of expired bundles are accepted.
  package var acceptExpired = true
  package var limits = InboxLimits()

  static let keys = [
    "path", "store", "accept", "passphrase", "settleSeconds", "acceptExpired", "limits",
  ]

  init() {}

  init(_ object: ConfigurationObject, in directory: String) {
    let reader = object.reader
    path = object.text("path") ?? path
    if let node = object["path"], path.split(separator: "/").contains("..") {
      reader.report(
        node, "\(JSONText.quoted(path)) is outside the pipeline's directory",
        "write a name below snapshots/, or an absolute path")
    }
    func reportOwn(_ path: String, _ node: JSONNode) {
      reader.report(
        node,
        "\(JSONText.quoted(path)) contains attache's own files, which would be taken for returns",
        "use a separate directory for returns")
    }
    if let node = object["path"], DataDirectory.isOwn(path) || Self.holds(path, directory) {
      reportOwn(path, node)
    }
    store = object["store"].flatMap { ObjectStoreSettings($0, in: directory, reader) }
    if case .directory(let path)? = store, Self.holds(path, directory),
      let node = object["store"]?["directory"]
    {
      reportOwn(path, node)
    }
    accept = object.words("accept", "a kind of return", default: accept)
    passphrase = object["passphrase"].flatMap { reader.secret($0, in: directory) }
    settleSeconds = object.int("settleSeconds", default: settleSeconds, in: 0...86400)
    acceptExpired = object.bool("acceptExpired", default: acceptExpired)
    let known = ["fileMiB", "entries", "ratio", "recordMiB"]
    if let section = object.object("limits", known: known, what: "the section limits") {
      limits.fileMiB = section.int("fileMiB", default: limits.fileMiB, in: 1...1_048_576)
      limits.entries = section.int("entries", default: limits.entries, in: 1...100_000)
      limits.ratio = section.int("ratio", default: limits.ratio, in: 1...100_000)
      limits.recordMiB = section.int("recordMiB", default: limits.recordMiB, in: 1...1024)
    }
  }

  /// Whether an absolute path is inside a directory.
  private static func holds(_ path: String, _ directory: String) -> Bool {
    path.hasPrefix("/") && Files.isWithin(directory, path)
  }

  var json: JSONValue {
    JSONObject.of([
      ("path", .string(path)), ("store", store?.json),
      ("accept", .array(accept.map { .string($0.rawValue) })),
      ("passphrase", passphrase?.json), ("settleSeconds", JSONValue(settleSeconds)),
      ("acceptExpired", JSONValue(acceptExpired)),
      (
        "limits",
        [
          "fileMiB": JSONValue(limits.fileMiB), "entries": JSONValue(limits.entries),
          "ratio": JSONValue(limits.ratio), "recordMiB": JSONValue(limits.recordMiB),
        ]
      ),
    ])
  }
}
