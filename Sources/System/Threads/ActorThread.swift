/// A thread for an actor whose state blocks, such as a store or a disk.
///
/// An actor returns it from `unownedExecutor`. All code isolated to the actor then runs on this
/// thread, one job after another, and never on the cooperative pool. The thread ends when the last
/// reference is released; jobs still waiting are run first.
package final class ActorThread: SerialExecutor, Sendable {
  private let queue = JobQueue<UnownedSerialExecutor>()

  /// Starts the thread; `name` is shown in a debugger and in `top -H`.
  package init(name: String) {
    queue.start(name) { job, executor in job.runSynchronously(on: executor) }
  }

  deinit { queue.finish() }

  package func enqueue(_ job: consuming ExecutorJob) {
    queue.append(UnownedJob(job), on: asUnownedSerialExecutor())
  }
}
