import Bundles
import JSON
import Reconciliation
import SmartStore
import System

extension PipelineRun {
  /// Takes the returns that are there, proves each, and records its edits; one that fails is put
  /// into quarantine and the rest goes on.
  func ingest() throws {
    let inbox = Inbox(
      directory: data.inbox(pipeline.inbox.path), root: data.path,
      settleSeconds: pipeline.inbox.settleSeconds,
      fileBytes: Int64(pipeline.inbox.fileMiB) << 20)
    try checkSnapshot(options.asSnapshot)
    let candidates = try candidates(inbox)
    if options.isDryRun {
      for candidate in candidates {
        summary.plan.append("ingest: \(candidate.name), a \(candidate.kind.rawValue)")
      }
      return
    }
    // A run that died left these between the inbox and the ledger.
    for taken in try inbox.unfinished() { try ingest(taken, inbox) }
    for candidate in candidates {
      try Task.checkCancellation()
      try take(candidate, inbox)
    }
    // The inbox was looked at as a whole: what was left in it before is taken, left again, or gone.
    if options.files.isEmpty { try state.settleEarlierFindings(.returnLeft, by: row.id) }
  }

  /// Keeps that a file stays in the inbox, and why: it is told of until it is gone.
  private func noteLeft(_ name: String, _ path: String, _ refusal: Refusal) throws {
    try note(
      .returnLeft, path,
      [
        "name": .string(name), "path": .string(path), "code": .string(refusal.code.rawValue),
        "reason": .string(refusal.sentence), "mend": .string(refusal.mend),
      ])
  }

  private func candidates(_ inbox: Inbox) throws -> [Inbox.Candidate] {
    guard !options.files.isEmpty else {
      return try inbox.candidates(now: Clock.wallMilliseconds()).filter(\.isSettled)
    }
    return try options.files.map { path in
      guard let candidate = try inbox.candidate(named: path) else {
        throw PipelineError(
          .configuration, "ingest.no-file", "there is no file to ingest", location: path,
          fix: "name a store file or a bundle")
      }
      return candidate
    }
  }

  private func take(_ candidate: Inbox.Candidate, _ inbox: Inbox) throws {
    if let refusal = candidate.refusal {
      summary.returns.quarantined += 1
      try noteLeft(candidate.name, candidate.path, refusal)
      return report(
        .returnQuarantined(
          name: candidate.name, code: refusal.code.rawValue,
          reason: "\(refusal.sentence); \(refusal.mend)"))
    }
    let isInInbox = Files.parent(of: candidate.path) == inbox.directory
    let taking = try inbox.take(
      candidate, now: Clock.wallMilliseconds(), keepsOriginal: !isInInbox)
    switch taking {
    case .taken(let taken): try ingest(taken, inbox, as: options.asSnapshot)
    case .duplicate(let sha256):
      summary.returns.known += 1
      // Not where this run has accepted it itself, before it died between two copies.
      if try !state.hasFound(.returnAccepted, sha256, run: row.id) {
        try note(.returnKnown, candidate.path, ["name": .string(candidate.name)])
      }
      report(.returnKnown(name: candidate.name))
    case .gone: warn("\(candidate.name) changed while it was taken; the next run takes it")
    }
  }

  private func ingest(
    _ taken: TakenReturn, _ inbox: Inbox, as snapshot: (id: String, generation: Int)? = nil
  ) throws {
    let work = data.path + "/.tmp-proof-\(taken.sha256.prefix(16))"
    try Files.remove(work)
    do {
      let proved = try Proof(try expectation(snapshot)).prove(taken, in: work)
      try refuseExpired(proved)
      try record(proved, taken)
      try inbox.finish(taken)
    } catch let refusal as Refusal {
      try inbox.quarantine(taken, refusal, now: Clock.wallMilliseconds())
      summary.returns.quarantined += 1
      try noteQuarantined(taken)
      report(
        .returnQuarantined(
          name: taken.name, code: refusal.code.rawValue,
          reason: "\(refusal.sentence); \(refusal.mend)"))
    }
    try Files.remove(work)
  }

  private func expectation(
    _ snapshot: (id: String, generation: Int)?
  ) throws -> Proof.Expectation {
    let limits = pipeline.inbox
    var expected = Proof.Expectation(
      org: try state.organizationID ?? "", pipeline: pipeline.name, key: try stamps().current,
      stores: pipeline.stores.map {
        Proof.IssuedStore(
          scope: $0.scope == .global ? .global : .user, storeName: $0.storeName,
          soups: $0.schema.soups)
      })
    expected.accepts = Set(limits.accept.map { $0 == .bundle ? .bundle : .store })
    expected.fileBytes = Int64(limits.fileMiB) << 20
    expected.limits.entries = limits.entries
    expected.limits.ratio = Int64(limits.ratio)
    expected.limits.entryBytes = Int64(limits.fileMiB) << 20
    expected.limits.totalBytes = Int64(limits.fileMiB) << 21
    expected.earlierKeys = try stamps().earlier
    expected.unsealing = try unsealing()
    expected.asSnapshot = snapshot.map {
      Proof.AsSnapshot(user: $0.id, generation: $0.generation)
    }
    return expected
  }

