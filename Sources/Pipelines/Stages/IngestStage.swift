import Bundles
import JSON
import Ledger
import Returns
import SmartStore
import Snapshots
import System

/// Takes the returns from the inbox, has each validated, and records its edits.
///
/// Work that does not need the ledger is done for several returns concurrently (`ReturnIntake`).
/// Returns are then recorded one after another, so the ledger does not depend on the concurrency.
struct IngestStage {
  let run: RunContext
  /// Whether the stage works on copies of the returns and of the ledger.
  var isDryRun: Bool { run.options.isDryRun }
  private let rooms = ReturnIntake.rooms()

  init(run: RunContext) { self.run = run }

  /// Takes the waiting returns, validates each, and records its edits.
  ///
  /// Each file fails alone: a faulty return is quarantined or left in the inbox with its reason,
  /// and the stage continues with the others.
  func perform() async throws {
    let inbox = Inbox(
      directory: run.data.inbox(run.pipeline.inbox.path), root: run.data.returns,
      settleSeconds: run.pipeline.inbox.settleSeconds,
      fileBytes: run.pipeline.inbox.limits.fileBytes)
    try checkSnapshot(run.options.asSnapshot)
    let candidates = try candidates(inbox)
    // An interrupted run left these between the inbox and the ledger.
    var processing = inbox
    processing.root = run.data.path
    try await settle(isDryRun ? try processing.taken() : try inbox.unfinished(), inbox)
    for name in try processing.strangers() {
      let refusal = Refusal(
        .unknown, "\(name) in \(processing.processing) was not taken from the inbox",
        fix: "remove it from there")
      try tell(.left(refusal), of: name, at: processing.processing + "/" + name)
    }
    try await take(candidates, inbox)
    let isStoreExamined = try await collect(inbox)
    // The whole inbox was examined, so every earlier finding about it is outdated.
    if run.options.files.isEmpty, isStoreExamined {
      try run.ledger.settleFindings(.returnLeft, by: run.row.id)
    }
  }

  /// Throws if no file has this path: nothing does, or a directory.
  static func checkFile(_ path: String) throws(PipelineError) {
    if Files.isDirectory(path) {
      throw PipelineError(
        .configuration, "ingest.directory", "the file to ingest is a directory", location: path,
        fix: "name the file itself")
    }
    if !Files.exists(path) { throw missing(path) }
  }

  private static func missing(_ path: String) -> PipelineError {
    PipelineError(
      .configuration, "ingest.no-file", "the file to ingest does not exist", location: path,
      fix: "name a store file or a bundle")
  }

  private func candidates(_ inbox: Inbox) throws -> [Inbox.Candidate] {
    guard !run.options.files.isEmpty else {
      return try inbox.candidates(now: Clock.wallMilliseconds()).filter(\.hasStoodStill)
    }
    return try run.options.files.map { path in
      try Self.checkFile(path)
      guard let candidate = try inbox.candidate(named: path) else {
        throw Self.missing(path)
      }
      return candidate
    }
  }

  // MARK: concurrent work

  /// How many returns are copied, validated and read concurrently.
  ///
  /// More tasks than cores would only slow each other down, and each task has a time limit. A dry
  /// run makes its copies in its scratch directory, one at a time.
  private var atOnce: Int {
    isDryRun ? 1 : min(run.pipeline.limits.jobs, max(2, Parallel.cores))
  }

  private func intake(
    _ inbox: Inbox, as snapshot: (id: String, generation: Int)? = nil
  ) throws -> ReturnIntake {
    ReturnIntake(
      pipeline: run.pipeline, data: run.data, inbox: inbox,
      expectation: try expectation(snapshot), stamps: try run.stamps(),
      recoveries: try run.recoveries(), arrivals: run.times.arrivals, rooms: rooms)
  }

  private func settle(_ unfinished: [TakenReturn], _ inbox: Inbox) async throws {
    if unfinished.isEmpty { return }
    let intake = try intake(inbox)
    let known = try Set(unfinished.map(\.sha256).filter(isKnown))
    try await OrderedWork.perform(
      unfinished, atOnce: atOnce, name: "ingest",
      isAlone: { ReturnIntake.isLarge($0.path, $0.kind) },
      failedBesideOthers: ReturnIntake.isInTrouble
    ) { _, taken in
      intake.prepare(taken, isKnown: known.contains(taken.sha256))
    } take: { taken, prepared in
      defer { prepared.removeWork() }
      try settle(taken, prepared, intake)
    } drop: {
      intake.drop($0)
    }
  }

