import JSON
import Salesforce

/// Where intentions are written down before the first byte leaves, and answers as they arrive.
///
/// A live store notes them in `attache_sent` and in its elements, a pipeline in its ledger.
package protocol SyncUpJournal: AnyObject {
  associatedtype Change: SyncUpChange
  associatedtype Intention

  /// What is still to be sent of a batch, as it is to be sent; all else the journal has settled.
  func prepare(_ batch: [Change]) async throws -> [Change]

  /// What a composite is to read after its writes.
  func read(after batch: [Change]) -> CompositeRequest?

  /// Writes down, for good, that a batch is about to leave.
  func intend(_ batch: [Change]) throws -> Intention

  /// Takes an intention back: the org has certainly done nothing.
  func withdraw(_ intention: Intention) throws

  /// Enters answers. Those of rows that another writer held are not the last, unless it `isLast`.
  func settle(
    _ answers: [(change: Change, answer: RowAnswer)], of intention: Intention,
    read: CompositeResult?, isLast: Bool
  ) async throws
}

extension SyncUpJournal {
  /// All of it.
  package func prepare(_ batch: [Change]) async throws -> [Change] { batch }
  /// Nothing.
  package func read(after batch: [Change]) -> CompositeRequest? { nil }
}

/// Sends local changes to an org: the one place that makes requests of them.
///
/// For each batch of a target's kind and size:
/// 1. the journal looks at its changes once more, and writes down that they are about to leave;
/// 2. one request carries them;
/// 3. the answers stand in the journal before the next batch is begun. Where none came, each change is
///    in doubt, and is looked for before it is sent again (`InDoubtResolver`).
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
    /// Whether a request that the org refused whole is sent in halves until the row that spoils it
    /// stands alone.
    package var halvesRefused: Bool
    /// Whether the work goes on after a request without an answer.
    package var survivesDoubt: Bool
    /// Waits so many milliseconds.
    package var pause: @Sendable (Int64) async throws -> Void

    /// The SDK's: the first such request ends the sync.
    package static var none: Patience {
      Patience(lockAttempts: 1, halvesRefused: false, survivesDoubt: false) { _ in }
    }

    /// A patience.
    package init(
      lockAttempts: Int, halvesRefused: Bool, survivesDoubt: Bool,
      pause: @escaping @Sendable (Int64) async throws -> Void
    ) {
      self.lockAttempts = lockAttempts
      self.halvesRefused = halvesRefused
      self.survivesDoubt = survivesDoubt
      self.pause = pause
    }
  }

  private let kind: SyncUpTarget.Kind
  private let maxBatchSize: Int
  private let carrier: Carrier
  private let journal: Journal
  private let patience: Patience
  /// Whether composites read something after their writes.
  private let reads: Bool

  /// An engine for a target.
  package init(
    _ target: SyncUpTarget, _ carrier: Carrier, _ journal: Journal, patience: Patience = .none,
    reads: Bool = false
  ) {
    kind = target.kind
    maxBatchSize = target.maxBatchSize
    self.carrier = carrier
    self.journal = journal
    self.patience = patience
    self.reads = reads
  }

  /// Sends changes, in their order.
  package func send(_ changes: [Journal.Change]) async throws {
    let batches = SyncUpRequest.batches(
      changes, kind: kind, maxBatchSize: maxBatchSize, reads: reads)
    for batch in batches { try await send(batch, attempt: 1) }
  }

  /// Sends changes of a live store: the errors are a sync's.
  func sendAll(_ changes: [Journal.Change]) async throws(SyncError) {
    do {
      try await send(changes)
    } catch let error as SyncError {
      throw error
    } catch let error as OrgError {
      throw SyncError(error, isWrite: true)
    } catch {
      throw SyncError(.store, "\(error)")
    }
  }

  private func send(_ batch: SyncUpRequest.Batch<Journal.Change>, attempt: Int) async throws {
    let changes = try await journal.prepare(batch.changes)
    if changes.isEmpty { return }
    let isLast = attempt >= patience.lockAttempts
    let intention = try journal.intend(changes)
    var answers: [RowAnswer]
    var read: CompositeResult?
    do {
      (answers, read) = try await carry(changes, batch.form)
    } catch let error as OrgError {
      if error.isAmbiguous {
        let words = "no answer came back: \(error.message)"
        try await journal.settle(
          changes.map { ($0, .unknown(words)) }, of: intention, read: nil, isLast: true)
        if patience.survivesDoubt { return }
        throw error
      }
      if patience.halvesRefused, error.isAboutTheObject {
        let rest = SyncUpRequest.Batch(form: batch.form, changes: changes)
        return try await refused(rest, error, intention, attempt: attempt)
      }
      try journal.withdraw(intention)
      throw error
    }
    if !isLast { answers = Self.waitingForParent(changes, answers) }
    try await journal.settle(
      Array(zip(changes, answers)), of: intention, read: read, isLast: isLast)
    if isLast { return }
    let locked = zip(changes, answers).filter { if case .locked = $1 { true } else { false } }
    if locked.isEmpty { return }
    // Fewer rows at a time hold fewer locks.
    try await patience.pause(min(1000 << Int64(attempt - 1), 5000))
    for half in Self.halves(locked.map(\.0), batch.form) {
      try await send(half, attempt: attempt + 1)
    }
  }

  /// The answers of a tree whose parent another writer held: the org has refused the children for want of
  /// it, and they are tried again with it.
  private static func waitingForParent(
    _ changes: [Journal.Change], _ answers: [RowAnswer]
  ) -> [RowAnswer] {
    let isHeld = zip(changes, answers).contains { change, answer in
      guard change.write.isParent, case .locked = answer else { return false }
      return true
    }
    if !isHeld { return answers }
    return zip(changes, answers).map { change, answer in
      guard change.write.parentField != nil, case .refused(let refusal) = answer else {
        return answer
      }
      return .locked(refusal)
    }
  }

  /// One row can spoil a whole request: halves are sent until it stands alone.
  private func refused(
    _ batch: SyncUpRequest.Batch<Journal.Change>, _ error: OrgError,
    _ intention: Journal.Intention, attempt: Int
  ) async throws {
    guard batch.changes.count > 1, error.kind != .notFound, error.kind != .permission else {
      let refusal = RowRefusal(code: error.code, message: error.message, fields: error.fields)
      return try await journal.settle(
        batch.changes.map { ($0, .refused(refusal)) }, of: intention, read: nil, isLast: true)
    }
    try journal.withdraw(intention)
    for half in Self.halves(batch.changes, batch.form) {
      try await send(half, attempt: attempt)
    }
  }

  private func carry(
    _ changes: [Journal.Change], _ form: SyncUpRequest.Form
  ) async throws -> ([RowAnswer], CompositeResult?) {
    switch carrier {
    case .custom(let carry):
      var answers: [RowAnswer] = []
      for change in changes { answers.append(try await carry(change.write)) }
      return (answers, nil)
    case .org(let session):
      return try await SyncUpRequest(
        form, changes.map(\.write), read: reads ? journal.read(after: changes) : nil
      ).send(session)
    }
  }

  private static func halves(
    _ changes: [Journal.Change], _ form: SyncUpRequest.Form
  ) -> [SyncUpRequest.Batch<Journal.Change>] {
    let half = changes.count / 2
    let parts = half == 0 ? [changes] : [Array(changes[..<half]), Array(changes[half...])]
    return parts.map { SyncUpRequest.Batch(form: form, changes: $0) }
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

  /// Whether another request would fare no better: the org is out of reach, or takes no more.
  package var isOutage: Bool {
    switch kind {
    case .unreachable, .timeout, .certificate, .limit: true
    default: false
    }
  }
}