  /// Refuses a snapshot that was never issued: the return would be ingested for nobody, and could
  /// not be ingested again.
  private func checkSnapshot(_ named: (id: String, generation: Int)?) throws {
    guard let named else { return }
    let newest = try state.snapshotRow(id: named.id)?.generation ?? 0
    guard newest > 0, (1...newest).contains(Int64(named.generation)) else {
      throw PipelineError(
        .configuration, "ingest.no-snapshot",
        "there is no generation \(named.generation) of a snapshot \(named.id)",
        location: data.path, fix: "name a directory of users/ and one of the generations in it")
    }
  }

  // MARK: a proved return

  /// Refuses a return of a bundle that was good no more when this run began, where the pipeline wants
  /// that.
  ///
  /// The newest bundle of the generation counts: which one a device has, its store does not say. A
  /// generation that is not kept any more is older than every bundle that is good.
  private func refuseExpired(_ proved: ProvedReturn) throws {
    if pipeline.inbox.acceptExpired { return }
    let stamp = proved.stamp
    let expiry = try expires(stamp)
    if let expiry, expiry >= now { return }
    let since = expiry.map { "since " + Dates.utcSeconds($0) } ?? "for so long that it is not kept"
    throw Refusal(
      .expired,
      "\(proved.sourceName) comes from generation \(stamp.generation), whose bundle is good no more "
        + since,
      mend: "let the device install a newer bundle, or set inbox.acceptExpired to true and ingest "
        + "the file again")
  }

  private func expires(_ stamp: Stamp) throws -> Int64? {
    guard let created = try issued(stamp) else { return nil }
    let directory = data.generation(stamp.generation, of: stamp.user)
    let bundles = try bundles(in: directory, stamp.platform)
    let packed = try bundles.last.map { try BundleReader.inspect(directory + "/" + $0.name) }
    return packed?.expires ?? created + expiryMilliseconds
  }

  /// When the generation of a stamp was made; nil where it is not kept any more.
  private func issued(_ stamp: Stamp) throws -> Int64? {
    let directory = SnapshotDirectory(path: data.snapshot(stamp.user))
    guard try directory.generations().contains(stamp.generation) else { return nil }
    return try directory.record(of: stamp.generation).created
  }

  /// The soups that were not issued and are an app's own: nothing was read from them.
  private func leftAlone(_ proved: ProvedReturn, _ contents: ReturnContents) -> [String] {
    let read = Set(contents.totals.keys.map(\.soup))
    return Set(proved.stores.flatMap(\.unknownSoups)).subtracting(read).sorted()
  }

  private func record(_ proved: ProvedReturn, _ taken: TakenReturn) throws {
    for note in proved.notes { warn(note) }
    let reading = ReturnReading(pipeline: pipeline, data: data)
    let stamp = proved.stamp
    let issued = try issued(stamp)
    var contents = ReturnContents()
    for store in proved.stores {
      for soup in store.missingSoups + store.reindexedSoups {
        warn("\(taken.name): the app removed or changed the soup \"\(soup)\"")
      }
      if store.isUntouched { continue }
      let witnesses = try state.rowsToWitness(stampID: proved.stamp.stampID)
      try reading.add(
        store, platform: proved.platform, witnesses: witnesses, issued: issued, to: &contents)
    }
    let row = ReturnRow(
      sha256: proved.sha256, sourceName: taken.name, stampID: stamp.stampID,
      snapshotID: stamp.user, generation: Int64(stamp.generation),
      platform: proved.platform.rawValue, install: stamp.install,
      handback: stamp.handback.map(Int64.init), arrived: taken.arrived,
      issued: issued,
      soupTotals: contents.totals)
    let result = try state.record(
      return: row, edits: contents.edits, witnesses: contents.witnesses)
    if result.isKnown {
      summary.returns.known += 1
      return report(.returnKnown(name: taken.name))
    }
    summary.returns.ingested += 1
    summary.edits.found += contents.edits.count
    summary.edits.new += result.new
    summary.edits.known += result.known
    try note(
      .returnAccepted, proved.sha256,
      [
        "name": .string(taken.name), "sha256": .string(proved.sha256),
        "snapshot": .string(stamp.user), "generation": JSONValue(stamp.generation),
        "platform": .string(proved.platform.rawValue), "edits": JSONValue(contents.edits.count),
        "newEdits": JSONValue(result.new),
      ])
    report(
      .returnIngested(
        name: taken.name, snapshot: stamp.user, edits: contents.edits.count, new: result.new,
        leftAlone: leftAlone(proved, contents)))
  }
}
