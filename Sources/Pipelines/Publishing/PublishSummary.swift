import JSON
import System

/// What a publication wrote, or would write.
package struct PublishSummary: Sendable, Hashable {
  /// The store, or the program.
  package var location: String
  /// The users whose `latest.json` was written.
  package var users: [String] = []
  /// The paths of the files written, without each user's `latest.json`.
  package var paths: [String] = []
  /// The size of these files in bytes.
  package var bytes: Int64 = 0
  /// The number of objects of pruned generations that were removed.
  package var removed = 0
  /// Why the bundles of some users were not published.
  package var failures: [String] = []
  /// Those of them who can get other bundles from the store than there are here, or later ones.
  package var outdated: [String] = []
  /// Whether the next publication may succeed without a change of the configuration.
  package var isForLater = false

  package init(location: String = "") { self.location = location }

  package var isEmpty: Bool {
    users.isEmpty && paths.isEmpty && removed == 0 && failures.isEmpty
  }

  /// The JSON form; that of a plan names the files.
  package func json(isPlan: Bool = false) -> JSONValue {
    var object: JSONObject = [
      "location": .string(location), "users": JSONValue(users), "files": JSONValue(paths.count),
      "bytes": JSONValue(bytes), "removed": JSONValue(removed),
    ]
    if isPlan { object["paths"] = JSONValue(paths) }
    if !failures.isEmpty { object["failures"] = JSONValue(failures) }
    return .object(object)
  }

  /// The number of files and users, and the store: "4 files (1.2 MB) of 2 users to …".
  package var text: String {
    if users.isEmpty, paths.isEmpty, removed == 0 {
      return failures.isEmpty ? "nothing to do" : "nothing was published to \(location)"
    }
    let removed = removed == 0 ? "" : ", \(CountText.of(removed, "pruned object")) removed"
    return "\(CountText.of(paths.count, "file")) (\(ByteCount.text(Int(bytes)))) of "
      + "\(CountText.of(users.count, "user")) to \(location)\(removed)"
  }
}
