import JSON
import System

/// The reason file of a refused return: `<sha256>.reason.json` in the quarantine.
///
/// If an operator removes the reason file, the return is no longer reported, even if it is still
/// there.
package struct ReasonFile: Sendable, Hashable {
  private static let ending = ".reason.json"

  /// The digest of the return's content, which names its directory.
  package let sha256: String
  /// The code of the refusal.
  package private(set) var code: String?
  /// The reason.
  package private(set) var reason: String?
  /// The suggested fix.
  package private(set) var fix: String?
  /// The original name of the return.
  package private(set) var name: String?
  /// When it arrived.
  package private(set) var arrived: String?
  private var quarantined: String?

  /// The reason file of a new refusal.
  init(_ refusal: Refusal, of taken: TakenReturn, at milliseconds: Int64) {
    sha256 = taken.sha256
    (code, reason, fix) = (refusal.code.rawValue, refusal.sentence, refusal.fix)
    (name, arrived) = (taken.name, Dates.utc(taken.arrived))
    quarantined = Dates.utc(milliseconds)
  }

  /// Reads the reason file of a return.
  ///
  /// Its values are nil if it cannot be read.
  package init(of sha256: String, in quarantine: String) {
    self.sha256 = sha256
    // Without a readable reason, the return is still refused.
    let bytes = (try? Files.read(Self.path(of: sha256, in: quarantine), limit: 1 << 16)) ?? []
    let json = (try? JSONValue(parsing: bytes)) ?? .null
    (code, reason) = (json["code"]?.string, json["reason"]?.string)
    fix = json["fix"]?.string
    (name, arrived) = (json["name"]?.string, json["arrived"]?.string)
    quarantined = json["quarantined"]?.string
  }

  /// Writes the file into a quarantine.
  func write(into quarantine: String) throws(SystemError) {
    var json: JSONObject = ["format": 1]
    for (member, text) in [
      ("code", code), ("reason", reason), ("fix", fix), ("name", name), ("sha256", sha256),
      ("arrived", arrived), ("quarantined", quarantined),
    ] {
      json[member] = text.map(JSONValue.string)
    }
    try DurableFile.write(
      JSONValue.object(json).fileBytes,
      to: Self.path(of: sha256, in: quarantine))
  }

  /// The members shown in reports and in the results of a run.
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

  /// Returns the digests of all reason files in a quarantine, whether or not the returns are still
  /// there.
  package static func digests(in quarantine: String) throws(SystemError) -> [String] {
    try Files.list(quarantine).compactMap { name in
      name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : nil
    }
  }

  /// Removes the reason file of a return, if it exists.
  package static func remove(of sha256: String, in quarantine: String) throws(SystemError) {
    try Files.remove(path(of: sha256, in: quarantine))
  }

  private static func path(of sha256: String, in quarantine: String) -> String {
    quarantine + "/" + sha256 + ending
  }
}
