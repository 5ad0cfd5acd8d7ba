import CArchive

/// The reason an archive could not be written or was rejected.
package struct ArchiveError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The category of an archive error.
  package enum Kind: Sendable, Hashable {
    /// A file could not be read or written.
    case file
    /// The bytes are damaged or truncated, or are not an archive that attache writes.
    case damaged
    /// An entry has a type or a name that a bundle never has.
    case refusedEntry
    /// The content exceeds a limit.
    case tooLarge
  }

  package let kind: Kind
  /// The path of the archive.
  package let path: String
  /// The reason, without the path.
  package let message: String
  /// The `errno` of the failed system call; 0 if no system call failed.
  package var errno: Int32 = 0
  /// Whether the first bytes are those of no archive that attache writes.
  package var isOtherFormat = false

  package init(_ kind: Kind, _ path: String, _ message: String) {
    self.kind = kind
    self.path = path
    self.message = message
  }

  /// One sentence: the archive, then the reason.
  package var description: String { path.isEmpty ? message : "\(path): \(message)" }

  /// The error of the libarchive call that has just failed on `handle`.
  static func last(_ kind: Kind, _ path: String, _ what: String, _ handle: OpaquePointer?)
    -> ArchiveError
  {
    guard let handle, let text = archive_error_string(handle) else {
      return ArchiveError(kind, path, what)
    }
    var error = ArchiveError(kind, path, "\(what): \(String(cString: text))")
    error.errno = max(0, archive_errno(handle))
    return error
  }
}
