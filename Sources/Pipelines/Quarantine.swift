import JSON
import System

/// The returns that were refused and lie aside, with the reason beside each.
package enum Quarantine {
  /// What the name of a reason ends in, behind the digest.
  static let reasonEnding = ".reason.json"
  /// What the name of a note ends in that says who discarded a return.
  static let discardedEnding = ".discarded.json"

  /// One of them.
  package struct Item: Sendable, Hashable {
    /// The digest of its content, which names its directory.
    package var sha256: String
    /// What its reason says, and where it lies.
    package var detail: JSONObject
  }

  /// What lies in a quarantine, by digest.
  ///
  /// A return is settled when somebody has taken its directory away, or, to keep the file and hear
  /// no more of it, its `.reason.json`.
  package static func list(_ directory: String) throws(SystemError) -> [Item] {
    guard Files.isDirectory(directory) else { return [] }
    let ending = reasonEnding
    return try Files.list(directory).compactMap { name in
      let sha256 = String(name.dropLast(ending.count))
      let place = directory + "/" + sha256
      guard name.hasSuffix(ending), Files.exists(place) else { return nil }
      // A reason that cannot be read makes the return no less refused.
      let bytes = (try? Files.read(directory + "/" + name, limit: 1 << 16)) ?? []
      let reason = (try? JSONValue(parsing: bytes)) ?? .null
      return Item(sha256: sha256, detail: detail(reason, sha256: sha256, place: place))
    }
  }

  private static func detail(
    _ reason: JSONValue, sha256: String, place: String
  ) -> JSONObject {
    var detail: JSONObject = [:]
    for member in ["name", "code", "reason", "fix", "arrived"] {
      if let text = reason[member]?.string { detail[member] = .string(text) }
    }
    // The version before wrote it under this name.
    if detail["fix"] == nil, let text = reason["mend"]?.string { detail["fix"] = .string(text) }
    detail["sha256"] = .string(sha256)
    detail["path"] = .string(place)
    return detail
  }
}
