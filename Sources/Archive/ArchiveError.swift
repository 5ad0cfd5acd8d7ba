import CArchive

/// Why an archive could not be written, or was refused.
package struct ArchiveError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of trouble it is.
  package enum Kind: Sendable, Hashable {
    /// A file could not be read or written.
    case file
    /// The bytes are damaged, cut short or no archive of ours.
    case damaged
    /// An entry is of a kind or a name that no bundle has.
    case refusedEntry
    /// There is more in it than it may hold.
    case tooLarge
  }

  /// What kind of trouble it is.
  package let kind: Kind
  /// The archive.
  package let path: String
  /// What is wrong, without the path.
  package let message: String
  /// The error number of the system's call that failed; 0 where none did.
  package var errno: Int32 = 0

  /// Makes an error of its parts.
  package init(_ kind: Kind, _ path: String, _ message: String) {
    self.kind = kind
    self.path = path
    self.message = message
  }

  /// One sentence: the archive and what is wrong.
  package var description: String { path.isEmpty ? message : "\(path): \(message)" }

  /// The error of a call on a libarchive handle that has just failed.
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
