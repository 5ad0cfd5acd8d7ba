import JSON
import Returns
import System

/// The returns that were refused and lie aside, with the reason beside each.
package enum Quarantine {
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
  /// no more of it, its `ReasonFile`.
  package static func list(_ directory: String) throws(SystemError) -> [Item] {
    guard Files.isDirectory(directory) else { return [] }
    return try ReasonFile.digests(in: directory).compactMap { sha256 in
      let place = directory + "/" + sha256
      guard Files.exists(place) else { return nil }
      var detail = ReasonFile(of: sha256, in: directory).told
      detail["path"] = .string(place)
      return Item(sha256: sha256, detail: detail)
    }
  }
}
