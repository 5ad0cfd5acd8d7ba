import Glibc

/// The signals that end a program politely.
package enum Signals {
  /// A reader that went away is an error of `write`, not the end of the process; a file that grew
  /// past its limit likewise.
  package static func ignorePipe() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }

  /// Calls `body` with each INT, TERM or HUP, on a thread of its own where it may do anything; with one of
  /// those that come together.
  ///
  /// It may be called at any time: a handler takes the signal whichever thread it reaches, where a
  /// mask would have to be set before any other thread starts. A signal that whoever started the
  /// program wants ignored (`nohup`) stays ignored.
  ///
  /// With `spent`, `body` is called at once for each of them after so many: who listens late misses none.
  package static func onTermination(
    after spent: Int? = nil, _ body: @escaping @Sendable (Int32) -> Void
  ) {
    let missed = listener.withLock { state in
      state.bodies.append(body)
      if !state.isStarted { state.isStarted = start() }
      return state.numbers.dropFirst(spent ?? state.numbers.count)
    }
    for number in missed { body(number) }
  }

  private static func start() -> Bool {
    guard pipeEnds.read >= 0 else { return false }
    guard (try? OwnThread(name: "signals", listen)) != nil else { return false }
    for number in [SIGINT, SIGTERM, SIGHUP] {
      var before = sigaction()
      sigaction(number, nil, &before)
      if isIgnored(before) { continue }
      var action = sigaction()
      action.__sigaction_handler.sa_handler = noteSignal
      action.sa_flags = SA_RESTART
      sigaction(number, &action, nil)
    }
    return true
  }

  private static func isIgnored(_ action: sigaction) -> Bool {
    // SIG_IGN is no function: only its address can be looked at.
    unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  fileprivate static func tell(_ number: Int32) {
    let now = Clock.monotonicNanoseconds()
    let bodies = listener.withLock { state in
      // `timeout` tells the program and then its group, a terminal that closes tells twice too: that is one.
      if !state.numbers.isEmpty, now - state.last < 250_000_000 { return state.bodies.prefix(0) }
      state.last = now
      state.numbers.append(number)
      return state.bodies[...]
    }
    for body in bodies { body(number) }
  }
}

private struct Listener {
  var bodies: [@Sendable (Int32) -> Void] = []
  var isStarted = false
  /// Those that came.
  var numbers: [Int32] = []
  /// When the last of them came, in monotonic nanoseconds.
  var last: UInt64 = 0
}

private let listener = Locked(Listener())

/// The way from the handler, which may do next to nothing, to the thread that listens.
private let pipeEnds: (read: Int32, write: Int32) = {
  var ends: [Int32] = [-1, -1]
  guard pipe(&ends) == 0 else { return (-1, -1) }
  for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  return (ends[0], ends[1])
}()

// A C callback: file scope, so that it belongs to no actor.
private func noteSignal(_ number: Int32) {
  let saved = errno
  var byte = UInt8(truncatingIfNeeded: number)
  _ = write(pipeEnds.write, &byte, 1)
  errno = saved
}

private func listen() {
  var byte: UInt8 = 0
  while true {
    let count = read(pipeEnds.read, &byte, 1)
    if count == 1 { Signals.tell(Int32(byte)) } else if count == 0 || errno != EINTR { return }
  }
}
