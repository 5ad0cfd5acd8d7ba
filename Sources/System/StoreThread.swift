import CSystem
import Dispatch
import Glibc

/// A thread of its own that runs one owner's blocking work.
///
/// SQLite and the disk block; on the cooperative pool, which has as many threads as cores, two
/// blocked tasks stop every continuation. Work goes here with `run`, or a whole task prefers the
/// thread: `withTaskExecutorPreference(thread) { … }`.
///
/// The thread ends when the last reference goes; jobs that wait then are still run.
package final class StoreThread: TaskExecutor, Sendable {
  private let queue = JobQueue()
  /// What the thread is called in a debugger and in `top -H`.
  package let name: String

  /// Starts the thread.
  package init(name: String) {
    self.name = name
    let start = ThreadStart(queue: queue, name: name)
    var thread = pthread_t()
    let context = Unmanaged.passRetained(start).toOpaque()
    let status = pthread_create(&thread, nil, threadMain, context)
    // Without a thread nothing that is enqueued would ever run, silently.
    precondition(status == 0, "cannot start a thread: error \(status)")
    pthread_detach(thread)
  }

  deinit { queue.finish() }

  /// Runs `body` on the thread and answers its result.
  @concurrent
  package func run<T: Sendable, E: Error>(_ body: @Sendable () throws(E) -> T) async throws(E) -> T
  {
    try await withTaskExecutorPreference(self) { () async throws(E) -> T in try body() }
  }

  /// Takes a job of the concurrency runtime.
  package func enqueue(_ job: consuming ExecutorJob) {
    queue.append(UnownedJob(job), on: asUnownedTaskExecutor())
  }
}

/// The jobs that wait, and the thread's way to sleep.
private final class JobQueue: Sendable {
  struct Entry: Sendable {
    let job: UnownedJob
    let executor: UnownedTaskExecutor
  }

  private struct State: Sendable {
    var waiting: [Entry] = []
    var isFinished = false
  }

  private let state = Locked(State())
  private let ready = DispatchSemaphore(value: 0)

  func append(_ job: UnownedJob, on executor: UnownedTaskExecutor) {
    state.withLock { $0.waiting.append(Entry(job: job, executor: executor)) }
    ready.signal()
  }

  func finish() {
    state.withLock { $0.isFinished = true }
    ready.signal()
  }

  /// All that waits, in order; nil at the end.
  func next() -> [Entry]? {
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
}

private final class ThreadStart: Sendable {
  let queue: JobQueue
  let name: String

  init(queue: JobQueue, name: String) {
    self.queue = queue
    self.name = name
  }
}

// A C callback: file scope, so that it belongs to no actor.
private func threadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  let start = Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
  attache_name_thread(start.name)
  let queue = start.queue
  while let entries = queue.next() {
    for entry in entries { entry.job.runSynchronously(on: entry.executor) }
  }
  return nil
}
