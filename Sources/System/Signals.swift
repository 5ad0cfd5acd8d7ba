import Glibc

/// The signals that end a program politely.
package enum Signals {
  /// A reader that went away is an error of `write`, not the end of the process; a file that grew
  /// past its limit likewise.
  package static func ignorePipe() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }

  /// Calls `body` with each INT, TERM or HUP, on a thread of its own where it may do anything.
  ///
  /// To be called before the program starts other threads: they inherit the blocked signals.
  package static func onTermination(_ body: @escaping @Sendable (Int32) -> Void) {
    var set = terminationSet()
    pthread_sigmask(SIG_BLOCK, &set, nil)
    let context = Unmanaged.passRetained(Listener(body)).toOpaque()
    var thread = pthread_t()
    if pthread_create(&thread, nil, listen, context) == 0 { pthread_detach(thread) }
  }

  fileprivate static func terminationSet() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&set, number) }
    return set
  }
}

private final class Listener: Sendable {
  let body: @Sendable (Int32) -> Void
  init(_ body: @escaping @Sendable (Int32) -> Void) { self.body = body }
}

// A C callback: file scope, so that it belongs to no actor.
private func listen(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  let listener = Unmanaged<Listener>.fromOpaque(context).takeRetainedValue()
  var set = Signals.terminationSet()
  while true {
    var number: Int32 = 0
    if sigwait(&set, &number) == 0 { listener.body(number) }
  }
}