  /// `place` is the path or address of a candidate in messages.
  func take(
    _ candidates: [Inbox.Candidate], _ inbox: Inbox,
    place: (Inbox.Candidate) -> String = { $0.path }
  ) async throws {
    if candidates.isEmpty { return }
    let intake = try intake(inbox, as: run.options.asSnapshot)
    // Returns are recorded in the order of their arrival, whichever validation started first.
    let now = Clock.wallMilliseconds()
    try await OrderedWork.perform(
      candidates, atOnce: atOnce, name: "ingest",
      isAlone: { ReturnIntake.isLarge($0.path, $0.kind) || $0.hasLog },
      failedBesideOthers: ReturnIntake.isInTrouble
    ) { index, candidate in
      intake.prepare(candidate, at: now, turn: index + 1)
    } take: { candidate, prepared in
      try take(candidate, at: place(candidate), prepared, intake)
    } drop: {
      intake.drop($0)
    }
  }

  // MARK: sequential work

  private func take(
    _ candidate: Inbox.Candidate, at place: String, _ prepared: ReturnIntake.Prepared,
    _ intake: ReturnIntake
  ) throws {
    let (name, inbox) = (candidate.name, intake.inbox)
    let isInInbox = Files.parent(of: candidate.path) == inbox.directory
    defer { prepared.removeWork() }
    let taking = try alone(name, places: []) { () -> Inbox.Taking in
      switch try prepared.copying?.get() {
      case .copied(let copied)?:
        return try inbox.take(
          copied, keepsOriginal: !isInInbox || isDryRun, isKnown: isKnown)
      case .gone?, nil: return .gone
      case .left(let refusal)?: return .left(refusal)
      }
    }
    switch taking {
    case .success(.taken(let taken)):
      try settle(taken, prepared, intake)
      if isDryRun { try Files.remove(taken.directory) }
    case .success(.duplicate(let sha256)):
      try tell(.known, of: name, at: place, sha256: sha256)
    case .success(.gone): run.warn("\(name) was removed before it could be read")
    case .success(.left(let refusal)), .failure(let refusal):
      try tell(.left(refusal), of: name, at: place)
    }
  }

  /// Records the edits of a taken return, or quarantines it.
  private func settle(
    _ taken: TakenReturn, _ prepared: ReturnIntake.Prepared, _ intake: ReturnIntake
  ) throws {
    let inbox = intake.inbox
    if try isKnown(taken.sha256) { return try finishKnown(taken, inbox) }
    let ingested = try alone(taken.name, places: places(of: taken, prepared)) {
      let reading = prepared.reading ?? intake.read(taken, in: prepared.work)
      for warning in reading.warnings { run.warn(warning) }
      let read = try reading.result.get()
      try LedgerCheck.checkIssued(
        read.map(\.stamp), run.stamps(), run.ledger, run.data, taken.name)
      return try enter(read, intake)
    }
    switch ingested {
    case .success(let result):
      let path = try isDryRun ? taken.directory : putAway(taken, inbox).directory
      try tell(result, of: taken.name, at: path, sha256: taken.sha256)
    case .failure(let refusal): try quarantine(taken, refusal, inbox)
    }
    if let remains = taken.remains {
      try tell(.left(remains), of: taken.name, at: inbox.directory + "/" + taken.name)
    }
  }

  /// Moves away a return that was taken again, because its copy was already pruned, or because a
  /// run was interrupted before it moved the copy.
  private func finishKnown(_ taken: TakenReturn, _ inbox: Inbox) throws {
    let finished = isDryRun ? taken : try putAway(taken, inbox)
    try tell(.known, of: taken.name, at: finished.directory, sha256: taken.sha256)
  }

  /// Moves a recorded return to `done`.
  ///
  /// If the move fails, the edits are safe anyway: the file stays where it is, and the next run
  /// moves it.
  private func putAway(_ taken: TakenReturn, _ inbox: Inbox) throws -> TakenReturn {
    do {
      return try inbox.finish(taken)
    } catch {
      if try isOwnTrouble(error) { throw error }
      let words = PipelineError(describing: error).reason ?? "\(error)"
      run.warn(
        "\(taken.name) was ingested, and stays in \(taken.directory), as it cannot be moved: \(words)"
      )
      return taken
    }
  }

