import JSON
import Salesforce

/// Where intentions are written down before the first byte leaves, and answers as they arrive.
///
/// A live store notes them in `attache_sent` and in its elements, a pipeline in its ledger.
package protocol SyncUpJournal: AnyObject {
  associatedtype Change: SyncUpChange
  associatedtype Intention

  /// What is to be read right before a batch is prepared: it is asked beside other requests.
  func questions(before batch: SyncUpRequest.Batch<Change>) -> [RecordReader.Inquiry]

  /// What is still to be sent of a batch, as it is to be sent; all else the journal has settled.
  func prepare(_ batch: SyncUpRequest.Batch<Change>) async throws -> [Change]

  /// What a composite is to read after its writes.
  func read(after batch: [Change]) -> CompositeRequest?

  /// Writes down, for good, that a batch is about to leave; in which bulk job, where it goes in one.
  func intend(_ batch: [Change], job: String?) throws -> Intention

  /// Takes an intention back: the org has certainly done nothing.
  func withdraw(_ intention: Intention) throws

  /// Enters answers. Those of rows that another writer held are not the last, unless it `isLast`.
  ///
  /// They are kept by the next intention or by `keep`, one of which comes before anything is waited for.
  func settle(
    _ answers: [(change: Change, answer: RowAnswer)], of intention: Intention,
    read: CompositeResult?, isLast: Bool
  ) async throws

  /// Keeps for good what was settled.
  func keep() throws

  /// Takes note that the org knows the sender no more; false where that is the end for everybody.
  func end(_ error: OrgError) async throws -> Bool

  /// Whether nothing leaves any more, as its sender is known no more.
  var isEnded: Bool { get }

  /// Tells a person something about the way that changes go.
  func warn(_ words: String)
}

extension SyncUpJournal {
  /// Nothing.
  package func questions(before batch: SyncUpRequest.Batch<Change>) -> [RecordReader.Inquiry] { [] }
  /// All of it.
  package func prepare(_ batch: SyncUpRequest.Batch<Change>) async throws -> [Change] {
    batch.changes
  }
  /// It is kept at once.
  package func keep() throws {}
  /// It is the end for everybody.
  package func end(_ error: OrgError) async throws -> Bool { false }
  /// It may.
  package var isEnded: Bool { false }
  /// Nobody.
  package func warn(_ words: String) {}
  /// Nothing.
  package func read(after batch: [Change]) -> CompositeRequest? { nil }
}

/// Sends local changes of one target to an org; `SyncUpTraffic` makes the requests.
package struct SyncUpEngine<Journal: SyncUpJournal> {
  /// How a target's requests are carried.
  package enum Carrier {
    /// By the org's own resources.
    case org(Session)
    /// By a program's own code.
    case custom((SyncUpWrite) async throws -> RowAnswer)
  }

  /// What is done where a request as a whole went wrong.
  package struct Patience {
    /// How often a row that another writer held is tried.
    package var lockAttempts: Int
    /// Whether the work goes on after a request without an answer, or one that the sender may not make, whatever it
    /// carries.
    package var survivesDoubt: Bool
    /// Whether there is time to wait for a bulk job.
    package var mayWait: @Sendable () -> Bool = { true }
    /// Waits so many milliseconds.
    package var pause: @Sendable (Int64) async throws -> Void

    /// The SDK's: the first such request ends the sync.
    package static var none: Patience {
      Patience(lockAttempts: 1, survivesDoubt: false) { _ in }
    }

    /// A patience.
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
  /// Above how many changes of one action and object the org does them in a bulk job; nil for never, as the
  /// SDK has it.
  private let bulkAbove: Int?

  /// An engine for a target.
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

  /// The batches that carry changes; those that a job did not do go by the target's own requests.
  func batches(
    _ changes: [Journal.Change], afterJob: Bool = false
  ) -> [SyncUpRequest.Batch<Journal.Change>] {
    SyncUpRequest.batches(
      changes, kind: kind, maxBatchSize: maxBatchSize, reads: reads,
      bulkAbove: afterJob ? nil : bulkAbove)
  }

  /// Sends changes, in their order, one request at a time.
  package func send(_ changes: [Journal.Change]) async throws {
    try await SyncUpTraffic([Load(self, changes)], inFlight: 1).run()
  }

  /// Sends changes of a live store: the errors are a sync's.
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

  /// Changes with the target that sends them.
  package struct Load {
    let engine: SyncUpEngine
    let steps: [[SyncUpRequest.Batch<Journal.Change>]]
    let isBeside: Bool

    /// Changes of a target, whose requests go one after another, or `beside` each other as far as the
    /// order of operations lets them.
    package init(_ engine: SyncUpEngine, _ changes: [Journal.Change], beside: Bool = false) {
      self.engine = engine
      isBeside = beside
      let batches = engine.batches(changes)
      steps = beside ? SyncUpRequest.steps(batches, kind: engine.kind) : batches.map { [$0] }
    }
  }
}

extension OrgError {
  /// Whether it is about what was asked for; another request may fare better.
  package var isAboutTheObject: Bool {
    switch kind {
    case .refused, .notFound, .permission, .tooLarge: true
    default: false
    }
  }

  /// Whether it is about the rows of a request, so that fewer of them may fare better.
  package var isAboutTheRows: Bool {
    switch kind {
    case .refused, .tooLarge: !isAmbiguous
    default: false
    }
  }

  /// Whether it is about who asks: the org knows the user no more, and what others ask may fare better.
  package var isAboutTheUser: Bool { kind == .authentication }

  /// Whether the org has answered that it could not: it may be this request alone that it cannot do.
  package var isFailedAnswer: Bool { kind == .unreachable && status != nil }

  /// Whether another request would fare no better: the org is out of reach, or takes no more.
  package var isOutage: Bool {
    switch kind {
    case .unreachable, .timeout, .certificate, .limit: true
    default: false
    }
  }
}
