import CSystem
import Dispatch
import Glibc

/// What the process was started with, and its three streams.
package enum ProcessEnvironment {
  /// Every environment variable.
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

  /// One environment variable.
  package static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  /// Forgets a variable, so that no child inherits it.
  ///
  /// Call it while the process has one thread.
  package static func unset(_ name: String) { unsetenv(name) }

  /// Sets a variable.
  ///
  /// Call it while the process has one thread.
  package static func set(_ name: String, _ value: String) { setenv(name, value, 1) }

  /// The working directory.
  package static func currentDirectory() -> String {
    guard let path = getcwd(nil, 0) else { return "." }
    defer { free(path) }
    return String(cString: path)
  }

  /// The program that runs.
  package static func executablePath() -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    return readlink("/proc/self/exe", &buffer, Int(PATH_MAX)) > 0 ? text(buffer) : ""
  }

  /// The id of the process.
  package static func processID() -> Int32 { getpid() }

  /// The name of the user who runs the process; the number where the system knows no name.
  package static func userName() -> String { userName(of: geteuid()) }

  /// The name of a user; the number where the system knows no name.
  static func userName(of number: uid_t) -> String {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    let status = getpwuid_r(number, &entry, &buffer, buffer.count, &found)
    guard status == 0, let name = found?.pointee.pw_name else { return String(number) }
    return String(cString: name)
  }

  /// Whether the user is root.
  package static func isRoot() -> Bool { geteuid() == 0 }

  /// Ends the process with a status, by the one way out that there is.
  ///
  /// Threads that were told to end are joined, and the process ends there and then: no handler of
  /// `exit` takes libraries down under threads that may be in the midst of them. Nothing waits in the
  /// C library to be written: all output goes through `write`.
  package static func leave(_ status: Int32) -> Never {
    OwnThread.joinLeaving(withinMilliseconds: 1000)
    _exit(status)
  }

  /// Runs a program's asynchronous work while the calling thread waits, and leaves with its status.
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

  /// Ends the process because the system refuses what nothing can be done without.
  static func leave(because error: SystemError) -> Never {
    write(2, "attache: \(error)\n")
    leave(1)
  }

  /// The effective user's number, as `FileStatus.owner` has it.
  package static func userID() -> UInt32 { geteuid() }

  /// The machine's name.
  package static func hostName() -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    return gethostname(&buffer, 255) == 0 ? text(buffer) : ""
  }

  private static func text(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Whether the descriptor is a terminal.
  package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// How many characters a line of the terminal has; nil where the descriptor is none, or does not say.
  package static func columns(_ descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Opens something harmless in the place of each of the three streams that was closed: the next
  /// file to be opened, the ledger at worst, would take its number, and messages would go into it.
  ///
  /// Writing to it fails, as it does on a closed one.
  package static func fillStandardStreams() {
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
      _ = attache_open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY, 0)
    }
  }

  /// Writes all of `bytes` to a descriptor; answers why it could not, nil if it could.
  @discardableResult
  package static func write(_ descriptor: Int32, _ bytes: [UInt8]) -> SystemError? {
    bytes.withUnsafeBytes { raw in
      var written = 0
      while written < raw.count {
        let rest = UnsafeRawBufferPointer(rebasing: raw[written...])
        let count = retryingInterrupts { Glibc.write(descriptor, rest.baseAddress, rest.count) }
        if count < 0 {
          // A terminal or pipe that somebody made non-blocking: wait for it.
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

  /// Writes text to a descriptor; answers why it could not, nil if it could.
  @discardableResult
  package static func write(_ descriptor: Int32, _ text: String) -> SystemError? {
    write(descriptor, Array(text.utf8))
  }
}
