import Dispatch

/// The jobs that wait for a thread, and the way the thread sleeps.
final class JobQueue<Executor: Sendable>: Sendable {
  struct Entry: Sendable {
    let job: UnownedJob
    let executor: Executor
  }

  private struct State: Sendable {
    var waiting: [Entry] = []
    var isFinished = false
    var thread: OwnThread?
  }

  private let state = Locked(State())
  private let ready = DispatchSemaphore(value: 0)

  func append(_ job: UnownedJob, on executor: Executor) {
    state.withLock { $0.waiting.append(Entry(job: job, executor: executor)) }
    ready.signal()
  }

  func finish() {
    let thread = state.withLock { state in
      state.isFinished = true
      return state.thread
    }
    thread?.willEnd()
    ready.signal()
  }

  /// All waiting jobs, in order; nil at the end.
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

  /// Starts a thread that runs jobs until the queue is finished.
  func start(_ name: String, run: @escaping @Sendable (UnownedJob, Executor) -> Void) {
    do throws(SystemError) {
      let thread = try OwnThread(name: name) {
        while let entries = self.next() {
          for entry in entries { run(entry.job, entry.executor) }
        }
      }
      state.withLock { $0.thread = thread }
    } catch {
      // Without a thread, no enqueued job would ever run, and no error would show it.
      ProcessEnvironment.leave(because: error)
    }
  }
}
