import Glibc

/// A failed system call: the operation, the path and the errno.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The verb, as in "cannot open".
  package let operation: String
  /// The path of the file; may be empty.
  package let path: String
  package let errno: Int32

  package init(operation: String, path: String, errno: Int32) {
    self.operation = operation
    self.path = path
    self.errno = errno
  }

  /// One sentence: the operation, the path and the system's reason.
  package var description: String {
    let place = path.isEmpty ? "" : " \(path)"
    return "cannot \(operation)\(place): \(reason)"
  }

  /// The system's message for the error number.
  package var reason: String {
    if errno == Self.notAFile { return "it is \(FileStatus.Kind.other.words), not a regular file" }
    var buffer = [CChar](repeating: 0, count: 256)
    _ = strerror_r(errno, &buffer, buffer.count)
    let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.isEmpty ? "error \(errno)" : text
  }

  /// The error number for a name that is not a file.
  ///
  /// No system call returns it.
  static let notAFile: Int32 = -1

  /// Whether the cause is the machine (no space, no descriptors, no memory, a failing disk),
  /// regardless of the file.
  package var isOfTheMachine: Bool {
    [ENOSPC, EDQUOT, EROFS, EMFILE, ENFILE, ENOMEM, EIO].contains(errno)
  }

  /// Whether the disk or the user's quota is full.
  package var isFull: Bool { [ENOSPC, EDQUOT].contains(errno) }
  /// Whether the file system is mounted read-only.
  package var isReadOnly: Bool { errno == EROFS }

  /// Whether permission was denied.
  package var isDenied: Bool { [EACCES, EPERM].contains(errno) }

  /// Whether nothing exists at the path.
  package var isMissing: Bool { [ENOENT, ENOTDIR].contains(errno) }

  /// Whether reading `path` itself failed, rather than the operation on it.
  package func isOf(_ path: String) -> Bool {
    self.path == path && [EIO, EROFS].contains(errno)
  }

  /// The error for creating something that already exists.
  package static func alreadyThere(_ path: String) -> SystemError {
    SystemError(operation: "make", path: path, errno: EEXIST)
  }

  /// The error for a file that is shorter than it was.
  package static func tooShort(_ path: String) -> SystemError {
    SystemError(operation: "read all of", path: path, errno: EIO)
  }

  /// Whether something exists at the path of a new file.
  package var isAlreadyThere: Bool { errno == EEXIST }

  /// Whether a directory could not be created because a file is in its place, or above it.
  package var isFileInPlace: Bool {
    operation == "create directory" && [EEXIST, ENOTDIR].contains(errno)
  }

  /// Whether a file could not be created because its directory does not exist.
  package var isDirectoryMissing: Bool { operation == "create" && errno == ENOENT }

  /// Whether a time limit was exceeded.
  package var isTimeout: Bool { errno == ETIMEDOUT }

  /// Whether a size limit was exceeded.
  package var isTooLarge: Bool { errno == EFBIG }

  /// Whether the reader of a pipe has closed it.
  package var isReaderGone: Bool { errno == EPIPE }

  /// Whether the stream was closed from the start.
  package var isClosed: Bool { errno == EBADF }

  /// The error of the call that has just failed.
  static func last(_ operation: String, _ path: String) -> SystemError {
    SystemError(operation: operation, path: path, errno: Glibc.errno)
  }
}

/// Repeats a call that a signal interrupted.
@inline(__always)
func retryingInterrupts(_ call: () -> Int) -> Int {
  while true {
    let result = call()
    if result >= 0 || errno != EINTR { return result }
  }
}
