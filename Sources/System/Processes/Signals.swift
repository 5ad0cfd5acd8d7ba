import Glibc

/// The signals that ask a program to end.
package enum Signals {
  /// Makes a broken pipe an error of `write` instead of the end of the process, and likewise a file
  /// that exceeds the size limit.
  package static func ignorePipe() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }

  /// Calls `body` on a dedicated thread, where it may do anything, for each INT, TERM or HUP.
  ///
  /// Signals that arrive together count as one.
  ///
  /// It may be called at any time: a handler receives the signal on any thread, whereas a mask
  /// would have to be set before any other thread starts. A signal that the parent process ignores
  /// (`nohup`) stays ignored.
  ///
  /// With `spent`, `body` is called at once for each signal after that number, so that a late
  /// listener misses none.
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
    // SIG_IGN is not a function; only its address can be compared.
    unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  fileprivate static func tell(_ number: Int32) {
    let now = Clock.monotonicNanoseconds()
    let bodies = listener.withLock { state in
      // `timeout` signals the program and then its group, and a closing terminal also sends two
      // signals. They count as one.
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
  /// The signals received.
  var numbers: [Int32] = []
  /// The time of the last signal, in monotonic nanoseconds.
  var last: UInt64 = 0
}

private let listener = Locked(Listener())

/// The pipe from the handler, which may do almost nothing, to the listening thread.
private let pipeEnds: (read: Int32, write: Int32) = {
  var ends: [Int32] = [-1, -1]
  guard pipe(&ends) == 0 else { return (-1, -1) }
  for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  return (ends[0], ends[1])
}()

// A C callback at file scope, so that it is not isolated to an actor.
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
