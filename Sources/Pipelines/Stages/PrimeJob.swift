import Bundles
import Crypto
import JSON
import Ledger
import MobileSync
import Returns
import Salesforce
import SmartStore
import Snapshots
import System

/// Primes one snapshot by its order, in a task with its own thread.
struct PrimeJob: Sendable {
  var order: PrimeOrder
  let pipeline: Pipeline
  let data: DataDirectory
  /// What all snapshots of the run know about calls with several parts.
  let wide: WideCalls
  /// The check of the syncs against the org; nil if the org could not be asked.
  let preflight: Preflight?
  let report: @Sendable (RunEvent) -> Void
  /// The records that the users of the run fetch for each other; nil if this user fetches all.
  var pool: RecordPool?
  /// Whether the records are fetched only after another user has claimed records of the pool.
  var isLater = false

  var user: SnapshotUser { order.user }
  var isGlobal: Bool { order.isGlobal }
  var directory: SnapshotDirectory { SnapshotDirectory(path: data.snapshot(user.id)) }
  var stores: [StoreSettings] { pipeline.stores(of: isGlobal ? .global : .user) }
  var definitionsHash: String { pipeline.definitionsHash(of: isGlobal ? .global : .user) }

  /// Primes the snapshot, and publishes a generation if anything changed.
  ///
  /// Blocking work runs on `thread`.
  func prime(with access: OrgAccess, on thread: StoreThread) async throws -> PrimeOutput {
    try await withTaskExecutorPreference(thread) {
      let own = try await session(access)
      if isLater { await pool?.opened() }
      let (session, isLate) = try await askingAhead(own)
      // What arrives with the first records is judged before anything is published.
      var lacking = isLate ? nil : try await judged(session)
      do {
        var output = try await prime(as: session, on: thread) {
          if isLate { lacking = try await judged(session) }
        }
        output.lacking = lacking
        let classes = pool?.classes(of: session.identity.userID)
        output.readingClass = classes.map { Digest.sha256Hex(Array($0.utf8)) }
        return output
      } catch {
        // What the user lacks says more than the error that it caused.
        if isLate { _ = try await judged(session) }
        throw error
      }
    }
  }

  /// Returns the unmet needs of the user, nil if they are not checked here; throws if a fetch depends
  /// on one.
  private func judged(_ session: Session) async throws -> [Preflight.Fault]? {
    let lacking = try await lacking(session)
    let missing = (lacking ?? []).filter { $0.isFatal && !$0.isOfSyncUp }
    guard missing.isEmpty else { throw PipelineError(lacking: missing) }
    return lacking
  }

  /// The preflight, if it is still to be asked about the user; nil if the session serves several
  /// users and was checked before.
  private var ownPreflight: Preflight? {
    isGlobal || pipeline.prime.fetchAs != .user ? nil : preflight
  }

  /// Returns the session with the answers to what the syncs and the preflight request first, asked
  /// in as few calls as possible.
  ///
  /// If the user's class is probably known, the user is judged late: the records show what the user
  /// may read, and the descriptions that are needed for the rest come with them.
  private func askingAhead(_ session: Session) async throws -> (Session, isLate: Bool) {
    guard let newest = try newestRecord(),
      let previous = try usable(newest, session, newest.notes["fields"]?.string)
    else {
      guard let pool, pool.hasShelves else { return (session, false) }
      session.expectDescriptions(
        of: ownPreflight?.objects(as: .user, except: pool.shows) ?? [])
      return (session, true)
    }
    let input = input(previous, number: newest.generation + 1, "", session)
    // The sync whose query cannot be read is reported later.
    let asked = await session.asking(
      (try? input.queriesAhead()) ?? [], describing: ownPreflight?.objects(as: .user) ?? [],
      wide.ahead)
    return (asked, false)
  }

  /// Returns the unmet needs of the user; nil if they are not checked here.
  private func lacking(_ session: Session) async throws -> [Preflight.Fault]? {
    guard let preflight = ownPreflight else { return nil }
    do throws(OrgError) {
      return try await preflight.faults(session, as: .user)
    } catch {
      guard error.kind != .cancelled else { throw error }
      // An unreachable org is reported when records are fetched.
      if !error.isOutage {
        report(
          .warning("\(user.username): the syncs could not be validated against the org: \(error)"))
      }
      return nil
    }
  }

