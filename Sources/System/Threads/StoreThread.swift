/// A thread that runs the blocking work of one owner.
///
/// SQLite and the disk block. On the cooperative pool, which has one thread per core, a few blocked
/// tasks stop every continuation. Use `run` for a piece of work, or let a whole task prefer the
/// thread: `withTaskExecutorPreference(thread) { … }`.
///
/// The thread ends when the last reference is released; jobs still waiting are run first.
package final class StoreThread: TaskExecutor, Sendable {
  private let queue = JobQueue<UnownedTaskExecutor>()
  /// The name shown in a debugger and in `top -H`.
  package let name: String

  package init(name: String) {
    self.name = name
    queue.start(name) { job, executor in job.runSynchronously(on: executor) }
  }

  deinit { queue.finish() }

  /// Runs `body` on the thread and returns its result.
  @concurrent
  package func run<T: Sendable, E: Error>(_ body: @Sendable () throws(E) -> T) async throws(E) -> T
  {
    try await withTaskExecutorPreference(self) { () async throws(E) -> T in try body() }
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    queue.append(UnownedJob(job), on: asUnownedTaskExecutor())
  }
}
