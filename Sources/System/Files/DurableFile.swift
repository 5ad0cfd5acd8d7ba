import CSystem
import Glibc

/// Writes files so that a crash never leaves a partial one.
///
/// A file is written under a temporary name in the same directory, synced, and renamed; then the
/// directory is synced.
package enum DurableFile {
  /// Writes `bytes` to `path`, replacing an existing file.
  package static func write(_ bytes: [UInt8], to path: String, mode: UInt32 = 0o600)
    throws(SystemError)
  {
    let temporary = temporaryName(for: path)
    do throws(SystemError) {
      let file = try begin(temporary, for: path, mode)
      try file.write(bytes)
      try finish(file, temporary, path)
    } catch {
      unlink(temporary)
      throw error
    }
  }

  /// Writes the parts that `content` provides to `path`, replacing an existing file.
  ///
  /// - Throws: `SystemError`, or the error of `content`; then the file at `path` stays as it was.
  package static func write(
    to path: String, mode: UInt32 = 0o600,
    _ content: (_ write: ([UInt8]) throws(SystemError) -> Void) throws -> Void
  ) throws {
    let temporary = temporaryName(for: path)
    do {
      let file = try begin(temporary, for: path, mode)
      try content { bytes throws(SystemError) in try file.write(bytes) }
      try finish(file, temporary, path)
    } catch {
      unlink(temporary)
      throw error
    }
  }

  /// Creates the temporary file; an error names the file that was to be written.
  private static func begin(
    _ temporary: String, for path: String, _ mode: UInt32
  ) throws(SystemError) -> FileDescriptorHandle {
    do throws(SystemError) {
      return try FileDescriptorHandle.open(
        temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
    } catch {
      throw SystemError(operation: "create", path: path, errno: error.errno)
    }
  }

  private static func finish(
    _ file: borrowing FileDescriptorHandle, _ temporary: String, _ path: String
  ) throws(SystemError) {
    try file.synchronize()
    try Files.rename(temporary, to: path)
    try synchronize(directory: Files.parent(of: path) ?? ".")
  }

  /// The prefix of temporary names, which all readers ignore.
  package static let temporaryPrefix = ".tmp-"

  /// Whether a file is unfinished, or was left by an interrupted process.
  package static func isTemporary(_ path: String) -> Bool {
    Files.name(of: path).hasPrefix(temporaryPrefix)
  }

  /// Removes the temporary files that interrupted processes left in a directory.
  package static func removeTemporaries(in directory: String) throws(SystemError) {
    for name in try Files.list(directory) where isTemporary(name) {
      try Files.remove(directory + "/" + name)
    }
  }

  /// A temporary name in the directory of `path`, which all readers ignore.
  package static func temporaryName(for path: String) -> String {
    let directory = Files.parent(of: path) ?? "."
    var random: UInt64 = 0
    var generator = SystemRandomNumberGenerator()
    random = generator.next()
    return "\(directory)/\(temporaryPrefix)\(getpid())-\(String(random, radix: 36))"
  }

  /// Renames a finished directory to its final name, which must be free, after all its content is
  /// on disk.
  package static func publishDirectory(temporary: String, final: String) throws(SystemError) {
    try synchronize(tree: temporary)
    let code = attache_rename_no_replace(temporary, final)
    if code != 0 {
      throw SystemError(operation: "publish \(temporary) as", path: final, errno: code)
    }
    try synchronizeParents(of: temporary, final)
  }

  /// Creates a symbolic link, or replaces an existing one with a single rename.
  package static func link(_ path: String, to target: String) throws(SystemError) {
    let temporary = temporaryName(for: path)
    if symlink(target, temporary) != 0 { throw .last("create the link", temporary) }
    do throws(SystemError) {
      try Files.rename(temporary, to: path)
      try synchronizeParents(of: temporary, path)
    } catch {
      unlink(temporary)
      throw error
    }
  }

  /// Removes a directory atomically.
  ///
  /// A missing directory is not an error.
  package static func takeAway(_ directory: String) throws(SystemError) {
    guard Files.exists(directory) else { return }
    let temporary = temporaryName(for: directory)
    try rename(directory, to: temporary)
    try Files.remove(temporary)
  }

  /// Renames a finished file or directory durably, replacing a file at `to`.
  package static func rename(_ from: String, to: String) throws(SystemError) {
    if try Files.status(from).kind == .regular { try synchronize(file: from) }
    try Files.rename(from, to: to)
    try synchronizeParents(of: from, to)
  }

  /// Renames durably; throws if the new name exists.
  package static func move(_ from: String, toNew to: String) throws(SystemError) {
    if try Files.status(from).kind == .regular { try synchronize(file: from) }
    let code = attache_rename_no_replace(from, to)
    if code != 0 {
      throw SystemError(operation: "move \(from) to", path: to, errno: code)
    }
    try synchronizeParents(of: from, to)
  }

  private static func synchronizeParents(of from: String, _ to: String) throws(SystemError) {
    let source = Files.parent(of: from) ?? "."
    let destination = Files.parent(of: to) ?? "."
    try synchronize(directory: destination)
    if source != destination { try synchronize(directory: source) }
  }

  /// Waits until the names in a directory are on disk.
  package static func synchronize(directory: String) throws(SystemError) {
    try FileDescriptorHandle.open(directory, O_RDONLY | O_DIRECTORY).synchronize()
  }

  /// Asks the kernel to start writing a file to disk, so that a later `synchronize(file:)` waits
  /// less.
  ///
  /// Failures are not reported here; the later `synchronize` reports them.
  package static func beginWriteback(of file: String) {
    guard let opened = try? FileDescriptorHandle.open(file, O_RDONLY | O_NOFOLLOW) else { return }
    opened.beginWriteback()
  }

  /// Waits until the content of a file is on disk.
  package static func synchronize(file: String) throws(SystemError) {
    try FileDescriptorHandle.open(file, O_RDONLY | O_NOFOLLOW).synchronize()
  }

  /// Waits until `path` and every file and directory below it are on disk.
  package static func synchronize(tree path: String) throws(SystemError) {
    for name in try Files.list(path) {
      let child = path + "/" + name
      switch try Files.status(child).kind {
      case .regular: try synchronize(file: child)
      case .directory: try synchronize(tree: child)
      case .symbolicLink, .other: break
      }
    }
    try synchronize(directory: path)
  }
}
