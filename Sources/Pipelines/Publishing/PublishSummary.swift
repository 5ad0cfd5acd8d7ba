import JSON

/// What a publication wrote, or would write.
package struct PublishSummary: Sendable, Hashable {
  /// The store, or the command.
  package var location = ""
  /// The users whose newest bundles were published.
  package var users: [String] = []
  /// The number of files written, without each user's `latest.json`.
  package var files = 0
  /// The size of these files in bytes.
  package var bytes: Int64 = 0
  /// The number of removed objects.
  package var removed = 0
  /// Why the bundles of some users were not published.
  package var failures: [String] = []

  /// Whether there was nothing to do.
  package var isEmpty: Bool { users.isEmpty && removed == 0 && failures.isEmpty }

  /// The JSON form.
  package var json: JSONValue {
    var object: JSONObject = [
      "location": .string(location), "users": JSONValue(users), "files": JSONValue(files),
      "bytes": JSONValue(bytes), "removed": JSONValue(removed),
    ]
    if !failures.isEmpty { object["failures"] = JSONValue(failures) }
    return .object(object)
  }
}
