import CSystem
import Glibc

/// A thread that this program starts for one owner's work, and whose end is waited for.
///
/// A library may keep something for every thread and free it as the thread ends, as libcrypto does.
/// That must not meet the end of the process, which takes the library itself down. So no thread is
/// detached: its owner says when it is to end, and `ProcessEnvironment.leave` joins those that were
/// told to. A thread that nobody told waits for work, and touches nothing.
package final class OwnThread: Sendable {
  private struct Leaving: Sendable {
    var threads: [pthread_t] = []
  }

  private static let leaving = Locked(Leaving())
  private let thread: pthread_t

  /// Starts a thread that runs `body`; `name` is what it is called in a debugger and in `top -H`.
  package init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(ThreadStart(name: name, body: body)).toOpaque()
    let code = pthread_create(&thread, nil, threadMain, context)
    guard code == 0 else {
      Unmanaged<ThreadStart>.fromOpaque(context).release()
      throw SystemError(operation: "start a thread", path: "", errno: code)
    }
    self.thread = thread
  }

  /// Says that the thread has been told to end, once; whoever says so does not wait for it.
  package func willEnd() {
    Self.leaving.withLock { leaving in
      // What has ended meanwhile is let go of here, so that a long life does not gather threads.
      leaving.threads.removeAll { attache_try_join($0) == 0 }
      leaving.threads.append(thread)
    }
  }

  /// Waits for the threads that were told to end, all together no longer than so many milliseconds.
  ///
  /// Those that are told meanwhile are waited for too, since a thread may tell others as it ends.
  /// One that is held up longer, as by a resolver that does not answer, is left behind.
  package static func joinLeaving(withinMilliseconds limit: Int) {
    let end = Clock.monotonicNanoseconds() + UInt64(limit) * 1_000_000
    var threads: [pthread_t]
    repeat {
      threads = takeLeaving()
      for thread in threads where pthread_equal(thread, pthread_self()) == 0 {
        let now = Clock.monotonicNanoseconds()
        _ = attache_join(thread, now < end ? Int64((end - now) / 1_000_000) : 0)
      }
    } while !threads.isEmpty && Clock.monotonicNanoseconds() < end
  }

  private static func takeLeaving() -> [pthread_t] {
    leaving.withLock { leaving in
      defer { leaving.threads = [] }
      return leaving.threads
    }
  }
}

private final class ThreadStart: Sendable {
  let name: String
  let body: @Sendable () -> Void

  init(name: String, body: @escaping @Sendable () -> Void) {
    self.name = name
    self.body = body
  }
}

// A C callback: file scope, so that it belongs to no actor.
private func threadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  let start = Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
  attache_name_thread(start.name)
  start.body()
  return nil
}
