import CSystem
import Glibc

/// A thread that works for one owner and is joined at the end.
///
/// A library such as libcrypto may keep data per thread and free it when the thread ends. This must
/// not coincide with the end of the process, which unloads the library. Therefore no thread is
/// detached: its owner tells it to end, and `ProcessEnvironment.leave` joins the threads that
/// are ending. Any other thread waits for work, and uses nothing.
package final class OwnThread: Sendable {
  private struct Leaving: Sendable {
    var threads: [pthread_t] = []
  }

  private static let leaving = Locked(Leaving())
  private let thread: pthread_t

  /// Starts a thread that runs `body`; `name` is shown in a debugger and in `top -H`.
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

  /// Declares, once, that the thread has been asked to end.
  ///
  /// Does not wait for it.
  package func willEnd() {
    Self.leaving.withLock { leaving in
      // Threads that have ended are released here, so that they do not accumulate in a long-running
      // process.
      leaving.threads.removeAll { attache_try_join($0) == 0 }
      leaving.threads.append(thread)
    }
  }

  /// Waits for the threads that were asked to end, up to a total time limit.
  ///
  /// Threads asked to end meanwhile are awaited too, since a thread may ask others as it ends. A
  /// thread that takes longer, such as one blocked by DNS, is not awaited.
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

// A C callback at file scope, so that it is not isolated to an actor.
private func threadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  let start = Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
  attache_name_thread(start.name)
  start.body()
  return nil
}
