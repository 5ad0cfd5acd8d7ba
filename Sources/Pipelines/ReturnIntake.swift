import Bundles
import Ledger
import Returns
import SmartStore
import Snapshots
import System

/// What an ingest does with one return before it asks the ledger: it is copied, proved and read.
///
/// Nothing here depends on other returns, so that several may be at it at once, each on a thread of its own. What it
/// finds is told afterwards, in the order of the returns.
struct ReturnIntake: Sendable {
  let pipeline: Pipeline
  let data: DataDirectory
  let inbox: Inbox
  let expectation: ReturnValidator.Expectation
  let stamps: ProvenanceKey
  let recoveries: [Recovery]
  /// When the returns come that the run takes.
  let arrivals: Int64
  let rooms: FileRooms

  /// Room for stores that are read from memory, and not from the disk once more: those of up to 64 MiB.
  static func rooms() -> FileRooms { FileRooms(most: roomBytes, margin: Store.imageMargin) }

  private static let roomBytes = 64 << 20

  /// Says whether a return may take so much time, memory or room on the disk that nothing is done beside it: only of
  /// a plain store does its length tell how much it is.
  static func isLarge(_ path: String, _ kind: TakenReturn.Kind) -> Bool {
    guard kind == .store, let bytes = try? Files.size(of: path) else { return true }
    return bytes > roomBytes
  }

  /// A return that was proved and read, with what a person should know of it.
  struct Reading: Sendable {
    var warnings: [String] = []
    var result: Result<ReadReturn, any Error>
  }

  /// A candidate that was copied, and read unless its content seems to be finished with.
  struct Prepared: Sendable {
    var copying: Result<Inbox.Copying, any Error>
    var reading: Reading?
    /// The private directory of its proof.
    var work: String
  }

  /// A private directory for the proof of a return; what a run that dies leaves there the next one removes.
  func workDirectory() -> String { DurableFile.temporaryName(for: data.returns + "/proof") }

  // MARK: what is done beside others

  /// Copies a candidate, and reads the copy while the disk writes it.
  func prepare(_ candidate: Inbox.Candidate, at milliseconds: Int64, turn: Int) -> Prepared {
    rooms.lending { room in
      var prepared = Prepared(copying: .success(.gone), work: workDirectory())
      prepared.copying = Result {
        try Task.checkCancellation()
        if candidate.refusal == nil, candidate.kind == .store,
          Self.isLarge(candidate.path, candidate.kind),
          let refusal = try ReturnValidator(expectation).refusalByHeader(
            candidate.path, name: candidate.name)
        {
          return .left(refusal)
        }
        let copying = try inbox.copy(
          candidate, now: milliseconds, order: arrivals, turn: turn, keeping: room)
        guard case .copied(let copied) = copying else { return copying }
        do {
          // Where the ledger does not have it after all, it is read when it is taken.
          if !inbox.mayBeDuplicate(copied.taken.sha256) {
            prepared.reading = read(copied.taken, in: prepared.work, image: room.content)
          }
          try inbox.synchronize(copied)
        } catch {
          inbox.drop(copied)
          throw error
        }
        return copying
      }
      return prepared
    }
  }

  /// Whether something failed for which those beside it may be the reason: they have the room, or the descriptors.
  static func isInTrouble(_ prepared: Prepared) -> Bool {
    trouble(prepared.copying) || isInTrouble(prepared.reading)
  }

  /// The same of a return that was taken before.
  static func isInTrouble(_ reading: Reading?) -> Bool {
    reading.map { trouble($0.result) } ?? false
  }

  private static func trouble<Success>(_ result: Result<Success, any Error>) -> Bool {
    if case .failure(let error) = result { MachineTrouble(of: error) != nil } else { false }
  }

  /// Lets go of what was prepared and is not taken; what cannot be removed the next run removes.
  func drop(_ prepared: Prepared) {
    if case .success(.copied(let copied)) = prepared.copying { inbox.drop(copied) }
    try? Files.remove(prepared.work)
  }

  /// Proves what was taken, and reads its edits; `image` is its content, where that is at hand.
  func read(
    _ taken: TakenReturn, in work: String, image: UnsafeMutableRawBufferPointer? = nil
  ) -> Reading {
    var warnings: [String] = []
    let result = Result {
      try Task.checkCancellation()
      let open = OpenStores()
      defer { open.close() }
      let validated = try ReturnValidator(expectation).validate(
        taken, in: work, image: image, open: open
      ) {
        try issuedStores(to: $0, taken.name, &warnings)
      }
      try refuseExpired(validated, taken, &warnings)
      return try read(validated, taken, open, &warnings)
    }
    return Reading(warnings: warnings, result: result)
  }

  private func read(
    _ validated: ValidatedReturn, _ taken: TakenReturn, _ open: OpenStores,
    _ warnings: inout [String]
  ) throws -> ReadReturn {
    warnings += validated.notes
    var result = ReadReturn(validated: validated, parts: [])
    for (stamp, stores) in validated.storesByStamp {
      let issued = try issued(stamp, validated.sourceName, &warnings)
      let isKnown = isKnown(stamp)
      if !isKnown || !Files.exists(data.issued(stamp.generation, of: stamp.user)) {
        let why =
          isKnown ? "is not kept any more (keep.issuedRecordDays)" : "this ledger does not know"
        warnings.append(
          "\(taken.name): what generation \(stamp.generation) issued \(why): "
            + "its edits are compared as the SDK compares")
      }
      let reading = ReturnReading(
        pipeline: pipeline, data: data, issued: issued, hasRecords: isKnown)
      var part = ReadReturn.Part(
        row: row(stamp, issued, validated, taken), stampID: stamp.stampID, reading: reading)
      for store in stores {
        warnings += alteredSoups(store, issued).map { "\(taken.name): \($0)" }
        part.row.marks[store.key] = store.stamp.carried
        if store.isUntouched { continue }
        let found = try reading.read(
          store, of: taken.name, platform: validated.platform, open: open)
        part.stores.append((store, found))
      }
      warnings += part.stores.flatMap(\.found.warnings).map { "\(taken.name): \($0)" }
      part.takeStock()
      if stamp.stampID == validated.stamp.stampID {
        for key in absent(from: validated, issued) { part.row.marks[key] = ReturnRow.absent }
      }
      result.parts.append(part)
    }
    return result
  }

