import CSystem
import Glibc

/// Other programs, started without a shell, with the environment that the caller names and no
/// other, and no descriptor above 2.
package enum ChildProcess {
  /// What a program left.
  package struct Result: Sendable {
    /// Its exit code, or 128 + the signal that ended it.
    package let status: Int32
    /// Standard output.
    package let output: [UInt8]
    /// Standard error.
    package let error: [UInt8]
  }

  /// Runs a program to its end.
  ///
  /// It blocks, so not on the cooperative pool. A program that is late, or says more than
  /// `outputLimit` bytes on its output or of errors, is killed, and that is an error. The deadline
  /// is for the program, not for its streams: one that closes them and goes on is late too. So is one whose
  /// end `isCancelled` asks for.
  ///
  /// What such a program has started is killed with it, where that is safe: a group of processes of its own may
  /// not read the terminal, so that where there is one, a program gets such a group only if it `asksNobody`.
  package static func run(
    _ path: String, _ arguments: [String], environment: [String: String] = [:],
    input: [UInt8] = [], deadlineSeconds: Int? = nil, outputLimit: Int = .max,
    asksNobody: Bool = false, isCancelled: (() -> Bool)? = nil
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
      throw SystemError(operation: "take all the output of", path: path, errno: EFBIG)
    }
    return Result(status: status, output: exchange.output, error: exchange.error)
  }

  /// Starts a program whose standard output can be read by line.
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

  /// Whether somebody may sit at a terminal from which this process was started.
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

  /// Waits for a child and answers its exit code, or 128 + its signal.
  static func waitForExit(_ child: pid_t) -> Int32 {
    var status: Int32 = 0
    if retryingInterrupts({ Int(waitpid(child, &status, 0)) }) < 0 { return 127 }
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
  }
}

/// Two ends of a pipe, each closed once.
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

  /// The reading end, which is the caller's to close from now on; the writing end is closed.
  mutating func takeReading() -> Int32 {
    closeWriting()
    defer { reading = -1 }
    return reading
  }
}

/// Feeds a child and drains it at once, so that neither side waits for the other for ever.
private struct Exchange {
  /// What is killed: the child, or its whole group.
  let killed: pid_t
  let child: pid_t
  let input: [UInt8]
  let limit: Int
  let deadline: UInt64?
  let isCancelled: (() -> Bool)?
  var sent = 0
  var output: [UInt8] = []
  var error: [UInt8] = []
  var isEnded = false
  var isTooLong = false

  init(
    killed: pid_t, child: pid_t, input: [UInt8], limit: Int, deadline: UInt64?,
    isCancelled: (() -> Bool)?
  ) {
    self.killed = killed
    self.child = child
    self.input = input
    self.limit = limit
    self.deadline = deadline
    self.isCancelled = isCancelled
  }

  mutating func run(_ stdin: inout Pipe, _ stdout: Int32, _ stderr: Int32) {
    if input.isEmpty { stdin.closeWriting() }
    _ = attache_set_nonblocking(stdin.writing)
    var isOutputOpen = true
    var isErrorOpen = true
    while isOutputOpen || isErrorOpen {
      var waiting = [
        pollfd(fd: stdin.writing, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: isOutputOpen ? stdout : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: isErrorOpen ? stderr : -1, events: Int16(POLLIN), revents: 0),
      ]
      let ready = poll(&waiting, nfds_t(waiting.count), turn())
      // One that goes on speaking is late as one that is silent.
      if endIfLate() { return }
      if ready <= 0 { continue }
      if waiting[0].revents != 0, !feed(stdin.writing) { stdin.closeWriting() }
      if waiting[1].revents != 0 { isOutputOpen = Exchange.drain(stdout, into: &output) }
      if waiting[2].revents != 0 { isErrorOpen = Exchange.drain(stderr, into: &error) }
      if max(output.count, error.count) > limit {
        isTooLong = true
        kill(killed, SIGKILL)
        return
      }
    }
  }

  /// Waits for the program's own end, which need not be that of its streams.
  mutating func waitForEnd() {
    guard deadline != nil || isCancelled != nil, !isTooLong else { return }
    while !isEnded, attache_wait_for_exit(child, turn()) == ETIMEDOUT { endIfLate() }
  }

  /// Ends a program that is late, or that nobody waits for any more.
  @discardableResult
  private mutating func endIfLate() -> Bool {
    guard millisecondsLeft() == 0 || isCancelled?() == true else { return false }
    isEnded = true
    kill(killed, SIGKILL)
    return true
  }

  /// How long to wait before looking again: nothing else tells that a task was cancelled.
  private func turn() -> Int32 {
    let left = millisecondsLeft()
    guard isCancelled != nil else { return left }
    return left < 0 ? 50 : min(left, 50)
  }

  private func millisecondsLeft() -> Int32 {
    guard let deadline else { return -1 }
    let now = Clock.monotonicNanoseconds()
    return now >= deadline ? 0 : Int32(clamping: (deadline - now) / 1_000_000 + 1)
  }

  /// Answers whether there is more to send.
  private mutating func feed(_ descriptor: Int32) -> Bool {
    let start = sent
    let count = input.withUnsafeBytes { raw in
      attache_write_quietly(descriptor, raw.baseAddress.map { $0 + start }, UInt(raw.count - start))
    }
    if count < 0 { return errno == EAGAIN || errno == EINTR }
    sent += count
    return sent < input.count
  }

  /// Answers whether the stream is still open.
  private static func drain(_ descriptor: Int32, into bytes: inout [UInt8]) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
      let count = retryingInterrupts { read(descriptor, buffer.baseAddress, buffer.count) }
      if count > 0 { bytes.append(contentsOf: buffer[..<count]) }
      return count > 0
    }
  }
}
