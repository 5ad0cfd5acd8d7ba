import Bundles
import JSON
import Ledger
import Reconciliation
import Returns
import SmartStore
import Snapshots
import System

/// Takes the returns from the inbox, has each validated, and records its edits.
struct IngestStage {
  let run: RunContext
  /// A dry run works on copies of the returns and of the ledger.
  private var isDryRun: Bool { run.options.isDryRun }

  /// Takes the returns that are there, validates each, and records its edits.
  ///
  /// Each file fails alone: what is wrong with one puts it into quarantine or leaves it where it is,
  /// with the reason told, and the rest goes on.
  func perform() throws {
    let inbox = Inbox(
      directory: run.data.inbox(run.pipeline.inbox.path), root: run.data.returns,
      settleSeconds: run.pipeline.inbox.settleSeconds,
      fileBytes: run.pipeline.inbox.limits.fileBytes)
    try checkSnapshot(run.options.asSnapshot)
    let candidates = try candidates(inbox)
    // A run that died left these between the inbox and the ledger.
    var processing = inbox
    processing.root = run.data.path
    for taken in isDryRun ? try processing.taken() : try inbox.unfinished() {
      try Task.checkCancellation()
      try settle(taken, inbox)
    }
    for name in try processing.strangers() {
      let refusal = Refusal(
        .unknown, "\(name) in \(processing.processing) is nothing that was taken from the inbox",
        fix: "take it out of there")
      try tell(
        ReturnOutcome(name: name, path: processing.processing + "/" + name, result: .left(refusal)))
    }
    for candidate in candidates {
      try Task.checkCancellation()
      try take(candidate, inbox)
    }
    // The inbox was looked at as a whole: what was left in it before is taken, left again, or gone.
    if run.options.files.isEmpty {
      try run.ledger.settleEarlierFindings(.returnLeft, by: run.row.id)
    }
  }

  /// That a file which was named is not there.
  static func missing(_ path: String) -> PipelineError {
    PipelineError(
      .configuration, "ingest.no-file", "there is no file to ingest", location: path,
      fix: "name a store file or a bundle")
  }

  private func candidates(_ inbox: Inbox) throws -> [Inbox.Candidate] {
    guard !run.options.files.isEmpty else {
      return try inbox.candidates(now: Clock.wallMilliseconds()).filter(\.hasStoodStill)
    }
    return try run.options.files.map { path in
      guard let candidate = try inbox.candidate(named: path) else {
        throw Self.missing(path)
      }
      return candidate
    }
  }

  private func take(_ candidate: Inbox.Candidate, _ inbox: Inbox) throws {
    let name = candidate.name
    let isInInbox = Files.parent(of: candidate.path) == inbox.directory
    let taking = try alone(name, places: []) {
      try inbox.take(
        candidate, now: Clock.wallMilliseconds(), order: run.times.arrivals,
        keepsOriginal: !isInInbox || isDryRun,
        isKnown: run.ledger.isKnown(sha256:))
    }
    switch taking {
    case .success(.taken(let taken)):
      try settle(taken, inbox, as: run.options.asSnapshot)
      if isDryRun { try Files.remove(taken.directory) }
    case .success(.duplicate(let sha256)):
      try tell(
        ReturnOutcome(name: name, path: candidate.path, sha256: sha256, result: .known))
    case .success(.gone): run.warn("\(name) was taken away before it could be read")
    case .success(.left(let refusal)), .failure(let refusal):
      try tell(ReturnOutcome(name: name, path: candidate.path, result: .left(refusal)))
    }
  }

