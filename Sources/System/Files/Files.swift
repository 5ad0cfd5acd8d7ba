import CSystem
import Glibc

/// File system operations whose errors name the path.
package enum Files {
  /// The content of the regular file at `path`; throws if it is longer than `limit` bytes.
  package static func read(_ path: String, limit: Int = .max) throws(SystemError) -> [UInt8] {
    let file = try openInput(path)
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = try filling(&chunk, from: file)
      if content.count > limit - count {
        throw SystemError(operation: "read all of", path: path, errno: EFBIG)
      }
      content.append(contentsOf: chunk[..<count])
      if count < chunk.count { return content }
    }
  }

  private static func filling(
    _ chunk: inout [UInt8], from file: borrowing FileDescriptorHandle
  ) throws(SystemError) -> Int {
    var failure: SystemError?
    var count = 0
    chunk.withUnsafeMutableBytes { raw in
      do throws(SystemError) { count = try file.read(into: raw) } catch { failure = error }
    }
    if let failure { throw failure }
    return count
  }

  /// The status of `path`.
  ///
  /// A symbolic link is not followed.
  package static func status(_ path: String) throws(SystemError) -> FileStatus {
    var status = stat()
    if lstat(path, &status) != 0 { throw .last("read the status of", path) }
    return FileStatus(status)
  }

  /// The path component that the user may not read and write (`path` or a directory above it) and
  /// its owner; nil if access is allowed or nothing exists there.
  package static func denied(_ path: String) -> (place: String, owner: String)? {
    guard faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) != 0, errno == EACCES || errno == EPERM
    else { return nil }
    var status = stat()
    var place = path
    while fstatat(AT_FDCWD, place, &status, 0) != 0 {
      guard let parent = parent(of: place), parent != place else { return nil }
      place = parent
    }
    return (place, ProcessEnvironment.userName(of: status.st_uid))
  }

  /// The name of the owner of `path`; nil if nothing exists there.
  package static func owner(of path: String) -> String? {
    var status = stat()
    guard fstatat(AT_FDCWD, path, &status, 0) == 0 else { return nil }
    return ProcessEnvironment.userName(of: status.st_uid)
  }

  /// Whether `path` exists; a dangling link counts.
  package static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Whether `path` is a directory, or a link to one.
  package static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return fstatat(AT_FDCWD, path, &status, 0) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  package static func isSymbolicLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// The target of a symbolic link, as written.
  package static func target(ofLink path: String) throws(SystemError) -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &buffer, buffer.count)
    if count < 0 { throw .last("read the link", path) }
    return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  package static func size(of path: String) throws(SystemError) -> Int64 {
    try status(path).size
  }

  /// The last change of the content, in nanoseconds since 1970.
  package static func modificationTime(of path: String) throws(SystemError) -> Int64 {
    try status(path).modifiedNanoseconds
  }

  /// Sets the time of the last change, in nanoseconds since 1970.
  package static func setModificationTime(of path: String, nanoseconds: Int64) throws(SystemError) {
    let time = timespec(
      tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    let times = [time, time]
    if utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) != 0 { throw .last("date", path) }
  }

  /// The names in a directory, sorted by their bytes, without `.` and `..`.
  ///
  /// A name that is not UTF-8 is repaired for display, so nothing can be opened by it: see
  /// `listing`.
  package static func list(_ directory: String) throws(SystemError) -> [String] {
    try rawNames(in: directory).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The names in a directory, sorted by their bytes: the valid ones, and those that are not UTF-8,
  /// repaired for display.
  package static func listing(
    _ directory: String
  ) throws(SystemError) -> (names: [String], unreadable: [String]) {
    var (names, unreadable): ([String], [String]) = ([], [])
    for bytes in try rawNames(in: directory) {
      if let name = String(validating: bytes, as: UTF8.self) {
        names.append(name)
      } else {
        unreadable.append(String(decoding: bytes, as: UTF8.self))
      }
    }
    return (names, unreadable)
  }

  private static func rawNames(in directory: String) throws(SystemError) -> [[UInt8]] {
    guard let stream = opendir(directory) else { throw .last("list", directory) }
    defer { closedir(stream) }
    var names: [[UInt8]] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw .last("list", directory) }
        break
      }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name != [0x2E] && name != [0x2E, 0x2E] { names.append(name) }
    }
    return names.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Creates a directory durably.
  ///
  /// An existing one is accepted if `intermediate` is set, and is an error otherwise.
  ///
  /// Its name is on disk when this returns; otherwise everything published in it could be lost with
  /// it.
  package static func makeDirectory(
    _ path: String, mode: UInt32 = 0o700, intermediate: Bool = true
  ) throws(SystemError) {
    if mkdir(path, mode) == 0 { return try synchronizeName(of: path) }
    let code = errno
    if intermediate, code == ENOENT, let parent = parent(of: path), parent != path {
      try makeDirectory(parent, mode: mode)
      if mkdir(path, mode) == 0 { return try synchronizeName(of: path) }
      if errno == EEXIST { return }
      throw .last("create directory", path)
    }
    if intermediate, code == EEXIST, isDirectory(path) { return }
    throw SystemError(operation: "create directory", path: path, errno: code)
  }

  private static func synchronizeName(of path: String) throws(SystemError) {
    do throws(SystemError) {
      try DurableFile.synchronize(directory: parent(of: path) ?? ".")
    } catch {
      // A directory that may be written but not read cannot be synced.
      if error.errno != EACCES { throw error }
    }
  }

  /// Removes a file or a whole tree; links are removed, never followed.
  ///
  /// A missing path is not an error.
  package static func remove(_ path: String) throws(SystemError) {
    if unlink(path) == 0 || errno == ENOENT { return }
    let code = errno
    guard code == EISDIR || code == EPERM, let found = try? status(path), found.kind == .directory
    else { throw SystemError(operation: "remove", path: path, errno: code) }
    for name in try list(path) { try remove(path + "/" + name) }
    if rmdir(path) != 0, errno != ENOENT { throw .last("remove", path) }
  }

  /// Copies a regular file to a new file, sharing its blocks if the file system can.
  ///
  /// An existing `destination` is an error. If the source is not needed soon, its pages can be
  /// evicted from memory during the copy, so that the copy takes their place. On a virtual machine,
  /// memory that was never used before comes from the host, which takes several times as long as
  /// the copy.
  package static func copy(
    _ source: String, to destination: String, mode: UInt32 = 0o600, forgettingSource: Bool = false
  ) throws(SystemError) {
    let from = try openRegular(source)
    let to = try FileDescriptorHandle.open(
      destination, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
    let code = attache_copy(from.descriptor, to.descriptor, forgettingSource ? 1 : 0)
    if code != 0 {
      unlink(destination)
      throw SystemError(operation: "copy \(source) to", path: destination, errno: code)
    }
  }

  /// Gives a read-only regular file a second name, or copies it if the file system has no hard
  /// links.
  ///
  /// An existing `destination` is an error.
  package static func linkOrCopy(_ source: String, to destination: String) throws(SystemError) {
    guard try status(source).kind == .regular, Glibc.link(source, destination) == 0 else {
      return try copy(source, to: destination)
    }
  }

  /// Gives a file a second name atomically; throws if the new name exists.
  package static func link(_ source: String, to destination: String) throws(SystemError) {
    if Glibc.link(source, destination) != 0 { throw .last("link \(source) to", destination) }
  }

  /// Renames a file, replacing an existing `destination`.
  ///
  /// Not durable: see `DurableFile.rename`.
  package static func rename(_ source: String, to destination: String) throws(SystemError) {
    if Glibc.rename(source, destination) != 0 {
      throw .last("rename \(source) to", destination)
    }
  }

  /// Creates a private file for writing; throws if `path` exists, even as a link.
  package static func createNew(_ path: String, mode: UInt32 = 0o600) throws(SystemError)
    -> FileDescriptorHandle
  {
    try FileDescriptorHandle.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
  }

  /// Appends bytes to a file with a single write; creates the file if needed.
  package static func append(_ bytes: [UInt8], to path: String, mode: UInt32 = 0o600)
    throws(SystemError)
  {
    let file = try FileDescriptorHandle.open(path, O_WRONLY | O_CREAT | O_APPEND, mode: mode)
    try file.write(bytes)
  }

  /// Appends a line to a file; creates the file if needed.
  package static func appendLine(_ line: String, to path: String, mode: UInt32 = 0o600)
    throws(SystemError)
  {
    try append(Array(line.utf8) + [0x0A], to: path, mode: mode)
  }

  package static func setMode(of path: String, _ mode: UInt32) throws(SystemError) {
    if chmod(path, mode) != 0 { throw .last("set the permissions of", path) }
  }

  /// The absolute path of `path`, without links, `.` or `..`.
  ///
  /// If nothing exists there yet, the path of its directory followed by the last component.
  package static func resolved(_ path: String) throws(SystemError) -> String {
    if let whole = real(path) { return whole }
    let name = name(of: path)
    guard let directory = parent(of: path).flatMap(real), !name.isEmpty else {
      throw .last("resolve", path)
    }
    return directory == "/" ? "/" + name : directory + "/" + name
  }

  /// The resolved path; the path unchanged if it leads nowhere.
  package static func resolvedIfThere(_ path: String) -> String { (try? resolved(path)) ?? path }

  /// The absolute path of something that need not exist yet, nor its directories.
  package static func resolvedAsFar(_ path: String) -> String {
    if let found = try? resolved(path) { return found }
    let plain = withoutParents(path)
    guard let parent = parent(of: plain), parent != plain else { return plain }
    let directory = resolvedAsFar(parent)
    return (directory == "/" ? "" : directory) + "/" + name(of: plain)
  }

  /// Whether a path is a directory or below it; both must be `resolved`.
  package static func isWithin(_ path: String, _ directory: String) -> Bool {
    path == directory || path.hasPrefix(directory == "/" ? "/" : directory + "/")
  }

  /// Whether one of two paths is the other or within it; both must be `resolved`.
  package static func areNested(_ one: String, _ other: String) -> Bool {
    isWithin(one, other) || isWithin(other, one)
  }

  private static func real(_ path: String) -> String? {
    guard let text = realpath(path, nil) else { return nil }
    defer { free(text) }
    return String(cString: text)
  }

  /// A path whose directories need not exist, without `..`: `a/b/../c` is `a/c`.
  package static func withoutParents(_ path: String) -> String {
    var parts: [Substring] = []
    for part in path.split(separator: "/") where part != "." {
      if part == "..", let last = parts.last, last != ".." {
        parts.removeLast()
      } else if part != ".." || !path.hasPrefix("/") {
        parts.append(part)
      }
    }
    return (path.hasPrefix("/") ? "/" : parts.isEmpty ? "." : "") + parts.joined(separator: "/")
  }

  /// The directory of `path`: `.` for a bare name, nil for `.`.
  package static func parent(of path: String) -> String? {
    var trimmed = Substring(path)
    while trimmed.count > 1, trimmed.last == "/" { trimmed.removeLast() }
    guard let slash = trimmed.lastIndex(of: "/") else { return trimmed.isEmpty ? nil : "." }
    return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
  }

  /// The last component of a path.
  package static func name(of path: String) -> String {
    var trimmed = Substring(path)
    while trimmed.count > 1, trimmed.last == "/" { trimmed.removeLast() }
    guard let slash = trimmed.lastIndex(of: "/"), trimmed.count > 1 else { return String(trimmed) }
    return String(trimmed[trimmed.index(after: slash)...])
  }
}