  // MARK: what was issued

  /// Refuses a return of a bundle that was good no more when this run began, where the pipeline wants
  /// that.
  ///
  /// The newest bundle of the generation counts: which one a device has, its store does not say. A
  /// generation that is not kept any more is older than every bundle that is good.
  private func refuseExpired(
    _ validated: ValidatedReturn, _ taken: TakenReturn, _ warnings: inout [String]
  ) throws {
    if pipeline.inbox.acceptExpired { return }
    let stamp = validated.stamp
    let expiry = try expires(validated, &warnings)
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
    taken.isIngestedAgain ? min(taken.order, arrivals) : arrivals
  }

  private func expires(_ validated: ValidatedReturn, _ warnings: inout [String]) throws -> Int64? {
    let stamp = validated.stamp
    // What a run issued of which this ledger does not know was issued after all that it knows.
    if !isKnown(stamp) { return .max }
    guard let created = try issued(stamp, validated.sourceName, &warnings)?.created else {
      return nil
    }
    let directory = data.generation(stamp.generation, of: stamp.user)
    let standard = pipeline.pack.expiry(from: created)
    if let pruned = try PrunedGeneration(directory: directory) {
      return pruned.goodUntil ?? standard
    }
    let bundles = try BundleName.list(in: directory, stamp.platform)
    let packed = try bundles.last.map { try BundleReader.inspect(directory + "/" + $0.text) }
    return packed?.expires ?? standard
  }

  /// The number of the ledger that issued a validated return.
  private func epoch(of stamp: Provenance) -> Int64 {
    Int64(stamps.epoch(of: stamp) ?? stamps.number)
  }

  /// Whether the ledger knows the generation that a return was issued in: after a recovery another one may
  /// bear its number.
  private func isKnown(_ stamp: Provenance) -> Bool {
    guard let last = recoveries.lastGeneration(ofEpoch: epoch(of: stamp), of: stamp.user) else {
      return true
    }
    return stamp.generation <= last
  }

  /// The record of the generation that a return was issued in; nil where it is not kept any more.
  ///
  /// One that cannot be read is no reason to refuse what a device did: it is told and done without.
  private func issued(
    _ stamp: Provenance, _ name: String, _ warnings: inout [String]
  ) throws -> GenerationRecord? {
    guard isKnown(stamp) else { return nil }
    let directory = SnapshotDirectory(path: data.snapshot(stamp.user))
    do throws(SnapshotError) {
      guard try directory.generations().contains(stamp.generation) else { return nil }
      return try directory.record(of: stamp.generation)
    } catch {
      warnings.append("\(name): what was issued to it cannot be looked up: \(error)")
      return nil
    }
  }

  /// The stores of the generation that a stamp names, with the names of their soups; nil where the generation
  /// is not kept any more.
  private func issuedStores(
    to stamp: Provenance, _ name: String, _ warnings: inout [String]
  ) throws -> [ReturnValidator.IssuedStore]? {
    try issued(stamp, name, &warnings)?.entries(of: stamp.platform).map { entry in
      ReturnValidator.IssuedStore(
        scope: entry.scope, storeName: entry.storeName,
        soups: entry.counts.keys.sorted().map { StoreConfig.Soup(soupName: $0, indexes: []) })
    }
  }

  /// The user's stores of a generation that did not come with a return: one comes back by itself.
  private func absent(
    from validated: ValidatedReturn, _ issued: GenerationRecord?
  ) -> Set<StoreKey> {
    let all =
      issued?.entries(of: validated.platform).filter { $0.scope == .user }.map(\.storeName)
      // Of one that is not kept any more: as the pipeline has them.
      ?? pipeline.stores(of: .user).map(\.storeName)
    return Set(all.map { StoreKey(scope: .user, storeName: $0) })
      .subtracting(validated.stores.map(\.key))
  }

  /// What the ledger keeps of a return, or of a store in it that has a stamp of its own.
  ///
  /// Such a store is handed back by whose bundle it came in, and where its app numbers only the
  /// user's store, with that number.
  private func row(
    _ stamp: Provenance, _ issued: GenerationRecord?, _ validated: ValidatedReturn,
    _ taken: TakenReturn
  ) -> ReturnRow {
    let whole = validated.stamp
    let isWhole = stamp.stampID == whole.stampID
    let numbered = stamp.install == nil ? whole : stamp
    var row = ReturnRow(
      sha256: validated.sha256 + (isWhole ? "" : ":" + stamp.stampID), sourceName: taken.name,
      stampID: stamp.stampID, snapshotID: whole.user, generation: Int64(stamp.generation),
      platform: validated.platform.rawValue, install: numbered.install,
      handback: numbered.handback.map(Int64.init), arrived: arrival(of: taken),
      issued: issued?.created, soupTotals: [:])
    row.epoch = epoch(of: stamp)
    return row
  }
}