  /// Returns the session that reads the records: the user's own, unless the pipeline says
  /// otherwise.
  func session(_ access: OrgAccess) async throws -> Session {
    let asIntegration = isGlobal || pipeline.prime.fetchAs == .integration
    guard asIntegration else { return try await access.session(as: user.username) }
    guard let session = try await access.integrationSession() else {
      throw PipelineError(
        .configuration, "prime.no-integration-user",
        "global stores and fetchAs \"integration\" need a user to fetch as",
        location: pipeline.file, fix: "name one in org.login.integrationUser")
    }
    return session
  }

  /// Primes the snapshot; `check` is called before anything is published.
  private func prime(
    as session: Session, on thread: StoreThread, _ check: () async throws -> Void
  ) async throws -> PrimeOutput {
    try directory.removeTemporaries()
    let record = try newestRecord()
    let newest = record?.generation ?? 0
    let fields = try await OpenFields.digest(stores, as: session)
    let previous = try record.flatMap { try usable($0, session, fields) }
    let temporary = data.snapshot(user.id) + "/" + DurableFile.temporaryPrefix + order.run
    let number = max(newest + 1, order.number)
    var input = input(previous, number: number, temporary, session)
    input.knownStamps = try knownStamps(previous)
    input.isRenewed = record.map { !isUpToDate($0) } ?? false
    let outcome: PrimeOutcome
    do {
      outcome = try await SnapshotPrime.run(input, session: session, thread: thread) {
        if let event = translate($0) { report(event) }
      }
      try await check()
      if let held = try held(outcome, newest, previous, input.ghosts) {
        try Files.remove(temporary)
        return held
      }
      if outcome.changed {
        try publish(outcome, number: number, after: previous, temporary, session, fields)
      }
    } catch {
      // The partial build is useless; report the error.
      try? Files.remove(temporary)
      throw error
    }
    return PrimeOutput(
      user: user, generation: outcome.changed ? number : newest, outcome: outcome)
  }

  /// Returns the held result of a prime from scratch that leaves out so many records of the newest
  /// generation that its devices would be emptied.
  ///
  /// Nothing is published until an operator allows it.
  ///
  /// With changed definitions, or another reader, the ghost guard has nothing to compare.
  private func held(
    _ outcome: PrimeOutcome, _ newest: Int, _ previous: GenerationRecord?, _ limits: DeletionGuard
  ) throws -> PrimeOutput? {
    guard previous == nil, newest > 0, outcome.changed else { return nil }
    let record = try directory.record(of: newest)
    guard let platform = pipeline.platforms.first(where: { !record.entries(of: $0).isEmpty })
    else { return nil }
    let entries = record.entries(of: platform)
    var words: [String] = []
    for store in stores {
      let before = entries.first { $0.storeName == store.storeName }?.counts ?? [:]
      for soup in store.schema.soups.map(\.soupName) {
        let filled = outcome.soups.last { $0.store == store.storeName && $0.soup == soup }
        // New records that were redelivered there are not records of the org.
        let own = record.carried.count {
          $0.platform == platform && $0.storeName == store.storeName && $0.soup == soup
            && $0.recordID == nil
        }
        let (old, new) = ((before[soup] ?? 0) - own, filled?.total ?? 0)
        if limits.allows(deleting: old - new, of: old) { continue }
        words.append(
          "the soup \"\(soup)\" would have \(CountText.of(new, "record")) instead of \(old), more than "
            + "\(limits.maxDeletesPercent) % less; generation \(newest) was kept; "
            + DeletionGuard.fixByOption)
      }
    }
    if words.isEmpty { return nil }
    var outcome = outcome
    (outcome.changed, outcome.guardTripped) = (false, true)
    outcome.warnings += words
    return PrimeOutput(user: user, generation: newest, outcome: outcome, isHeld: true)
  }

  /// Whether a generation redelivers the same edits as the next one would, and has its user's
  /// current name.
  private func isUpToDate(_ record: GenerationRecord) -> Bool {
    let name = record.notes["username"]?.string ?? user.username
    return name.lowercased() == user.username.lowercased() && isCarried(by: record)
  }

  /// Whether a generation redelivers the same edits as the next one would.
  private func isCarried(by record: GenerationRecord) -> Bool {
    record.carried.map { "\($0.edit) \($0.digest)" }.sorted()
      == order.carried.map { "\($0.edit) \($0.digest)" }.sorted()
  }

  // MARK: input

  /// Returns the newest generation; nil if there is none.
  func newestRecord() throws -> GenerationRecord? {
    try directory.generations().last.map { try directory.record(of: $0) }
  }

