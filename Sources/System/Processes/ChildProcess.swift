import CSystem
import Glibc

/// Runs other programs without a shell, with exactly the environment that the caller gives, and
/// with no descriptor above 2.
package enum ChildProcess {
  /// The result of a finished program.
  package struct Result: Sendable {
    /// The exit code, or 128 + the number of the signal that ended the program.
    package let status: Int32
    /// Standard output.
    package let output: [UInt8]
    /// Standard error.
    package let error: [UInt8]
  }

  /// Runs a program to completion.
  ///
  /// It blocks, so do not call it on the cooperative pool. If the program exceeds the deadline or
  /// writes more than `outputLimit` bytes to its output or error stream, it is killed and an error
  /// is thrown; with `dropsExcess`, only the excess is dropped. The deadline applies to the program,
  /// not to its streams: it is also killed if it closes them and continues. The same happens if
  /// `isCancelled` returns true. When the program has ended, processes that it left behind can write
  /// to the streams for one more second.
  ///
  /// Child processes of the program are killed with it if that is safe. A separate process group
  /// may not read the terminal, so if there is a terminal, the program gets a group only if it
  /// `asksNobody`.
  package static func run(
    _ path: String, _ arguments: [String], environment: [String: String] = [:],
    input: [UInt8] = [], deadlineSeconds: Int? = nil, outputLimit: Int = .max,
    dropsExcess: Bool = false, asksNobody: Bool = false, isCancelled: (() -> Bool)? = nil
  ) throws(SystemError) -> Result {
    let hasGroup = asksNobody || !hasTerminal
    var stdin = try Pipe()
    var stdout = try Pipe()
    var stderr = try Pipe()
    let child = try spawn(
      path, arguments, environment, (stdin.reading, stdout.writing, stderr.writing), hasGroup)
    stdin.closeReading()
    stdout.closeWriting()
    stderr.closeWriting()
    var exchange = Exchange(
      killed: hasGroup ? -child : child, child: child, input: input, limit: outputLimit,
      dropsExcess: dropsExcess,
      deadline: deadlineSeconds.map {
        Clock.monotonicNanoseconds() + UInt64($0) * 1_000_000_000
      }, isCancelled: isCancelled)
    exchange.run(&stdin, stdout.reading, stderr.reading)
    exchange.waitForEnd()
    let status = waitForExit(child)
    if exchange.isEnded {
      throw SystemError(operation: "wait any longer for", path: path, errno: ETIMEDOUT)
    }
    if exchange.isTooLong {
      throw SystemError(operation: "read all the output of", path: path, errno: EFBIG)
    }
    return Result(status: status, output: exchange.output, error: exchange.error)
  }

  /// Starts a program whose standard output can be read line by line.
  package static func start(
    _ path: String, _ arguments: [String], environment: [String: String] = [:],
    error: RunningProcess.ErrorStream = .inherited
  ) throws(SystemError) -> RunningProcess {
    let null = try FileDescriptorHandle.open("/dev/null", O_RDWR)
    var stdout = try Pipe()
    let child: pid_t
    switch error {
    case .inherited:
      child = try spawn(path, arguments, environment, (null.descriptor, stdout.writing, 2))
    case .discarded:
      child = try spawn(
        path, arguments, environment, (null.descriptor, stdout.writing, null.descriptor))
    case .file(let log):
      let file = try FileDescriptorHandle.open(log, O_WRONLY | O_CREAT | O_APPEND)
      child = try spawn(
        path, arguments, environment, (null.descriptor, stdout.writing, file.descriptor))
    }
    return RunningProcess(pid: child, output: stdout.takeReading())
  }

  /// Whether a user may be at a terminal from which this process was started.
  private static var hasTerminal: Bool {
    let terminal = attache_open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC, 0)
    if terminal >= 0 { close(terminal) }
    return terminal >= 0
  }

  private static func spawn(
    _ path: String, _ arguments: [String], _ environment: [String: String],
    _ streams: (Int32, Int32, Int32), _ hasGroup: Bool = false
  ) throws(SystemError) -> pid_t {
    var argv: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
    var envp: [UnsafeMutablePointer<CChar>?] =
      environment.sorted { $0.key < $1.key }.map { strdup("\($0.key)=\($0.value)") }
    argv.append(nil)
    envp.append(nil)
    defer { for text in argv + envp { free(text) } }
    var child: Int32 = 0
    let code = attache_spawn(
      path, argv, envp, streams.0, streams.1, streams.2, hasGroup ? 1 : 0, &child)
    if code != 0 { throw SystemError(operation: "start", path: path, errno: code) }
    return child
  }

  /// Waits for a child process and returns its exit code, or 128 + the number of its signal.
  static func waitForExit(_ child: pid_t) -> Int32 {
    var status: Int32 = 0
    if retryingInterrupts({ Int(waitpid(child, &status, 0)) }) < 0 { return 127 }
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
  }
}

/// The two ends of a pipe, each closed once.
struct Pipe: ~Copyable {
  private(set) var reading: Int32
  private(set) var writing: Int32

  init() throws(SystemError) {
    var ends: [Int32] = [-1, -1]
    if attache_pipe(&ends) != 0 { throw .last("open a pipe", "") }
    reading = ends[0]
    writing = ends[1]
  }

