import Glibc

/// A system call that failed: which, on which path, and the errno it left.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The verb, as in "cannot open".
  package let operation: String
  /// The file it was about; may be empty.
  package let path: String
  /// The error number.
  package let errno: Int32

  /// Makes an error from its parts.
  package init(operation: String, path: String, errno: Int32) {
    self.operation = operation
    self.path = path
    self.errno = errno
  }

  /// One sentence: what could not be done, to what, and the system's reason.
  package var description: String {
    let place = path.isEmpty ? "" : " \(path)"
    return "cannot \(operation)\(place): \(reason)"
  }

  /// The system's words for the error number.
  package var reason: String {
    if errno == Self.notAFile { return "it is \(FileStatus.Kind.other.words), not a regular file" }
    var buffer = [CChar](repeating: 0, count: 256)
    _ = strerror_r(errno, &buffer, buffer.count)
    let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.isEmpty ? "error \(errno)" : text
  }

  /// The error number of a name that stands for no file at all: no system call leaves it.
  static let notAFile: Int32 = -1

  /// Whether the machine itself is in trouble (no room, no descriptors, no memory, a failing disk),
  /// whatever file it was met at.
  package var isOfTheMachine: Bool {
    [ENOSPC, EDQUOT, EROFS, EMFILE, ENFILE, ENOMEM, EIO].contains(errno)
  }

  /// Whether the disk, or the owner's share of it, is full.
  package var isFull: Bool { [ENOSPC, EDQUOT].contains(errno) }

  /// Whether the user may not do it.
  package var isDenied: Bool { [EACCES, EPERM].contains(errno) }

  /// Whether nothing stands at the path.
  package var isMissing: Bool { [ENOENT, ENOTDIR].contains(errno) }

  /// Whether reading `path` itself failed, whatever was to be done with it.
  package func isOf(_ path: String) -> Bool {
    self.path == path && [EIO, EROFS].contains(errno)
  }

  /// The error of making something that is there already.
  package static func alreadyThere(_ path: String) -> SystemError {
    SystemError(operation: "make", path: path, errno: EEXIST)
  }

  /// Whether it took longer than it may.
  package var isTimeout: Bool { errno == ETIMEDOUT }

  /// Whether there was more than may be.
  package var isTooLarge: Bool { errno == EFBIG }

  /// Whether whoever read the other end of a pipe has gone.
  package var isReaderGone: Bool { errno == EPIPE }

  /// Whether the stream was closed from the beginning.
  package var isClosed: Bool { errno == EBADF }

  /// The error of a call that has just failed.
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
