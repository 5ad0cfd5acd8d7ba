import CSystem
import Glibc

/// Files that are there as a whole or not at all, whatever dies in between: written under a
/// temporary name in the same directory, synchronized, renamed, and the directory synchronized.
package enum DurableFile {
  /// Writes `bytes` to `path`, replacing what stands there.
  package static func write(_ bytes: [UInt8], to path: String, mode: UInt32 = 0o600)
    throws(SystemError)
  {
    let temporary = temporaryName(for: path)
    do throws(SystemError) {
      let file = try begin(temporary, mode)
      try file.write(bytes)
      try finish(file, temporary, path)
    } catch {
      unlink(temporary)
      throw error
    }
  }

  /// Writes what `content` hands on, a part at a time, to `path`, replacing what stands there.
  ///
  /// - Throws: `SystemError`, and what `content` throws; then what stood at `path` stays.
  package static func write(
    to path: String, mode: UInt32 = 0o600,
    _ content: (_ write: ([UInt8]) throws(SystemError) -> Void) throws -> Void
  ) throws {
    let temporary = temporaryName(for: path)
    do {
      let file = try begin(temporary, mode)
      try content { bytes throws(SystemError) in try file.write(bytes) }
      try finish(file, temporary, path)
    } catch {
      unlink(temporary)
      throw error
    }
  }

  private static func begin(
    _ temporary: String, _ mode: UInt32
  ) throws(SystemError) -> FileDescriptorHandle {
    try FileDescriptorHandle.open(
      temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
  }

  private static func finish(
    _ file: borrowing FileDescriptorHandle, _ temporary: String, _ path: String
  ) throws(SystemError) {
    try file.synchronize()
    try Files.rename(temporary, to: path)
    try synchronize(directory: Files.parent(of: path) ?? ".")
  }

  /// How the names begin that no reader takes for anything.
  package static let temporaryPrefix = ".tmp-"

  /// Says whether a file is one that is not finished, or that a process which died has left.
  package static func isTemporary(_ path: String) -> Bool {
    Files.name(of: path).hasPrefix(temporaryPrefix)
  }

  /// Removes what processes that died have left in a directory.
  package static func removeTemporaries(in directory: String) throws(SystemError) {
    for name in try Files.list(directory) where isTemporary(name) {
      try Files.remove(directory + "/" + name)
    }
  }

  /// A name beside `path` that no reader takes for anything.
  package static func temporaryName(for path: String) -> String {
    let directory = Files.parent(of: path) ?? "."
    var random: UInt64 = 0
    var generator = SystemRandomNumberGenerator()
    random = generator.next()
    return "\(directory)/\(temporaryPrefix)\(getpid())-\(String(random, radix: 36))"
  }

  /// Gives a finished directory its final name, which must be free, after everything in it has
  /// reached the disk.
  package static func publishDirectory(temporary: String, final: String) throws(SystemError) {
    try synchronize(tree: temporary)
    let code = attache_rename_no_replace(temporary, final)
    if code != 0 {
      throw SystemError(operation: "publish \(temporary) as", path: final, errno: code)
    }
    try synchronizeParents(of: temporary, final)
  }

  /// Makes a symbolic link, or points the one that is there to something else, by one rename.
  package static func link(_ path: String, to target: String) throws(SystemError) {
    let temporary = temporaryName(for: path)
    if symlink(target, temporary) != 0 { throw .last("make the link", temporary) }
    do throws(SystemError) {
      try Files.rename(temporary, to: path)
      try synchronizeParents(of: temporary, path)
    } catch {
      unlink(temporary)
      throw error
    }
  }

  /// Removes a directory: it is there as a whole, or not at all; what is not there is gone already.
  package static func takeAway(_ directory: String) throws(SystemError) {
    guard Files.exists(directory) else { return }
    let temporary = temporaryName(for: directory)
    try rename(directory, to: temporary)
    try Files.remove(temporary)
  }

  /// Renames a finished file (or directory) durably; a file at `to` is replaced.
  package static func rename(_ from: String, to: String) throws(SystemError) {
    if try Files.status(from).kind == .regular { try synchronize(file: from) }
    try Files.rename(from, to: to)
    try synchronizeParents(of: from, to)
  }

  /// Renames durably and refuses to replace anything.
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

  /// Waits until the names in a directory are on the disk.
  package static func synchronize(directory: String) throws(SystemError) {
    try FileDescriptorHandle.open(directory, O_RDONLY | O_DIRECTORY).synchronize()
  }

  /// Asks the kernel to begin writing a file's content to the disk, so that `synchronize(file:)` finds
  /// less to wait for.
  ///
  /// Only a wish: a failure, of this call or of the writing, is told by the `synchronize` that follows.
  package static func beginWriteback(of file: String) {
    guard let opened = try? FileDescriptorHandle.open(file, O_RDONLY | O_NOFOLLOW) else { return }
    opened.beginWriteback()
  }

  /// Waits until a file's content is on the disk.
  package static func synchronize(file: String) throws(SystemError) {
    try FileDescriptorHandle.open(file, O_RDONLY | O_NOFOLLOW).synchronize()
  }

  /// Waits until every file and directory under `path`, and itself, is on the disk.
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