  deinit {
    if reading >= 0 { close(reading) }
    if writing >= 0 { close(writing) }
  }

  mutating func closeReading() {
    if reading >= 0 { close(reading) }
    reading = -1
  }

  mutating func closeWriting() {
    if writing >= 0 { close(writing) }
    writing = -1
  }

  /// Returns the reading end, which the caller must close; closes the writing end.
  mutating func takeReading() -> Int32 {
    closeWriting()
    defer { reading = -1 }
    return reading
  }
}

/// Feeds a child process and drains its output at the same time, so that neither side blocks
/// forever.
private struct Exchange {
  /// The process to kill: the child, or its whole group.
  let killed: pid_t
  let child: pid_t
  let input: [UInt8]
  let limit: Int
  let dropsExcess: Bool
  let deadline: UInt64?
  let isCancelled: (() -> Bool)?
  var sent = 0
  var output: [UInt8] = []
  var error: [UInt8] = []
  var isEnded = false
  var isTooLong = false
  /// When the streams are no longer read although another process holds them; nil while the
  /// program is running.
  private var end: UInt64?

  private static let graceNanoseconds: UInt64 = 1_000_000_000

  init(
    killed: pid_t, child: pid_t, input: [UInt8], limit: Int, dropsExcess: Bool, deadline: UInt64?,
    isCancelled: (() -> Bool)?
  ) {
    self.killed = killed
    self.child = child
    self.input = input
    self.limit = limit
    self.dropsExcess = dropsExcess
    self.deadline = deadline
    self.isCancelled = isCancelled
  }

  mutating func run(_ stdin: inout Pipe, _ stdout: Int32, _ stderr: Int32) {
    if input.isEmpty { stdin.closeWriting() }
    _ = attache_set_nonblocking(stdin.writing)
    var isOutputOpen = true
    var isErrorOpen = true
    // Without it, the end of the streams is the end of the program.
    let process = attache_open_process(child)
    defer { if process >= 0 { close(process) } }
    while isOutputOpen || isErrorOpen {
      var waiting = [
        pollfd(fd: stdin.writing, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: isOutputOpen ? stdout : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: isErrorOpen ? stderr : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: end == nil ? process : -1, events: Int16(POLLIN), revents: 0),
      ]
      let ready = poll(&waiting, nfds_t(waiting.count), turn())
      // A child that keeps writing is as late as a silent one.
      if endIfLate() { return }
      let now = Clock.monotonicNanoseconds()
      if let end, now >= end { return }
      if ready <= 0 { continue }
      if waiting[3].revents != 0 { end = now + Self.graceNanoseconds }
      if waiting[0].revents != 0, !feed(stdin.writing) { stdin.closeWriting() }
      if waiting[1].revents != 0 { isOutputOpen = Exchange.drain(stdout, into: &output) }
      if waiting[2].revents != 0 { isErrorOpen = Exchange.drain(stderr, into: &error) }
      if dropsExcess {
        output.removeLast(max(0, output.count - limit))
        error.removeLast(max(0, error.count - limit))
      }
      if max(output.count, error.count) > limit {
        isTooLong = true
        kill(killed, SIGKILL)
        return
      }
    }
  }

  /// Waits for the exit of the program, which may come later than the end of its streams.
  mutating func waitForEnd() {
    guard deadline != nil || isCancelled != nil, !isTooLong else { return }
    while !isEnded, attache_wait_for_exit(child, turn()) == ETIMEDOUT { endIfLate() }
  }

  /// Kills a program that is late or no longer needed.
  @discardableResult
  private mutating func endIfLate() -> Bool {
    guard millisecondsLeft(until: deadline) == 0 || isCancelled?() == true else { return false }
    isEnded = true
    kill(killed, SIGKILL)
    return true
  }

  /// The time until the next check; there is no other way to notice that a task was cancelled.
  private func turn() -> Int32 {
    let left = millisecondsLeft(until: [deadline, end].compactMap(\.self).min())
    guard isCancelled != nil else { return left }
    return left < 0 ? 50 : min(left, 50)
  }

  private func millisecondsLeft(until time: UInt64?) -> Int32 {
    guard let time else { return -1 }
    let now = Clock.monotonicNanoseconds()
    return now >= time ? 0 : Int32(clamping: (time - now) / 1_000_000 + 1)
  }

  /// Writes the next input; returns whether there is more to send.
  private mutating func feed(_ descriptor: Int32) -> Bool {
    let start = sent
    let count = input.withUnsafeBytes { raw in
      attache_write_quietly(descriptor, raw.baseAddress.map { $0 + start }, UInt(raw.count - start))
    }
    if count < 0 { return errno == EAGAIN || errno == EINTR }
    sent += count
    return sent < input.count
  }

  /// Reads available output; returns whether the stream is still open.
  private static func drain(_ descriptor: Int32, into bytes: inout [UInt8]) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
      let count = retryingInterrupts { read(descriptor, buffer.baseAddress, buffer.count) }
      if count > 0 { bytes.append(contentsOf: buffer[..<count]) }
      return count > 0
    }
  }
}
