import CSystem
import Glibc

/// An open file that is closed with its handle.
package struct FileDescriptorHandle: ~Copyable, Sendable {
  /// The descriptor, valid as long as the handle.
  package let descriptor: Int32
  /// The path under which the file was opened, for error messages.
  package let path: String

  init(descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit { close(descriptor) }

  /// Opens `path`; `O_CLOEXEC` is always added.
  static func open(_ path: String, _ flags: Int32, mode: UInt32 = 0o600) throws(SystemError)
    -> FileDescriptorHandle
  {
    while true {
      let descriptor = attache_open(path, flags | O_CLOEXEC, mode)
      if descriptor >= 0 { return FileDescriptorHandle(descriptor: descriptor, path: path) }
      let code = errno
      if code != EINTR { throw SystemError(operation: "open", path: path, errno: code) }
    }
  }

  /// Opens or creates a file for appending.
  ///
  /// A pipe without a reader is an error; the call does not wait for one.
  package static func appending(
    _ path: String, mode: UInt32 = 0o600
  ) throws(SystemError) -> FileDescriptorHandle {
    try open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, mode: mode)
  }

  /// Fills `buffer` from the file and returns the number of bytes read; 0 is the end.
  package borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError)
    -> Int
  {
    var filled = 0
    while filled < buffer.count {
      let place = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      let fd = descriptor
      let count = retryingInterrupts { Glibc.read(fd, place.baseAddress, place.count) }
      if count < 0 { throw .last("read", path) }
      if count == 0 { break }
      filled += count
    }
    return filled
  }

  package borrowing func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
      let fd = descriptor
      let count = retryingInterrupts { Glibc.write(fd, rest.baseAddress, rest.count) }
      if count < 0 { throw .last("write", path) }
      written += count
    }
  }

  package borrowing func write(_ bytes: [UInt8]) throws(SystemError) {
    var failure: SystemError?
    bytes.withUnsafeBytes { raw in
      do throws(SystemError) { try write(raw) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Reads from an offset of the file and returns the number of bytes read.
  package borrowing func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(SystemError) -> Int {
    var filled = 0
    while filled < buffer.count {
      let place = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      let (fd, start) = (descriptor, offset + filled)
      let count = retryingInterrupts { pread(fd, place.baseAddress, place.count, start) }
      if count < 0 { throw .last("read", path) }
      if count == 0 { break }
      filled += count
    }
    return filled
  }

  /// Writes all of `bytes` at an offset of the file.
  package borrowing func write(
    _ bytes: UnsafeRawBufferPointer, at offset: Int
  ) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
      let (fd, start) = (descriptor, offset + written)
      let count = retryingInterrupts { pwrite(fd, rest.baseAddress, rest.count, start) }
      if count < 0 { throw .last("write", path) }
      written += count
    }
  }

  /// The status of the open file, even if its name refers to another file by now.
  package borrowing func status() throws(SystemError) -> FileStatus {
    var status = stat()
    if fstat(descriptor, &status) != 0 { throw .last("read the status of", path) }
    return FileStatus(status)
  }

  /// Lets an empty file share all blocks of this one; returns false if the file system cannot.
  package borrowing func share(with other: borrowing FileDescriptorHandle) -> Bool {
    attache_clone(descriptor, other.descriptor) == 0
  }

  /// Opens an existing file for reading and writing.
  package static func updating(_ path: String) throws(SystemError) -> FileDescriptorHandle {
    try open(path, O_RDWR | O_NOFOLLOW)
  }

  /// Opens an unnamed temporary file in the directory of `path`; it disappears with its handle.
  package static func unnamed(beside path: String) throws(SystemError) -> FileDescriptorHandle {
    let name = DurableFile.temporaryName(for: path)
    let file = try open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
    unlink(name)
    return file
  }

  /// Asks the kernel to start writing the file to disk.
  package borrowing func beginWriteback() { attache_begin_writeback(descriptor) }

  /// Waits until the file is on disk.
  ///
  /// A failure is final: the kernel discards data that it could not write, so a second call that
  /// succeeds would mean nothing.
  package borrowing func synchronize() throws(SystemError) {
    let fd = descriptor
    if retryingInterrupts({ Int(fsync(fd)) }) != 0 { throw .last("synchronize", path) }
  }
}
