/// Why a rehearsal could not be played.
package enum RehearsalError: Error, Sendable, CustomStringConvertible {
  /// The record that the story needs is not in the soup.
  case noSuchRecord(soup: String, id: String)
  /// The store has no stamp: it was not made by a pipeline.
  case noStamp(String)
  /// The org has no such user.
  case noUser(String)
  /// Emptying the first directory would remove the second place, or the other way about.
  case overlapping(String, String)
  /// What happened is not what was played.
  case unexpected([String])

  /// One sentence: what is missing, and where.
  package var description: String {
    switch self {
    case .noSuchRecord(let soup, let id): "the soup \"\(soup)\" has no record \(id)"
    case .noStamp(let path): "\(path) has no stamp; it is not a store of a pipeline"
    case .noUser(let name): "the org has no user \(name)"
    case .overlapping(let scratch, let other):
      "the scratch directory \(scratch) and \(other) are one inside the other; nothing was changed"
    case .unexpected(let lines):
      "the result is not what was played: " + lines.joined(separator: "; ")
    }
  }
}