  /// Whether the edits of a return are in the ledger.
  func isKnown(_ sha256: String) throws -> Bool {
    try run.ledger.returned(sha256: sha256) != nil
  }

  private func quarantine(_ taken: TakenReturn, _ refusal: Refusal, _ inbox: Inbox) throws {
    let kept = try alone(taken.name, places: []) {
      try inbox.quarantine(taken, refusal, now: Clock.wallMilliseconds()).directory
    }
    switch kept {
    case .success(let kept): try tell(.quarantined(taken, refusal), of: taken.name, at: kept)
    case .failure(let trouble):
      for refusal in [refusal, trouble] {
        try tell(.left(refusal), of: taken.name, at: taken.directory)
      }
    }
  }

  /// Returns the paths of ours that an error may contain, with the names that operators know,
  /// longest first.
  private func places(
    of taken: TakenReturn, _ prepared: ReturnIntake.Prepared
  ) -> [(path: String, name: String)] {
    let stores = run.pipeline.stores.indices.map {
      (path: "\(prepared.work)/\($0).db", name: taken.name)
    }
    return stores
      + [prepared.work, prepared.path, taken.path].filter { !$0.isEmpty }.map { ($0, taken.name) }
  }

  /// Writes the edits of a return to the ledger.
  private func enter(
    _ parts: [ReturnIntake.Part], _ intake: ReturnIntake
  ) throws -> ReturnOutcome {
    let whole = parts[0].stamp
    let rows = try parts.map { part in
      try intake.entry(
        part, run.ledger.rowsToWitness(stampIDs: [part.stamp.stampID, whole.stampID]))
    }
    let result = try run.ledger.record(
      return: rows[0], parts: Array(rows.dropFirst()), run: run.row.id)
    if result.isKnown { return .known }
    return .accepted(
      whole, edits: rows.reduce(0) { $0 + $1.edits.count }, new: result.new, known: result.known,
      leftAlone: ReturnIntake.leftAlone(by: parts))
  }

  // MARK: expectations

  private func expectation(
    _ snapshot: (id: String, generation: Int)?
  ) throws -> ReturnValidator.Expectation {
    let inbox = run.pipeline.inbox
    var expected = ReturnValidator.Expectation(
      org: try run.ledger.organizationID ?? "", pipeline: run.pipeline.name,
      key: try run.stamps().current,
      stores: run.pipeline.stores.map {
        ReturnValidator.IssuedStore(
          scope: $0.scope, storeName: $0.storeName,
          soups: $0.schema.soups)
      })
    expected.accepts = Set(inbox.accept)
    expected.fileBytes = inbox.limits.fileBytes
    expected.limits = inbox.limits.archive
    let stamps = try run.stamps()
    expected.isOfAnotherLedger = { stamp in
      stamps.epoch(of: stamp).map { $0 != stamps.number } ?? false
    }
    expected.isRecovered = try !run.recoveries().isEmpty
    expected.unsealing = try SealingKeys(run: run).unsealing()
    expected.asSnapshot = try snapshot.map { snapshot in
      // A generation from before a recovery is verified with the key of that time.
      let then = try run.recoveries().first {
        ($0.generations[snapshot.id] ?? 0) >= Int64(snapshot.generation)
      }
      let (key, epoch) = stamps.signer(then.map { Int($0.before) } ?? stamps.number)
      return ReturnValidator.AsSnapshot(
        user: snapshot.id, generation: snapshot.generation, key: key, epoch: epoch)
    }
    return expected
  }

  /// Throws if the snapshot was never issued.
  ///
  /// Its edits would belong to no user, and the same file could not be ingested again later.
  private func checkSnapshot(_ named: (id: String, generation: Int)?) throws {
    guard let named else { return }
    let newest = try run.ledger.snapshotRow(id: named.id)?.generation ?? 0
    guard newest > 0, (1...newest).contains(Int64(named.generation)) else {
      throw PipelineError(
        .configuration, "ingest.no-snapshot",
        "there is no generation \(named.generation) of a snapshot \(named.id)",
        location: run.data.path,
        fix: "write SNAPSHOT/GENERATION: the user's 18-character ID, which is a directory in "
          + "users/, or global; and the number of a generation that was issued to it")
    }
  }
}
