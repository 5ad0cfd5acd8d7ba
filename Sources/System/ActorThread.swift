/// A thread of its own that an actor runs on, for one whose state blocks: a store, a disk.
///
/// An actor names it in `unownedExecutor`; everything that is isolated to the actor then runs here,
/// one job after another, and never on the cooperative pool. The thread ends when the last
/// reference goes; jobs that wait then are still run.
package final class ActorThread: SerialExecutor, Sendable {
  private let queue = JobQueue<UnownedSerialExecutor>()

  /// Starts the thread; `name` is what it is called in a debugger and in `top -H`.
  package init(name: String) {
    queue.start(name) { job, executor in job.runSynchronously(on: executor) }
  }

  deinit { queue.finish() }

  /// Takes a job of the concurrency runtime.
  package func enqueue(_ job: consuming ExecutorJob) {
    queue.append(UnownedJob(job), on: asUnownedSerialExecutor())
  }
}
