/// A run of a sync, as a sequence of its states: from RUNNING to DONE, FAILED or STOPPED.
///
/// The run goes on whether somebody reads the states or not. One reader sees each state once.
///
/// ```swift
/// let down = try await manager.reSync(named: "down")
/// for await state in down { print(state.status.rawValue, "\(state.progress) %") }
/// print(try await down.finish().written, "accounts came")
/// ```
public struct SyncRun: AsyncSequence, Sendable {
  /// A state of the sync, each time that it changes.
  public typealias Element = SyncState
  /// The states cannot fail: a failed run ends with the status FAILED.
  public typealias Failure = Never

  /// How a run ended.
  struct End: Sendable {
    var state: SyncState
    var report: SyncReport
    var error: SyncError?
  }

  /// The id of the sync.
  public let syncID: Int64
  private let states: AsyncStream<SyncState>
  private let task: Task<End, Never>

  init(syncID: Int64, states: AsyncStream<SyncState>, task: Task<End, Never>) {
    self.syncID = syncID
    self.states = states
    self.task = task
  }

  /// Begins to read the states.
  public func makeAsyncIterator() -> AsyncStream<SyncState>.Iterator { states.makeAsyncIterator() }

  /// Waits for the end and answers the last state.
  public var lastState: SyncState {
    get async { await task.value.state }
  }

  /// Waits for the end and answers what the run did, however it ended.
  public var report: SyncReport {
    get async { await task.value.report }
  }

  /// Asks the run to stop at the next page or record; it ends STOPPED.
  public func cancel() { task.cancel() }

  /// Waits for the end; throws why, unless the run is DONE.
  ///
  /// Who is cancelled while waiting here cancels the run.
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
