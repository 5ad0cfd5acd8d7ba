import Glibc

extension Files {
  /// Rejects a pipe, a socket or a device, which could block a reader forever.
  ///
  /// Links are followed.
  ///
  /// A missing file is not an error here: the call that opens it reports it. Every file that a user
  /// names is checked here: by `openInput`, or before its path is passed to a library.
  package static func checkInput(_ path: String) throws(SystemError) {
    var found = stat()
    guard fstatat(AT_FDCWD, path, &found, 0) == 0 else { return }
    try requireReadable(found, path)
  }

  /// Opens a regular file for reading without blocking; links are followed.
  package static func openInput(_ path: String) throws(SystemError) -> FileDescriptorHandle {
    try checkInput(path)
    return try opened(path, 0)
  }

  /// Opens a regular file for reading.
  ///
  /// A link, device or pipe is rejected without an open that could have an effect.
  package static func openRegular(_ path: String) throws(SystemError) -> FileDescriptorHandle {
    let file = try opened(path, O_NOFOLLOW)
    if try file.status().kind != .regular {
      throw SystemError(operation: "open as a regular file", path: path, errno: EINVAL)
    }
    return file
  }

  /// The name may refer to another file by now.
  ///
  /// The open file is checked.
  private static func opened(
    _ path: String, _ flags: Int32
  ) throws(SystemError) -> FileDescriptorHandle {
    let file = try FileDescriptorHandle.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | flags)
    var found = stat()
    if fstat(file.descriptor, &found) != 0 { throw .last("read the status of", path) }
    try requireReadable(found, path)
    return file
  }

  private static func requireReadable(_ found: stat, _ path: String) throws(SystemError) {
    guard FileStatus(found).kind == .other else { return }
    throw SystemError(operation: "read", path: path, errno: SystemError.notAFile)
  }

  /// The bytes of a regular file with the status of the same file.
  ///
  /// No link is followed, and the file cannot be replaced between the check and the read.
  package static func readRegular(
    _ path: String, limit: Int
  ) throws(SystemError) -> (status: FileStatus, bytes: [UInt8]) {
    let file = try openRegular(path)
    let status = try file.status()
    guard status.size <= limit else {
      throw SystemError(operation: "read", path: path, errno: EFBIG)
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.size))
    var count = 0
    while count < bytes.count {
      var failure: SystemError?
      var step = 0
      bytes[count...].withUnsafeMutableBytes { raw in
        do throws(SystemError) { step = try file.read(into: raw) } catch { failure = error }
      }
      if let failure { throw failure }
      if step == 0 { break }
      count += step
    }
    return (status, Array(bytes.prefix(count)))
  }
}
