/// A run of a sync, as a sequence of its states: from RUNNING to DONE, FAILED or STOPPED.
///
/// The run continues whether or not the states are read. A single reader sees each state once.
///
/// ```swift
/// let down = try await manager.reSync(named: "down")
/// for await state in down { print(state.status.rawValue, "\(state.progress) %") }
/// print(try await down.finish().written, "accounts came")
/// ```
public struct SyncRun: AsyncSequence, Sendable {
  /// The sync's state after each change.
  public typealias Element = SyncState
  /// Iterating never throws: a failed run ends with the status FAILED.
  public typealias Failure = Never

  /// How a run ended.
  struct End: Sendable {
    var state: SyncState
    var report: SyncReport
    var error: SyncError?
  }

  /// The sync's ID.
  public let syncID: Int64
  private let states: AsyncStream<SyncState>
  private let task: Task<End, Never>

  init(syncID: Int64, states: AsyncStream<SyncState>, task: Task<End, Never>) {
    self.syncID = syncID
    self.states = states
    self.task = task
  }

  /// Starts reading the states.
  public func makeAsyncIterator() -> AsyncStream<SyncState>.Iterator { states.makeAsyncIterator() }

  /// The last state; waits for the end of the run.
  public var lastState: SyncState {
    get async { await task.value.state }
  }

  /// The report of the run, however it ended; waits for the end.
  public var report: SyncReport {
    get async { await task.value.report }
  }

  /// Asks the run to stop at the next page or record; it ends STOPPED.
  public func cancel() { task.cancel() }

  /// Waits for the end; throws the reason unless the run is DONE.
  ///
  /// Cancelling the task that waits here cancels the run.
  @discardableResult
  public func finish() async throws(SyncError) -> SyncReport {
    let end = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    if let error = end.error { throw error }
    return end.report
  }
}
