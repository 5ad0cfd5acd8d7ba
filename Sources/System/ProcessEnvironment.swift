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

  /// Whether the user is root.
  package static func isRoot() -> Bool { geteuid() == 0 }

  /// Ends the process with a status.
  package static func exit(_ status: Int32) -> Never { Glibc.exit(status) }
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

  /// How many columns the terminal has; nil where there is none.
  package static func terminalWidth(_ descriptor: Int32 = 2) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Writes all of `bytes` to a descriptor; answers whether the reader is still there.
  @discardableResult
  package static func write(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { raw in
      var written = 0
      while written < raw.count {
        let rest = UnsafeRawBufferPointer(rebasing: raw[written...])
        let count = retryingInterrupts { Glibc.write(descriptor, rest.baseAddress, rest.count) }
        if count < 0 {
          // A terminal or pipe that somebody made non-blocking: wait for it.
          guard errno == EAGAIN else { return false }
          var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          _ = poll(&waiting, 1, -1)
          continue
        }
        written += count
      }
      return true
    }
  }

  /// Writes text to a descriptor; answers whether the reader is still there.
  @discardableResult
  package static func write(_ descriptor: Int32, _ text: String) -> Bool {
    write(descriptor, Array(text.utf8))
  }
}
