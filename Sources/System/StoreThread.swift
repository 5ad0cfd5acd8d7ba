/// A thread of its own that runs one owner's blocking work.
///
/// SQLite and the disk block; on the cooperative pool, which has as many threads as cores, two
/// blocked tasks stop every continuation. Work goes here with `run`, or a whole task prefers the
/// thread: `withTaskExecutorPreference(thread) { … }`.
///
/// The thread ends when the last reference goes; jobs that wait then are still run.
package final class StoreThread: TaskExecutor, Sendable {
  private let queue = JobQueue<UnownedTaskExecutor>()
  /// What the thread is called in a debugger and in `top -H`.
  package let name: String

  /// Starts the thread.
  package init(name: String) {
    self.name = name
    queue.start(name) { job, executor in job.runSynchronously(on: executor) }
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
