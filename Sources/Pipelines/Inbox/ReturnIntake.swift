import Bundles
import Ledger
import Returns
import SmartStore
import Snapshots
import System

/// The part of an ingest that needs no ledger: copying, validating and reading one return.
///
/// It does not depend on other returns, so several run concurrently, each on its own thread.
/// Results are reported afterwards, in the order of the returns.
struct ReturnIntake: Sendable {
  let pipeline: Pipeline
  let data: DataDirectory
  let inbox: Inbox
  let expectation: ReturnValidator.Expectation
  let stamps: ProvenanceKey
  let recoveries: [Recovery]
  /// The arrival time of the run's returns.
  let arrivals: Int64
  let rooms: FileRooms

  /// Memory buffers for stores of up to 64 MiB, which are then read without a second disk access.
  static func rooms() -> FileRooms { FileRooms(most: roomBytes, margin: Store.imageMargin) }

  private static let roomBytes = 64 << 20

  /// Whether a return may need so much time, memory or disk space that it must be processed alone.
  ///
  /// Only for a plain store does the file size tell.
  static func isLarge(_ path: String, _ kind: TakenReturn.Kind) -> Bool {
    guard kind == .store, let bytes = try? Files.size(of: path) else { return true }
    return bytes > roomBytes
  }

  /// A return that was validated and read, its own stamp first, with its warnings.
  struct Reading: Sendable {
    var warnings: [String] = []
    var result: Result<[Part], any Error>
  }

  /// A copied candidate or a return that was taken before, already read unless its content seems to
  /// be known.
  struct Prepared: Sendable {
    /// The work directory of its validation.
    var work: String
    /// The path of the return when it was read; empty if there is none.
    var path = ""
    var reading: Reading?
    /// The copy of a candidate; nil for a return that was taken before.
    var copying: Result<Inbox.Copying, any Error>?

    /// Removes the work directory.
    ///
    /// If that fails, the next run removes it.
    func removeWork() { try? Files.remove(work) }
  }

  /// A return with a new work directory.
  ///
  /// If the run is interrupted, the next one removes the directory.
  private func unread(_ path: String = "") -> Prepared {
    Prepared(work: DurableFile.temporaryName(for: data.returns + "/proof"), path: path)
  }

  // MARK: concurrent work