  /// Proves what was taken and records its edits, or puts it into quarantine.
  private func settle(
    _ taken: TakenReturn, _ inbox: Inbox, as snapshot: (id: String, generation: Int)? = nil
  ) throws {
    let work = run.data.returns + "/.tmp-proof-\(taken.sha256.prefix(16))"
    let expectation = try expectation(snapshot)
    try Files.remove(work)
    if try run.ledger.isKnown(sha256: taken.sha256) { return try finishKnown(taken, inbox) }
    let ingested = try alone(taken.name, places: places(of: taken, work)) {
      let validated = try ReturnValidator(expectation).validate(taken, in: work) {
        try issuedStores(to: $0, taken.name)
      }
      try refuseExpired(validated, taken)
      let result = try record(validated, taken)
      if !isDryRun { try inbox.finish(taken) }
      return result
    }
    try Files.remove(work)
    switch ingested {
    case .success(let result): try tell(taken, taken.directory, result)
    case .failure(let refusal): try quarantine(taken, refusal, inbox)
    }
    if let remains = taken.remains {
      try tell(taken, inbox.directory + "/" + taken.name, .left(remains))
    }
  }

  /// Puts away what was taken once more: its copy was removed as it was old, or a run died before the copy was
  /// put away.
  private func finishKnown(_ taken: TakenReturn, _ inbox: Inbox) throws {
    let finished = isDryRun ? taken : try inbox.finish(taken)
    try tell(finished, finished.directory, .known)
  }

  private func tell(
    _ taken: TakenReturn, _ path: String, _ result: ReturnOutcome.Result
  ) throws {
    try tell(
      ReturnOutcome(name: taken.name, path: path, sha256: taken.sha256, result: result))
  }

  private func quarantine(_ taken: TakenReturn, _ refusal: Refusal, _ inbox: Inbox) throws {
    let kept = try alone(taken.name, places: []) {
      try inbox.quarantine(taken, refusal, now: Clock.wallMilliseconds()).directory
    }
    switch kept {
    case .success(let kept): try tell(taken, kept, .quarantined(taken, refusal))
    case .failure(let trouble):
      for refusal in [refusal, trouble] { try tell(taken, taken.directory, .left(refusal)) }
    }
  }

