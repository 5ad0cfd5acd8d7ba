import CSystem
import Dispatch
import Glibc

/// The environment of the process, and its three standard streams.
package enum ProcessEnvironment {
  package static func variables() -> [String: String] {
    var found: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let pair = String(cString: text)
      if let equals = pair.firstIndex(of: "=") {
        found[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
      }
      entry += 1
    }
    return found
  }

  package static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  /// Removes a variable, so that no child process inherits it.
  ///
  /// Call it while the process has only one thread.
  package static func unset(_ name: String) { unsetenv(name) }

  /// Sets a variable.
  ///
  /// Call it while the process has only one thread.
  package static func set(_ name: String, _ value: String) { setenv(name, value, 1) }

  package static func currentDirectory() -> String {
    guard let path = getcwd(nil, 0) else { return "." }
    defer { free(path) }
    return String(cString: path)
  }

  /// The path of the running program.
  package static func executablePath() -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    return readlink("/proc/self/exe", &buffer, Int(PATH_MAX)) > 0 ? text(buffer) : ""
  }

  package static func processID() -> Int32 { getpid() }

  /// The name of the user who runs the process; the number if the system has no name for it.
  package static func userName() -> String { userName(of: geteuid()) }

  /// The name of a user; the number if the system has no name for it.
  static func userName(of number: uid_t) -> String {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    let status = getpwuid_r(number, &entry, &buffer, buffer.count, &found)
    guard status == 0, let name = found?.pointee.pw_name else { return String(number) }
    return String(cString: name)
  }

  package static func isRoot() -> Bool { geteuid() == 0 }

  /// Ends the process with a status.
  ///
  /// This is the only way out.
  ///
  /// Threads that were asked to end are joined; then the process ends at once. No handler of `exit`
  /// unloads libraries while threads may still use them. The C library has no buffered output, as
  /// all output is written with `write`.
  package static func leave(_ status: Int32) -> Never {
    OwnThread.joinLeaving(withinMilliseconds: 1000)
    _exit(status)
  }

  /// Runs asynchronous work while the calling thread waits, and ends the process with its status.
  package static func leave(after work: @escaping @Sendable () async -> Int32) -> Never {
    let status = Locked<Int32>(1)
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      let ended = await work()
      status.withLock { $0 = ended }
      done.signal()
    }
    done.wait()
    leave(status.withLock { $0 })
  }

  /// Ends the process because the system denies an indispensable resource.
  static func leave(because error: SystemError) -> Never {
    write(2, "attache: \(error)\n")
    leave(1)
  }

  /// The number of the effective user, as in `FileStatus.owner`.
  package static func userID() -> UInt32 { geteuid() }

  package static func hostName() -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    return gethostname(&buffer, 255) == 0 ? text(buffer) : ""
  }

  private static func text(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// The width of the terminal in characters; nil if the descriptor is not a terminal, or the width
  /// is unknown.
  package static func columns(_ descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Opens a harmless file in place of each standard stream that was closed.
  ///
  /// Otherwise the next opened file, in the worst case the ledger, would get its number, and
  /// messages would be written into it. Writing to the replacement fails, as it does on a closed
  /// stream.
  package static func fillStandardStreams() {
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
      _ = attache_open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY, 0)
    }
  }

  /// Writes all of `bytes` to a descriptor; returns the error, or nil on success.
  @discardableResult
  package static func write(_ descriptor: Int32, _ bytes: [UInt8]) -> SystemError? {
    bytes.withUnsafeBytes { raw in
      var written = 0
      while written < raw.count {
        let rest = UnsafeRawBufferPointer(rebasing: raw[written...])
        let count = retryingInterrupts { Glibc.write(descriptor, rest.baseAddress, rest.count) }
        if count < 0 {
          // A terminal or pipe that another program made non-blocking: wait for it.
          guard errno == EAGAIN else { return .last("write", streams[descriptor] ?? "") }
          var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          _ = poll(&waiting, 1, -1)
          continue
        }
        written += count
      }
      return nil
    }
  }

  private static let streams: [Int32: String] = [1: "the output", 2: "the messages"]

  /// Writes text to a descriptor; returns the error, or nil on success.
  @discardableResult
  package static func write(_ descriptor: Int32, _ text: String) -> SystemError? {
    write(descriptor, Array(text.utf8))
  }
}