  /// Returns the newest generation, if the next one can be built from it.
  ///
  /// It cannot if its stores are gone because it came from a backup, if it was read as another user
  /// (records that user could not see have no newer date now), if it has records of a user who
  /// turned out to read them differently, or if `FIELDS()` stood for other fields.
  func usable(_ record: GenerationRecord, _ session: Session, _ fields: String?) throws
    -> GenerationRecord?
  {
    guard try mayContinue(record) else { return nil }
    let reader = record.notes["readAs"]?.string ?? session.identity.userID
    guard reader == session.identity.userID, record.notes["fields"]?.string == fields
    else { return nil }
    return record
  }

  /// Whether the next generation can be built from this one, as far as is known without the org.
  func mayContinue(_ record: GenerationRecord) throws -> Bool {
    guard !order.isFromScratch,
      try PrunedGeneration(directory: directory.directory(of: record.generation)) == nil
    else { return false }
    return (RunRow.number(ofID: record.run) ?? 0) > order.lastRunElsewhere
      && record.configHash == definitionsHash
  }

  private func input(
    _ previous: GenerationRecord?, number: Int, _ temporary: String, _ session: Session
  ) -> PrimeInput {
    let old = previous.map { directory.directory(of: $0.generation) }
    let primeStores = stores.map { store in
      var files: [Platform: PrimeFile] = [:]
      for platform in pipeline.platforms {
        let name = fileName(of: store, platform)
        files[platform] = PrimeFile(
          previous: old.map { CarryingStore.source(of: name, in: $0) },
          new: temporary + "/" + name)
      }
      return PrimeStore(
        storeName: store.storeName, config: store.schema, syncs: syncs(of: store), files: files)
    }
    var input = PrimeInput(
      stores: primeStores, now: order.now, overlapSeconds: pipeline.prime.overlapSeconds,
      cursors: previous?.cursors ?? [:])
    // A resumed run keeps its own time, but the org's time is later.
    input.rowDate = order.created
    input.stampsRead = previous.map { stampsRead($0) }
    input.listIDs = order.listIDs
    (input.changed, input.edited) = (order.changed, order.edited)
    input.ghosts.maxDeletesPercent = (order.maxDeletes ?? pipeline.prime.ghostsMaxDeletes).value
    input.wasIncomplete = previous?.notes["warnings"] != nil
    input.bulkAbove = pipeline.prime.bulkAbove
    input.onRuleErrors = pipeline.prime.onRuleErrors
    input.variables = variables(session)
    input.wide = wide
    input.pool = pool
    input.finish = stampWriter(number)
    return input
  }

  /// The values of a query's variables.
  ///
  /// `:userId` is the user of the snapshot, whichever user fetches.
  func variables(_ session: Session) -> [String: String] {
    isGlobal
      ? pipeline.prime.variables(
        userID: session.identity.userID, username: session.identity.username)
      : pipeline.prime.variables(userID: user.id, username: user.username)
  }

  /// The syncs to run, and those whose states the device will need.
  private func syncs(of store: StoreSettings) -> [SyncDefinition] {
    store.syncs.syncs.filter {
      $0.syncType == .syncUp || store.prime.contains($0.syncName)
    }
  }

  /// The path of a store in a generation's directory: the platform, then the path that the app
  /// expects.
  func fileName(of store: StoreSettings, _ platform: Platform) -> String {
    platform.rawValue + "/" + Self.path(of: store, platform, order)
  }

  /// The path at which the app of an order's user expects a store.
  static func path(
    of store: StoreSettings, _ platform: Platform, _ order: PrimeOrder
  ) -> String {
    let owner = StoreLocation.User(organizationID: order.organizationID, userID: order.user.id)
    return StoreLocation(
      platform, storeName: store.storeName, user: order.isGlobal ? nil : owner
    ).path
  }

  private func stamp(_ number: Int, _ platform: Platform) throws -> Provenance {
    guard let id = order.stampIDs[number]?[platform] else {
      throw PipelineError(
        .failed, "prime.stamp", "the order has no stamp for generation \(number)")
    }
    return Provenance(
      org: order.organizationID, user: isGlobal ? Provenance.globalUser : user.id,
      pipeline: pipeline.name, generation: number, platform: platform, stampID: id,
      epoch: order.stampEpoch)
  }

  private func stampWriter(_ number: Int) -> @Sendable (Store, Platform) throws -> Void {
    { [created = order.created] store, platform in
      store.clock = { created }
      try stamp(number, platform).write(into: store)
    }
  }

  /// Returns when a generation was last compared with the org, as far as recorded.
  private func stampsRead(_ previous: GenerationRecord) -> Int64 {
    guard let lastRead = order.lastRead, lastRead.generation == previous.generation else {
      return previous.created
    }
    return lastRead.time
  }