  /// Paths of ours that an error may name, with what a person calls them: the longest first.
  private func places(of taken: TakenReturn, _ work: String) -> [(path: String, name: String)] {
    let stores = run.pipeline.stores.indices.map { (path: "\(work)/\($0).db", name: taken.name) }
    return stores + [(path: work, name: taken.name), (path: taken.path, name: taken.name)]
  }

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
      // Of a generation from before a recovery, the key of then.
      let then = try run.recoveries().first {
        ($0.generations[snapshot.id] ?? 0) >= Int64(snapshot.generation)
      }
      let (key, epoch) = stamps.signer(then.map { Int($0.before) } ?? stamps.number)
      return ReturnValidator.AsSnapshot(
        user: snapshot.id, generation: snapshot.generation, key: key, epoch: epoch)
    }
    return expected
  }

  /// Refuses a snapshot that was never issued: the return would be ingested for nobody, and could
  /// not be ingested again.
  private func checkSnapshot(_ named: (id: String, generation: Int)?) throws {
    guard let named else { return }
    let newest = try run.ledger.snapshotRow(id: named.id)?.generation ?? 0
    guard newest > 0, (1...newest).contains(Int64(named.generation)) else {
      throw PipelineError(
        .configuration, "ingest.no-snapshot",
        "there is no generation \(named.generation) of a snapshot \(named.id)",
        location: run.data.path, fix: "name a directory of users/ and one of the generations in it")
    }
  }

  // MARK: a validated return

  /// Refuses a return of a bundle that was good no more when this run began, where the pipeline wants
  /// that.
  ///
  /// The newest bundle of the generation counts: which one a device has, its store does not say. A
  /// generation that is not kept any more is older than every bundle that is good.
  private func refuseExpired(_ validated: ValidatedReturn, _ taken: TakenReturn) throws {
    if run.pipeline.inbox.acceptExpired { return }
    let stamp = validated.stamp
    let expiry = try expires(validated)
    if let expiry, expiry >= arrival(of: taken) { return }
    let since = expiry.map { "since " + Dates.utcSeconds($0) } ?? "for so long that it is not kept"
    throw Refusal(
      .expired,
      "\(validated.sourceName) comes from generation \(stamp.generation), whose bundle is good no more "
        + since,
      fix: "let the device install a newer bundle, or set inbox.acceptExpired to true and ingest "
        + "the file again")
  }

  /// When a return came: this run, or that of then for what a recovery lets be ingested again.
  private func arrival(of taken: TakenReturn) -> Int64 {
    taken.isIngestedAgain ? min(taken.order, run.times.arrivals) : run.times.arrivals
  }

  private func expires(_ validated: ValidatedReturn) throws -> Int64? {
    let stamp = validated.stamp
    // What a run issued of which this ledger does not know was issued after all that it knows.
    if try !isKnown(stamp) { return .max }
    guard let created = try issued(stamp, validated.sourceName)?.created else { return nil }
    let directory = run.data.generation(stamp.generation, of: stamp.user)
    let standard = run.pipeline.pack.expiry(from: created)
    if let pruned = try PrunedGeneration(directory: directory) {
      return pruned.goodUntil ?? standard
    }
    let bundles = try PackStage.bundles(in: directory, stamp.platform)
    let packed = try bundles.last.map { try BundleReader.inspect(directory + "/" + $0.name) }
    return packed?.expires ?? standard
  }

  /// The number of the ledger that issued a validated return.
  private func epoch(of stamp: Provenance) throws -> Int64 {
    let stamps = try run.stamps()
    return Int64(stamps.epoch(of: stamp) ?? stamps.number)
  }

  /// Whether the ledger knows the generation that a return was issued in: after a recovery another one may
  /// bear its number.
  private func isKnown(_ stamp: Provenance) throws -> Bool {
    let epoch = try epoch(of: stamp)
    guard let last = try run.recoveries().lastGeneration(ofEpoch: epoch, of: stamp.user) else {
      return true
    }
    return stamp.generation <= last
  }

  /// The record of the generation that a return was issued in; nil where it is not kept any more.
  ///
  /// One that cannot be read is no reason to refuse what a device did: it is told and done without.
  private func issued(_ stamp: Provenance, _ name: String) throws -> GenerationRecord? {
    guard try isKnown(stamp) else { return nil }
    let directory = SnapshotDirectory(path: run.data.snapshot(stamp.user))
    do throws(SnapshotError) {
      guard try directory.generations().contains(stamp.generation) else { return nil }
      return try directory.record(of: stamp.generation)
    } catch {
      run.warn("\(name): what was issued to it cannot be looked up: \(error)")
      return nil
    }
  }

  /// The stores of the generation that a stamp names, with the names of their soups; nil where the generation
  /// is not kept any more.
  private func issuedStores(
    to stamp: Provenance, _ name: String
  ) throws -> [ReturnValidator.IssuedStore]? {
    try issued(stamp, name)?.entries(of: stamp.platform).map { entry in
      ReturnValidator.IssuedStore(
        scope: entry.scope, storeName: entry.storeName,
        soups: entry.counts.keys.sorted().map { StoreConfig.Soup(soupName: $0, indexes: []) })
    }
  }

  /// The soups that were not issued and are an app's own: nothing was read from them.
  private func leftAlone(_ validated: ValidatedReturn, _ contents: [EditReading]) -> [String] {
    let read = Set(contents.flatMap(\.totals.keys).map(\.soup))
    return Set(validated.stores.flatMap(\.unknownSoups)).subtracting(read).sorted()
  }

  private func record(
    _ validated: ValidatedReturn, _ taken: TakenReturn
  ) throws -> ReturnOutcome.Result {
    for note in validated.notes { run.warn(note) }
    var read: [(stamp: Provenance, contents: EditReading, row: ReturnRow)] = []
    for (stamp, stores) in validated.storesByStamp {
      let issued = try issued(stamp, validated.sourceName)
      let isKnown = try isKnown(stamp)
      if !isKnown || !Files.exists(run.data.issued(stamp.generation, of: stamp.user)) {
        let why = isKnown ? "is not kept any more (keep.basesDays)" : "this ledger does not know"
        run.warn(
          "\(taken.name): what generation \(stamp.generation) issued \(why): "
            + "its edits are compared as the SDK compares")
      }
      let contents = try contents(of: stores, stamp, issued, validated, taken)
      var row = try row(stamp, contents, issued, validated, taken)
      row.epoch = try epoch(of: stamp)
      for store in stores { row.marks[store.key] = store.stamp.carried }
      if stamp.stampID == validated.stamp.stampID {
        for key in absent(from: validated, issued) { row.marks[key] = ReturnRow.absent }
      }
      read.append((stamp, contents, row))
    }
    let whole = read.removeFirst()
    let result = try run.ledger.record(
      return: whole.row, edits: whole.contents.edits, witnesses: whole.contents.witnesses,
      parts: read.map {
        ReturnPart(row: $0.row, edits: $0.contents.edits, witnesses: $0.contents.witnesses)
      }, run: run.row.id)
    if result.isKnown { return .known }
    let contents = [whole.contents] + read.map(\.contents)
    return .accepted(
      whole.stamp, edits: contents.reduce(0) { $0 + $1.edits.count }, new: result.new,
      known: result.known, leftAlone: leftAlone(validated, contents))
  }

  /// The user's stores of a generation that did not come with a return: one comes back by itself.
  private func absent(
    from validated: ValidatedReturn, _ issued: GenerationRecord?
  ) -> Set<StoreKey> {
    let all =
      issued?.entries(of: validated.platform).filter { $0.scope == .user }.map(\.storeName)
      // Of one that is not kept any more: as the pipeline has them.
      ?? run.pipeline.stores(of: .user).map(\.storeName)
    return Set(all.map { StoreKey(scope: .user, storeName: $0) })
      .subtracting(validated.stores.map(\.key))
  }

  private func contents(
    of stores: [ValidatedStore], _ stamp: Provenance, _ issued: GenerationRecord?,
    _ validated: ValidatedReturn, _ taken: TakenReturn
  ) throws -> EditReading {
    let reading = ReturnReading(
      pipeline: run.pipeline, data: run.data, issued: issued, hasRecords: try isKnown(stamp))
    let witnesses = try run.ledger.rowsToWitness(
      stampIDs: [stamp.stampID, validated.stamp.stampID])
    var contents = EditReading()
    for store in stores {
      for soup in store.missingSoups + store.reindexedSoups {
        run.warn("\(taken.name): the app removed or changed the soup \"\(soup)\"")
      }
      if store.isUntouched { continue }
      try reading.add(store, platform: validated.platform, witnesses: witnesses, to: &contents)
    }
    for warning in contents.warnings { run.warn("\(taken.name): \(warning)") }
    return contents
  }

  /// What the ledger keeps of a return, or of a store in it that has a stamp of its own.
  ///
  /// Such a store is handed back by whose bundle it came in, and where its app numbers only the
  /// user's store, with that number.
  private func row(
    _ stamp: Provenance, _ contents: EditReading, _ issued: GenerationRecord?,
    _ validated: ValidatedReturn, _ taken: TakenReturn
  ) throws -> ReturnRow {
    let whole = validated.stamp
    let isWhole = stamp.stampID == whole.stampID
    let numbered = stamp.install == nil ? whole : stamp
    var row = ReturnRow(
      sha256: validated.sha256 + (isWhole ? "" : ":" + stamp.stampID), sourceName: taken.name,
      stampID: stamp.stampID, snapshotID: whole.user, generation: Int64(stamp.generation),
      platform: validated.platform.rawValue, install: numbered.install,
      handback: numbered.handback.map(Int64.init), arrived: arrival(of: taken),
      issued: issued?.created, soupTotals: contents.totals)
    row.compared = contents.compared
    return row
  }
}