  /// Copies a candidate, and reads the copy while it is being written to disk.
  func prepare(_ candidate: Inbox.Candidate, at milliseconds: Int64, turn: Int) -> Prepared {
    rooms.lending { room in
      var prepared = unread()
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
        prepared.path = copied.taken.path
        do {
          // If the ledger does not know it after all, it is read when it is taken.
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

  /// Reads a return that was taken before, unless the ledger knows it.
  func prepare(_ taken: TakenReturn, isKnown: Bool) -> Prepared {
    var prepared = unread(taken.path)
    if !isKnown { prepared.reading = read(taken, in: prepared.work) }
    return prepared
  }

  /// Whether the failure may be caused by concurrent work that uses up memory, disk space or
  /// descriptors.
  static func isInTrouble(_ prepared: Prepared) -> Bool {
    prepared.copying.map(trouble) == true || prepared.reading.map { trouble($0.result) } == true
  }

  private static func trouble<Success>(_ result: Result<Success, any Error>) -> Bool {
    if case .failure(let error) = result { MachineTrouble(of: error) != nil } else { false }
  }

  /// Removes a prepared candidate that is not taken.
  func drop(_ prepared: Prepared) {
    if case .success(.copied(let copied))? = prepared.copying { inbox.drop(copied) }
    prepared.removeWork()
  }

  /// Validates a taken return and reads its edits.
  ///
  /// `image` is its content, if available in memory.
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
  ) throws -> [Part] {
    warnings += validated.notes
    var parts: [Part] = []
    for (stamp, stores) in validated.storesByStamp {
      let issued = try issued(stamp, validated.sourceName, &warnings)
      let isKnown = isKnown(stamp)
      if !isKnown || !Files.exists(data.issued(stamp.generation, of: stamp.user)) {
        let why =
          isKnown ? "are no longer kept (keep.issuedRecordDays)" : "are unknown to this ledger"
        warnings.append(
          "\(taken.name): the issued records of generation \(stamp.generation) \(why): "
            + "its edits are compared as the SDK does")
      }
      var part = Part(
        stamp: stamp, platform: validated.platform, issued: issued, hasRecords: isKnown,
        row: row(stamp, issued, validated, taken))
      for store in stores {
        warnings += alteredSoups(store, issued).map { "\(taken.name): \($0)" }
        try add(store, to: &part, of: taken.name, open: open)
      }
      warnings += part.stores.flatMap(\.found.warnings).map { "\(taken.name): \($0)" }
      if stamp.stampID == validated.stamp.stampID {
        for key in absent(from: validated, issued) { part.row.marks[key] = ReturnRow.absent }
      }
      parts.append(part)
    }
    return parts
  }

  // MARK: issued generations

  /// Refuses a return if its bundle had expired when this run started and the pipeline rejects
  /// expired returns.
  ///
  /// The newest bundle of the generation counts, because a store does not tell which bundle it came
  /// from. A generation that is no longer kept is older than every valid bundle.
  private func refuseExpired(
    _ validated: ValidatedReturn, _ taken: TakenReturn, _ warnings: inout [String]
  ) throws {
    if pipeline.inbox.acceptExpired { return }
    let stamp = validated.stamp
    let expiry = try expires(validated, &warnings)
    if let expiry, expiry >= arrival(of: taken) { return }
    let since = expiry.map { "since " + Dates.utcSeconds($0) } ?? "too long ago to be kept"
    throw Refusal(
      .expired,
      "\(validated.sourceName) comes from generation \(stamp.generation), whose bundle has expired "
        + since,
      fix: "let the device install a newer bundle, or set inbox.acceptExpired to true and ingest "
        + "the file again")
  }

  /// The arrival time of a return: that of this run, or the original one if a recovery lets it be
  /// ingested again.
  private func arrival(of taken: TakenReturn) -> Int64 {
    taken.isIngestedAgain ? min(taken.order, arrivals) : arrivals
  }

  private func expires(_ validated: ValidatedReturn, _ warnings: inout [String]) throws -> Int64? {
    let stamp = validated.stamp
    // A generation that this ledger does not know was issued after all that it knows.
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

  /// Returns the number of the ledger that issued a validated return.
  private func epoch(of stamp: Provenance) -> Int64 {
    Int64(stamps.epoch(of: stamp) ?? stamps.number)
  }

  /// Whether the ledger knows the generation of a return.
  ///
  /// After a recovery, another generation may have the same number.
  private func isKnown(_ stamp: Provenance) -> Bool {
    guard let last = recoveries.lastGeneration(ofEpoch: epoch(of: stamp), of: stamp.user) else {
      return true
    }
    return stamp.generation <= last
  }

  /// Returns the record of the return's generation; nil if it is no longer kept.
  ///
  /// An unreadable record does not refuse a return: it is reported, and the return is read
  /// without it.
  private func issued(
    _ stamp: Provenance, _ name: String, _ warnings: inout [String]
  ) throws -> GenerationRecord? {
    guard isKnown(stamp) else { return nil }
    let directory = SnapshotDirectory(path: data.snapshot(stamp.user))
    do throws(SnapshotError) {
      guard try directory.generations().contains(stamp.generation) else { return nil }
      return try directory.record(of: stamp.generation)
    } catch {
      warnings.append("\(name): its issued records cannot be read: \(error)")
      return nil
    }
  }

  /// Returns the stores of the stamp's generation with the names of their soups; nil if the
  /// generation is no longer kept.
  private func issuedStores(
    to stamp: Provenance, _ name: String, _ warnings: inout [String]
  ) throws -> [ReturnValidator.IssuedStore]? {
    try issued(stamp, name, &warnings)?.entries(of: stamp.platform).map { entry in
      ReturnValidator.IssuedStore(
        scope: entry.scope, storeName: entry.storeName,
        soups: entry.counts.keys.sorted().map { StoreConfig.Soup(soupName: $0, indexes: []) })
    }
  }

  /// Returns the user's stores of a generation that did not come with the return, because one store
  /// came alone.
  private func absent(
    from validated: ValidatedReturn, _ issued: GenerationRecord?
  ) -> Set<StoreKey> {
    let all =
      issued?.entries(of: validated.platform).filter { $0.scope == .user }.map(\.storeName)
      // If the generation is no longer kept, use the pipeline's stores.
      ?? pipeline.stores(of: .user).map(\.storeName)
    return Set(all.map { StoreKey(scope: .user, storeName: $0) })
      .subtracting(validated.stores.map(\.key))
  }

  /// Returns the ledger's row for a return, or for a store in it that has its own stamp.
  ///
  /// Such a store belongs to the installation of the bundle that it came in. If the app numbers
  /// only the user's store, that number applies to it too.
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