  /// Returns the modification stamps of a briefcase's records when they were last fetched.
  private func knownStamps(_ previous: GenerationRecord?) throws -> [String: [String: Int64]] {
    guard let previous else { return [:] }
    do throws(SnapshotError) {
      return try SystemModstamps.read(in: directory.directory(of: previous.generation))
    } catch {
      guard error.isDamage else { throw error }
      report(.warning("\(user.username): all records of the briefcases are requested: \(error)"))
      return [:]
    }
  }

  private func translate(_ event: SyncEvent) -> RunEvent? {
    switch event {
    case .started(let progress), .progressed(let progress), .finished(let progress):
      return .soupProgress(
        snapshot: user.id, soup: progress.soup, fetched: progress.records, total: progress.total)
    // The outcome contains the warnings too.
    case .warning: return nil
    }
  }

  // MARK: output

  private func publish(
    _ outcome: PrimeOutcome, number: Int, after previous: GenerationRecord?,
    _ temporary: String, _ session: Session, _ fields: String?
  ) throws {
    // The org's values count as issued, even if devices have changed them.
    try writeIssued(outcome, number: number, temporary, after: previous)
    let carried = try carry(into: temporary)
    let files = try measure(temporary, number: number)
    var notes: JSONObject = [
      "username": .string(user.username), "readAs": .string(session.identity.userID),
    ]
    if let fields { notes["fields"] = .string(fields) }
    if outcome.isIncomplete { notes["warnings"] = JSONValue(outcome.warnings) }
    let record = GenerationRecord(
      snapshot: user.id, generation: number, run: order.run,
      created: order.created, configHash: definitionsHash,
      stores: files, syncStates: states(outcome), cursors: outcome.cursors, notes: notes,
      carried: carried)
    try directory.publish(temporary, as: record)
  }

  /// Returns the descriptions of all stores; several files are hashed at the same time.
  private func measure(
    _ temporary: String, number: Int
  ) throws -> [GenerationRecord.StoreFile] {
    let files = pipeline.platforms.flatMap { platform in stores.map { (platform, $0) } }
    return try Parallel.map(files.count) { place in
      let (platform, store) = files[place]
      let file = temporary + "/" + fileName(of: store, platform)
      let entry = try SnapshotDirectory.measure(
        file, scope: isGlobal ? .global : .user, storeName: store.storeName,
        path: Self.path(of: store, platform, order), stamp: try stamp(number, platform),
        counts: counts(of: store, file))
      return GenerationRecord.StoreFile(platform: platform, entry: entry)
    }
  }

  /// Writes the open edits into the stores that they came from.
  private func carry(into temporary: String) throws -> [CarriedEntry] {
    var entries: [CarriedEntry] = []
    for platform in pipeline.platforms {
      for settings in stores {
        let edits = order.carried.filter {
          $0.platform == platform.rawValue && $0.soup.store.storeName == settings.storeName
        }
        if edits.isEmpty { continue }
        let store = try CarryingStore(fileName(of: settings, platform), in: temporary)
        for edit in edits {
          var row: CarriedEdit.Row?
          let stored = try store.put(
            into: edit.soup.soup, idField: edit.idField, recordID: edit.recordID,
            lastModified: edit.lastModified
          ) { held in
            let made = edit.row(over: held)
            row = made
            return made.element
          }
          entries.append(
            CarriedEntry(
              platform: platform, storeName: settings.storeName, soup: edit.soup.soup,
              soupEntryID: stored[StoreField.soupEntryID]?.int ?? 0, edit: edit.edit,
              source: edit.source, digest: edit.digest, lastModified: edit.lastModified,
              value: ElementContent.value(of: JSONValue.object(stored).bytes),
              recordID: edit.recordID, shown: row?.shown, words: row?.words, edited: edit.edited))
        }
        try store.mark(order.run, now: order.created)
        try store.close()
      }
    }
    return entries
  }

  private func counts(of settings: StoreSettings, _ file: String) throws -> [String: Int] {
    let store = try Store(opening: file, readOnly: true)
    var counts: [String: Int] = [:]
    for soup in settings.schema.soups {
      counts[soup.soupName] = try store.count(of: soup.soupName)
    }
    try store.close()
    return counts
  }

  private func states(_ outcome: PrimeOutcome) -> [SyncStateEntry] {
    stores.flatMap { store in
      (outcome.syncStates[store.storeName] ?? []).map { state in
        SyncStateEntry(
          scope: isGlobal ? .global : .user, storeName: store.storeName,
          syncName: state.name ?? "", type: state.type.rawValue, status: state.status.rawValue,
          maxTimeStamp: state.maxTimeStamp)
      }
    }
  }
}
