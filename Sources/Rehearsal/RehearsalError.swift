/// The reason why a rehearsal could not be played.
package enum RehearsalError: Error, Sendable, CustomStringConvertible {
  /// The soup lacks a record that the story needs.
  case noSuchRecord(soup: String, id: String)
  /// The store has no stamp, so it was not made by a pipeline.
  case noStamp(String)
  /// The org lacks the user.
  case noUser(String)
  /// One of the two directories contains the other, and emptying one would remove both.
  case overlapping(String, String)
  /// Another demo uses the directory.
  case running(String)
  /// The outcome is not what was played.
  case unexpected([String])

  /// One sentence that names what is missing, and where.
  package var description: String {
    switch self {
    case .noSuchRecord(let soup, let id): "the soup \"\(soup)\" has no record \(id)"
    case .noStamp(let path): "\(path) has no stamp; it is not a store of a pipeline"
    case .noUser(let name): "the org has no user \(name)"
    case .overlapping(let scratch, let other):
      "one of the scratch directory \(scratch) and \(other) contains the other; nothing was changed"
    case .running(let path): "another demo is running in \(path); nothing was changed"
    case .unexpected(let lines):
      "the outcome differs from the expected one: " + lines.joined(separator: "; ")
    }
  }
}
