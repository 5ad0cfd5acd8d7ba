import CSystem
import Dispatch
import Glibc

/// The jobs that wait for a thread, and the thread's way to sleep.
final class JobQueue<Executor: Sendable>: Sendable {
  struct Entry: Sendable {
    let job: UnownedJob
    let executor: Executor
  }

  private struct State: Sendable {
    var waiting: [Entry] = []
    var isFinished = false
  }

  private let state = Locked(State())
  private let ready = DispatchSemaphore(value: 0)

  func append(_ job: UnownedJob, on executor: Executor) {
    state.withLock { $0.waiting.append(Entry(job: job, executor: executor)) }
    ready.signal()
  }

  func finish() {
    state.withLock { $0.isFinished = true }
    ready.signal()
  }

  /// All that waits, in order; nil at the end.
  private func next() -> [Entry]? {
    while true {
      ready.wait()
      let (entries, isFinished) = state.withLock { state in
        defer { state.waiting = [] }
        return (state.waiting, state.isFinished)
      }
      if !entries.isEmpty { return entries }
      if isFinished { return nil }
    }
  }

  /// Starts a thread that runs what comes until the queue is finished.
  func start(_ name: String, run: @escaping @Sendable (UnownedJob, Executor) -> Void) {
    let start = ThreadStart(name: name) {
      while let entries = self.next() {
        for entry in entries { run(entry.job, entry.executor) }
      }
    }
    var thread = pthread_t()
    let context = Unmanaged.passRetained(start).toOpaque()
    let status = pthread_create(&thread, nil, threadMain, context)
    // Without a thread nothing that is enqueued would ever run, silently.
    precondition(status == 0, "cannot start a thread: error \(status)")
    pthread_detach(thread)
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
