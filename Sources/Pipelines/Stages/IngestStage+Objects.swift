import ObjectStore
import Returns
import System

extension IngestStage {
  /// The time after which a request to a store that does not answer is not repeated.
  private static let storeSeconds = 60

  /// Takes the returns in the object store, and removes the objects whose content is recorded.
  ///
  /// A fault of the store is a finding of the run, which continues. Returns whether every object was
  /// examined.
  func collect(_ inbox: Inbox) async throws -> Bool {
    guard run.options.files.isEmpty else { return true }
    guard let store = try openStore() else { return run.pipeline.inbox.store == nil }
    let limits = run.pipeline.inbox.limits
    let objects = ObjectInbox(
      store: store, settleSeconds: inbox.settleSeconds,
      mostBytes: TakenReturn.Kind.bundle.mostBytes(limits.fileBytes))
    // The copies do not change while they are read.
    var copies = inbox
    copies.recentNanoseconds = 0
    do {
      for batch in try await objects.arrivals(now: Clock.wallMilliseconds()) {
        try await collect(batch, of: objects, copies)
      }
      return true
    } catch let error as ObjectStoreError {
      try Task.checkCancellation()
      noteFault(error)
      return false
    }
  }

  /// Returns the store of returns; nil if there is none, or after a fault in its settings.
  private func openStore() throws -> (any ObjectStore)? {
    if let store = run.options.returnStore { return store }
    guard let settings = run.pipeline.inbox.store else { return nil }
    do {
      return try settings.open(
        run.variables, caFile: run.pipeline.org.caFile, deadlineSeconds: Self.storeSeconds)
    } catch {
      noteFault(error)
      return nil
    }
  }

  private func noteFault(_ error: any Error) {
    let error = PipelineError(describing: error)
    let reason = error.reason.map { ": " + $0 } ?? ""
    run.warn("returns were not collected: \(error.message)\(reason)")
    run.summary.findings.insert(
      error.kind == .configuration ? .notCollected : RunFinding(ofEnd: error.kind))
  }

  private func collect(
    _ batch: [ObjectInbox.Arrival], of objects: ObjectInbox, _ inbox: Inbox
  ) async throws {
    let directory = DurableFile.temporaryName(for: run.data.returns + "/objects")
    try Files.makeDirectory(directory)
    defer {
      // If this fails, the next run removes it.
      try? Files.remove(directory)
    }
    var fetched: [ObjectEntry] = []
    var candidates: [Inbox.Candidate] = []
    var places: [String: String] = [:]
    for (arrival, outcome) in zip(batch, try await objects.fetch(batch, into: directory)) {
      let place = objects.location(arrival.object)
      switch outcome {
      case .fetched(let object, let path):
        guard let candidate = try inbox.candidate(named: path) else { continue }
        places[path] = place
        candidates.append(candidate)
        fetched.append(object)
      case .gone: run.warn("\(arrival.name) was removed before it could be read")
      case .left(let refusal): try tell(.left(refusal), of: arrival.name, at: place)
      }
    }
    try await take(candidates, inbox) { places[$0.path] ?? $0.path }
    if isDryRun { return }
    let recorded = try fetched.filter { try isRecorded($0, inbox) }
    for (object, refusal) in zip(recorded, try await objects.remove(recorded)) {
      guard let refusal else { continue }
      try tell(.left(refusal), of: ObjectInbox.name(of: object.key), at: objects.location(object))
    }
  }

  /// Whether the content of an object is in the ledger or in the quarantine, so that the object is
  /// not needed any more.
  private func isRecorded(_ object: ObjectEntry, _ inbox: Inbox) throws -> Bool {
    guard let sha256 = object.sha256 else { return false }
    return try isKnown(sha256) || Files.exists(inbox.quarantine + "/" + sha256)
  }
}
