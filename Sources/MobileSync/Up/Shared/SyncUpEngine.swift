import JSON
import Salesforce

/// The journal that records intentions before requests are sent, and responses as they arrive.
///
/// A live store records them in `attache_sent` and in its elements, a pipeline in its ledger.
package protocol SyncUpJournal: AnyObject {
  associatedtype Change: SyncUpChange
  associatedtype Intention

  /// Returns what must be read right before a batch is prepared, so that it can be fetched
  /// concurrently with other requests.
  func questions(before batch: SyncUpRequest.Batch<Change>) -> [RecordReader.Inquiry]

  /// Returns the changes of a batch that are still to be sent, in their final form; the journal has
  /// resolved the others.
  func prepare(_ batch: SyncUpRequest.Batch<Change>) async throws -> [Change]

  /// Returns the query that a composite runs after its writes.
  func read(after batch: [Change]) -> CompositeRequest?

  /// Durably records that a batch is about to be sent, and in which bulk job, if any.
  func intend(_ batch: [Change], job: String?) throws -> Intention

  /// Removes an intention because the org has certainly done nothing.
  func withdraw(_ intention: Intention) throws

  /// The maximum number of changes in a request, as far as servers have answered that a request is
  /// too large.
  var mostChanges: Int { get set }

  /// Returns a request's intention with the mark that its changes, if they are sent again, each have
  /// a separate request; nil if nothing was recorded, because sending them twice does no harm.
  func separate(_ intention: Intention) throws -> Intention?

  /// Records responses. Those of rows locked by another writer are not final unless `isLast`.
  ///
  /// They become durable with the next intention or with `keep`; one of the two happens before any
  /// wait.
  func settle(
    _ answers: [(change: Change, answer: RowAnswer)], of intention: Intention,
    read: CompositeResult?, isLast: Bool
  ) async throws

  /// Makes the recorded outcomes durable.
  func keep() throws

  /// Records that the sender's session is no longer valid; returns false if this ends the work for
  /// all senders.
  func end(_ error: OrgError) async throws -> Bool

  /// Whether nothing more may be sent, because the sender's session is no longer valid.
  var isEnded: Bool { get }

  /// Reports a problem with sending to the operator.
  func warn(_ words: String)
}

extension SyncUpJournal {
  package func questions(before batch: SyncUpRequest.Batch<Change>) -> [RecordReader.Inquiry] { [] }
  package func prepare(_ batch: SyncUpRequest.Batch<Change>) async throws -> [Change] {
    batch.changes
  }
  /// Does nothing: outcomes are durable at once.
  package func keep() throws {}
  /// Returns false: it ends the work for all senders.
  package func end(_ error: OrgError) async throws -> Bool { false }
  package var isEnded: Bool { false }
  package func warn(_ words: String) {}
  package func read(after batch: [Change]) -> CompositeRequest? { nil }
}

/// Sends local changes of one target to an org; `SyncUpTraffic` makes the requests.
package struct SyncUpEngine<Journal: SyncUpJournal> {
  /// How a target's requests are sent.
  package enum Carrier {
    /// Through the org's resources.
    case org(Session)
    /// Through the code of a custom target.
    case custom((SyncUpWrite) async throws -> RowAnswer)
  }

  /// How to handle a failed request.
  package struct Patience {
    /// The number of attempts for a row that another writer locked.
    package var lockAttempts: Int
    /// Whether the work continues after a request without a response, or after one that the sender
    /// is not allowed to make.
    package var survivesDoubt: Bool
    /// Whether there is time to wait for a bulk job.
    package var mayWait: @Sendable () -> Bool = { true }
    /// Waits for the given number of milliseconds.
    package var pause: @Sendable (Int64) async throws -> Void

    /// Like the SDK: the first failed request ends the sync.
    package static var none: Patience {
      Patience(lockAttempts: 1, survivesDoubt: false) { _ in }
    }

    package init(
      lockAttempts: Int, survivesDoubt: Bool,
      pause: @escaping @Sendable (Int64) async throws -> Void
    ) {
      self.lockAttempts = lockAttempts
      self.survivesDoubt = survivesDoubt
      self.pause = pause
    }
  }

  let kind: SyncUpTarget.Kind
  private let maxBatchSize: Int
  let carrier: Carrier
  let journal: Journal
  let patience: Patience
  /// Whether composites read something after their writes.
  let reads: Bool
  /// The number of changes of one action and object above which they are sent as a bulk job; nil
  /// for never, as in the SDK.
  private let bulkAbove: Int?

  package init(
    _ target: SyncUpTarget, _ carrier: Carrier, _ journal: Journal, patience: Patience = .none,
    reads: Bool = false, bulkAbove: Int? = nil
  ) {
    kind = target.kind
    maxBatchSize = target.maxBatchSize
    self.carrier = carrier
    self.journal = journal
    self.patience = patience
    self.reads = reads
    self.bulkAbove = if case .org = carrier { bulkAbove } else { nil }
  }

  /// Returns the batches for changes; those that a job did not process are sent with the target's
  /// own requests.
  func batches(
    _ changes: [Journal.Change], afterJob: Bool = false
  ) -> [SyncUpRequest.Batch<Journal.Change>] {
    SyncUpRequest.batches(
      changes, kind: kind, maxBatchSize: maxBatchSize, reads: reads,
      bulkAbove: afterJob ? nil : bulkAbove
    ).flatMap(\.separated)
  }

  /// Sends changes in order, one request at a time.
  package func send(_ changes: [Journal.Change]) async throws {
    try await SyncUpTraffic([Load(self, changes)], inFlight: 1).run()
  }

  /// Sends changes of a live store; throws a sync's errors.
  func sendAll(_ changes: [Journal.Change]) async throws(SyncError) {
    do {
      try await send(changes)
    } catch let error as SyncError {
      throw error
    } catch let error as OrgError {
      throw SyncError(error)
    } catch {
      throw SyncError(store: error)
    }
  }

  /// Changes with the engine that sends them.
  package struct Load {
    let engine: SyncUpEngine
    let steps: [[SyncUpRequest.Batch<Journal.Change>]]
    let isBeside: Bool

    /// Creates the load of a target whose requests are sent one after another, or concurrently
    /// as far as the order of operations allows.
    package init(_ engine: SyncUpEngine, _ changes: [Journal.Change], beside: Bool = false) {
      self.engine = engine
      isBeside = beside
      let batches = engine.batches(changes)
      steps = beside ? SyncUpRequest.steps(batches, kind: engine.kind) : batches.map { [$0] }
    }
  }
}

extension OrgError {
  /// Whether the error concerns the requested object; another request may succeed.
  package var isAboutTheObject: Bool {
    switch kind {
    case .refused, .notFound, .permission, .tooLarge: true
    default: false
    }
  }

  /// Whether the error concerns the rows of a request; a request with fewer rows may succeed.
  package var isAboutTheRows: Bool {
    switch kind {
    case .refused, .tooLarge: !isAmbiguous
    default: false
    }
  }

  /// Whether the error concerns the user, whose session is no longer valid; requests of other users
  /// may succeed.
  package var isAboutTheUser: Bool { kind == .authentication }

  /// Whether the org responded that it failed; it may fail for this request only.
  package var isFailedAnswer: Bool { kind == .unreachable && status != nil }

  /// Whether another request would fail too: the org is unreachable or accepts no more requests.
  package var isOutage: Bool {
    switch kind {
    case .unreachable, .timeout, .certificate, .limit: true
    default: false
    }
  }
}
