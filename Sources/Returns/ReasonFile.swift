import JSON
import System

/// The file beside a refused return that says why: `<sha256>.reason.json` in the quarantine.
///
/// A return whose reason somebody has taken away is told no more, though it lies there still.
package struct ReasonFile: Sendable, Hashable {
  private static let ending = ".reason.json"

  /// The digest of the return's content, which names its directory.
  package let sha256: String
  /// The code of the refusal.
  package private(set) var code: String?
  /// What is wrong.
  package private(set) var reason: String?
  /// What to do about it.
  package private(set) var fix: String?
  /// The name that the return came under.
  package private(set) var name: String?
  /// When it came.
  package private(set) var arrived: String?
  private var quarantined: String?

  /// Why a return is refused now.
  init(_ refusal: Refusal, of taken: TakenReturn, at milliseconds: Int64) {
    sha256 = taken.sha256
    (code, reason, fix) = (refusal.code.rawValue, refusal.sentence, refusal.fix)
    (name, arrived) = (taken.name, Dates.utc(taken.arrived))
    quarantined = Dates.utc(milliseconds)
  }

  /// Reads what a quarantine says of a return: nothing, where it cannot be read.
  package init(of sha256: String, in quarantine: String) {
    self.sha256 = sha256
    // A reason that cannot be read makes the return no less refused.
    let bytes = (try? Files.read(Self.path(of: sha256, in: quarantine), limit: 1 << 16)) ?? []
    let json = (try? JSONValue(parsing: bytes)) ?? .null
    (code, reason) = (json["code"]?.string, json["reason"]?.string)
    // The version before wrote it under the second name.
    fix = json["fix"]?.string ?? json["mend"]?.string
    (name, arrived) = (json["name"]?.string, json["arrived"]?.string)
    quarantined = json["quarantined"]?.string
  }

  /// Writes it into a quarantine.
  func write(into quarantine: String) throws(SystemError) {
    var json: JSONObject = ["format": 1]
    for (member, text) in [
      ("code", code), ("reason", reason), ("fix", fix), ("name", name), ("sha256", sha256),
      ("arrived", arrived), ("quarantined", quarantined),
    ] {
      json[member] = text.map(JSONValue.string)
    }
    try DurableFile.write(
      JSONValue.object(json).bytes(pretty: true, sortedKeys: false) + [0x0A],
      to: Self.path(of: sha256, in: quarantine))
  }

  /// What is told of it in a report and in the results of a run.
  package var told: JSONObject {
    var told: JSONObject = [:]
    for (member, text) in [
      ("name", name), ("code", code), ("reason", reason), ("fix", fix), ("arrived", arrived),
      ("sha256", sha256),
    ] {
      told[member] = text.map(JSONValue.string)
    }
    return told
  }

  /// The digests of the returns that a quarantine has a reason for, whether they lie there or not.
  package static func digests(in quarantine: String) throws(SystemError) -> [String] {
    try Files.list(quarantine).compactMap { name in
      name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : nil
    }
  }

  /// Removes the reason for a return, if there is one.
  package static func remove(of sha256: String, in quarantine: String) throws(SystemError) {
    try Files.remove(path(of: sha256, in: quarantine))
  }

  private static func path(of sha256: String, in quarantine: String) -> String {
    quarantine + "/" + sha256 + ending
  }
}
