import JSON
import Salesforce

/// Determines what writes without a response have done, for every journal.
///
/// - The outcome of a write in a bulk job comes only from the job while the org keeps it, even if
///   its results are temporarily unavailable.
/// - An update is done if the record has what was sent, or what the org's automation makes of it. A
///   delete is done if the record is verified as deleted, an undelete if the record exists.
/// - An upsert, or a create with a correlation field, is looked up by that field.
/// - A create is searched by its type, its sender and the time (`UnacknowledgedCreates`).
///
/// Requests use the reader's user, ideally an integration user, because a sender's records may
/// since be owned by another user or deleted. Created records are also searched as their sender, if
/// that user can log in, since an integration user may not see all of them.
package struct InDoubtResolver {
  /// What is known about a write.
  package enum Resolution: Sendable, Hashable {
    /// The result of a write that was done.
    package struct Done: Sendable, Hashable {
      package var id: String?
      /// What an upsert did; nil if unknown, and for other writes.
      package var isCreated: Bool?
      /// The record that a create has made, in its current state.
      package var made: UnacknowledgedCreates.Made?
      /// Whether another user wrote last, so that the values may be theirs.
      package var isSomebodyElses = false
      /// Whether the record that an update changed was deleted since.
      package var isDeletedSince = false
    }

    case done(Done)
    /// The write was not done; for an upsert, with the record that has its external ID.
    case notDone(standing: JSONObject? = nil)
    /// An operator must decide; `ids` are the records that the write may have made.
    case unclear(String, ids: [String] = [])
    /// Not known yet: a bulk job may still be processing it.
    case atWork(String)

    /// A create that has made a record.
    static func made(_ made: UnacknowledgedCreates.Made) -> Resolution {
      .done(Done(id: made.id, isCreated: true, made: made))
    }

    package var made: UnacknowledgedCreates.Made? {
      if case .done(let done) = self { done.made } else { nil }
    }
  }

  package let reader: RecordReader
  /// The senders' own readers, by user ID.
  package var senders: [String: RecordReader] = [:]
  /// How long a request may be in transit, in seconds.
  package let unansweredWaitSeconds: Int64
  /// Other unconfirmed creates, which may have made the records found.
  package var rivals: [PendingWrite] = []
  /// Whether creates are searched during the wait; a full match then counts as theirs.
  package var searchesEarly = false
  /// Whether an operator can decide unclear cases.
  package var asksPerson = true
  /// Whether there is time to wait for a running bulk job.
  package var mayWait: @Sendable () -> Bool = { false }
  package var inFlight = 1
  /// How far the dates of the org's responses may be ahead of its records, in milliseconds.
  ///
  /// A response gets its date from the org, or from a proxy with a wrong clock. If the date is
  /// ahead of this machine's clock by more than the clocks of an org can differ, one of the two is
  /// wrong; beyond a day, it is this machine's.
  package var ahead: Int64
  /// Whether a record is known to have been made by something else.
  package let isTaken: (String) throws -> Bool

  package init(
    reader: RecordReader, unansweredWaitSeconds: Int64, isTaken: @escaping (String) throws -> Bool
  ) {
    self.reader = reader
    self.unansweredWaitSeconds = unansweredWaitSeconds
    self.isTaken = isTaken
    let ahead = reader.session.clockOffset
    let isDoubtful = ahead > UnacknowledgedCreates.slackMilliseconds
    self.ahead = isDoubtful && ahead <= UnacknowledgedCreates.lateMilliseconds ? ahead : 0
  }

  /// Resolves writes to one object and returns a resolution for each, in order.
  package func resolve(_ writes: [PendingWrite], of sobject: String) async throws -> [Resolution] {
    var findings = writes.map { _ in Resolution.notDone() }
    let told = try await tellOfJobs(writes)
    for (place, finding) in told { findings[place] = finding }
    for action in SyncUpAction.allCases {
      let places = writes.indices.filter { writes[$0].action == action && told[$0] == nil }
      if places.isEmpty { continue }
      let group = places.map { writes[$0] }
      let found =
        switch action {
        case .create: try await creates(group, sobject)
        case .update: try await updates(group, sobject)
        case .upsert: try await upserts(group, sobject)
        case .delete: try await deletes(group, sobject)
        case .undelete: try await undeletes(group, sobject)
        }
      for (place, finding) in zip(places, found) { findings[place] = finding }
    }
    return findings
  }

  // MARK: Bulk jobs

  /// Returns what bulk jobs report about the writes sent in them, by index.
  ///
  /// A job that the org no longer has is omitted, and so is a row that is missing from complete
  /// results.
  private func tellOfJobs(_ writes: [PendingWrite]) async throws -> [Int: Resolution] {
    var told: [Int: Resolution] = [:]
    let jobs = Dictionary(grouping: writes.indices.filter { writes[$0].job != nil }) {
      writes[$0].job ?? ""
    }
    for (id, places) in jobs.sorted(by: { $0.key < $1.key }) {
      // A job is visible to the user who created it.
      let asker = writes[places[0]].userID.flatMap { senders[$0] } ?? reader
      let (mayWait, isPresumed) = (self.mayWait, reader.presumed != nil)
      let results: BulkIngestJob.Results?
      do throws(OrgError) {
        results = try await BulkIngestJob(id: id, asker.session).results(
          while: { !isPresumed && mayWait() }, givesUp: !isPresumed)
      } catch {
        guard let words = try await self.words(error, ofJob: id, writes[places[0]], asker) else {
          continue
        }
        for place in places { told[place] = .atWork(words) }
        continue
      }
      guard let results else {
        for place in places { told[place] = .atWork(SyncUpRequest.atWorkText(id)) }
        continue
      }
      let answers = SyncUpJob.answers(
        results,
        places.map { (SyncUpJob.row(of: writes[$0]), writes[$0].action, writes[$0].recordID) })
      var lacking: String?
      if let error = results.lacking {
        lacking = try await self.words(error, ofJob: id, writes[places[0]], asker)
      }
      for (place, answer) in zip(places, answers) {
        switch answer {
        case .done(let id, let created):
          let isCreated = writes[place].action == .create ? true : created
          told[place] = .done(Resolution.Done(id: id, isCreated: isCreated))
        case .unknown: told[place] = lacking.map { .atWork($0) }
        // A refused write is refused again when resent, and reported then.
        default: told[place] = .notDone()
        }
      }
    }
    return told
  }

  /// Returns the message for the writes of a job that could not be queried; nil if the org no
  /// longer has the job, so that they are resolved like other writes.
  private func words(
    _ error: OrgError, ofJob id: String, _ write: PendingWrite, _ asker: RecordReader
  ) async throws(OrgError) -> String? {
    let isSender = asker.session.identity.userID == write.userID
    switch error.kind {
    case .invalidResponse, .tooLarge:
      return "the results of the bulk job \(id) cannot be read: \(error.message)"
    case .refused, .notFound, .permission:
      // Another user does not see the job; after a day, no job is still running.
      let now = asker.session.serverDate ?? asker.session.estimatedServerDate
      return isSender || now - write.sent > Self.longestJobMilliseconds
        ? nil : "only its sender can query the bulk job \(id)"
    case .authentication where asker !== reader:
      return "only its sender can query the bulk job \(id), and the sender cannot log in"
    case .unreachable, .timeout:
      // If one request never gets a response but the org answers others, the other work continues.
      if !error.isFailedAnswer, await !asker.session.isAnswered() { throw error }
      return "the org failed to return the bulk job \(id): \(error.message)"
    default: throw error
    }
  }

  /// The longest run time of a job, in milliseconds of the org's time.
  private static let longestJobMilliseconds: Int64 = 24 * 60 * 60 * 1000

  // MARK: Updates and deletes

  /// If another user wrote last, the same values may be theirs: the update is not sent again.
  ///
  /// A record deleted since then still has its values in the recycle bin.
  private func updates(_ writes: [PendingWrite], _ sobject: String) async throws -> [Resolution] {
    let fields = UnacknowledgedCreates.readable(
      writes.flatMap(\.fields.names), try await reader.describe(sobject), and: ["LastModifiedById"])
    let ids = writes.compactMap(\.recordID)
    var found = try await reader.records(sobject, ids: ids, fields: fields)
    let missing = ids.filter { id in id.recordID18.map { found[$0] == nil } ?? false }
    if !missing.isEmpty {
      found.merge(try await reader.withBin(sobject, ids: missing, fields: fields)) { old, _ in old }
    }
    return writes.map { write in
      guard let id = write.recordID?.recordID18, let record = found[id],
        let done = done(write, record, id: id)
      else { return .notDone() }
      return .done(done)
    }
  }

  /// Returns the result of an update that has reached a record; nil if nothing shows that.
  private func done(_ write: PendingWrite, _ record: JSONObject, id: String?) -> Resolution.Done? {
    let evidence = WriteEvidence(
      of: write.fields, by: write.userID, before: write.seen?.object, in: record)
    if evidence == .notApplied { return nil }
    var done = Resolution.Done(id: id)
    done.isDeletedSince = record["IsDeleted"]?.bool == true
    // The user who deletes a record is its last writer.
    done.isSomebodyElses = !done.isDeletedSince && evidence == .mayBe
    return done
  }

  private func deletes(_ writes: [PendingWrite], _ sobject: String) async throws -> [Resolution] {
    let ids = writes.compactMap(\.recordID)
    let found = try await reader.records(sobject, ids: ids, fields: ["Id"])
    let fates = try await reader.fates(
      of: ids.filter { id in id.recordID18.map { found[$0] == nil } ?? false }, sobject)
    return writes.map { write in
      write.recordID.flatMap { fates[$0] } == .deleted
        ? .done(Resolution.Done(id: write.recordID)) : .notDone()
    }
  }

  private func undeletes(_ writes: [PendingWrite], _ sobject: String) async throws -> [Resolution] {
    let found = try await reader.records(
      sobject, ids: writes.compactMap(\.recordID), fields: ["Id"])
    return writes.map { write in
      write.recordID?.recordID18.flatMap { found[$0] } == nil
        ? .notDone() : .done(Resolution.Done(id: write.recordID))
    }
  }

  // MARK: Lookup by a unique field

  /// An upsert is done if its sender has created its record since, or if that has what was sent.
  private func upserts(_ writes: [PendingWrite], _ sobject: String) async throws -> [Resolution] {
    var findings: [Resolution] = []
    try await askForKeyed(writes, sobject)
    for write in writes {
      guard let rows = try await keyedRecords(of: write, sobject) else {
        findings.append(.notDone())
        continue
      }
      let times = unacknowledged(write)
      // A record that another write made and that was deleted since is not this write's.
      let own = try rows.filter { record in
        try record["CreatedById"]?.string?.recordID18 == write.userID && write.userID != nil
          && UnacknowledgedCreates.isInTime(of: times, record)
          && !UnacknowledgedCreates.isLikelyOlder(than: times, record)
          && !isTaken(UnacknowledgedCreates.id(of: record) ?? "")
      }
      // A request that names its record by Id creates none.
      if write.externalField?.isIDName != true, write.seen?.object == nil, own.count == 1,
        let made = UnacknowledgedCreates.Made(own[0], sent: write.fields)
      {
        findings.append(.made(made))
        continue
      }
      let alive = rows.filter { $0["IsDeleted"]?.bool != true }
      guard alive.count == 1, let id = UnacknowledgedCreates.id(of: alive[0]),
        var done = done(write, alive[0], id: id)
      else {
        findings.append(.notDone(standing: alive.first))
        continue
      }
      done.isCreated = false
      findings.append(.done(done))
    }
    return findings
  }

  /// A create with a correlation ID is looked up at once, and may be sent again if it is missing.
  private func correlated(_ write: PendingWrite, _ sobject: String) async throws -> Resolution {
    guard let rows = try await keyedRecords(of: write, sobject) else {
      return .unclear("\(write.externalField ?? "") cannot be queried")
    }
    let standing = rows.first { $0["IsDeleted"]?.bool != true } ?? rows.first
    guard let record = standing, let made = UnacknowledgedCreates.Made(record, sent: write.fields)
    else { return .notDone() }
    return .made(made)
  }

  /// Returns the records with the value of a write's unique field, including deleted ones; nil if
  /// the field cannot be queried.
  package func keyedRecords(
    of write: PendingWrite, _ sobject: String
  ) async throws -> [JSONObject]? {
    let describe = try await reader.describe(sobject)
    guard let question = keyedSearch(write, describe) else { return nil }
    return try await reader.rows(question)
  }

  private func keyedSearch(
    _ write: PendingWrite, _ describe: Describe
  ) -> RecordReader.Question? {
    guard let field = write.externalField, let value = write.externalValue,
      let condition = ExternalIDQuery.condition(describe, field: field, values: [value])
    else { return nil }
    let fields = UnacknowledgedCreates.readable(
      write.fields.names, describe, and: UnacknowledgedCreates.auditFields)
    return .search(describe, fields: fields, where: condition, all: true)
  }

  /// Fetches the records of several writes' unique fields concurrently.
  private func askForKeyed(_ writes: [PendingWrite], _ sobject: String) async throws {
    let keyed = writes.filter { $0.externalField != nil }
    if keyed.count < 2 { return }
    let describe = try await reader.describe(sobject)
    await RecordReader.ask(
      keyed.compactMap { keyedSearch($0, describe) }.map { RecordReader.Inquiry(reader, $0) },
      inFlight: inFlight)
  }

  // MARK: Creates

  private func creates(_ writes: [PendingWrite], _ sobject: String) async throws -> [Resolution] {
    var findings = writes.map { _ in Resolution.unclear("the sender is unknown") }
    var groups: [String: [Int]] = [:]
    try await askForKeyed(writes, sobject)
    for (place, write) in writes.enumerated() {
      if write.externalField != nil {
        findings[place] = try await correlated(write, sobject)
      } else if let user = write.userID {
        groups[user, default: []].append(place)
      }
    }
    if groups.isEmpty { return findings }
    let describe = try await reader.describe(sobject)
    let searches = groups.sorted { $0.key < $1.key }.map { user, places in
      (places, Search(places.map { writes[$0] }, user, sobject, describe, self))
    }
    await askAhead(searches.map(\.1), sobject)
    for (places, search) in searches {
      let found = try await perform(search, describe, sobject)
      for (place, finding) in zip(places, found) { findings[place] = finding }
    }
    return findings
  }

  /// Compares creates with all records that their sender made in their time, since long text cannot
  /// be filtered and the org may have trimmed values.
  ///
  /// A create that the org most likely refuses is assigned no record. It becomes unconfirmed only
  /// if a record has everything that was sent and nothing else accounts for that record, because
  /// automation may have filled fields that were sent empty.
  private func perform(
    _ search: Search, _ describe: Describe, _ sobject: String
  ) async throws -> [Resolution] {
    var findings = search.findings
    let (user, asked, all, wanted) = (search.user, search.asked, search.all, search.wanted)
    if wanted.isEmpty { return findings }
    var found = try await reader.rows(
      UnacknowledgedCreates.question(describe, of: wanted, userID: user))
    if let own = ownReader(of: user) {
      let known = Set(found.compactMap { UnacknowledgedCreates.id(of: $0) })
      do {
        found += try await own.rows(
          UnacknowledgedCreates.question(
            try await own.describe(sobject), of: wanted, userID: user)
        ).filter { UnacknowledgedCreates.id(of: $0).map { !known.contains($0) } ?? false }
      } catch {
        // A sender whose login fails now counts as one who cannot log in.
        guard error.isAboutTheUser else { throw error }
      }
    }
    found = try found.filter { try !isTaken(UnacknowledgedCreates.id(of: $0) ?? "") }
    let fates = UnacknowledgedCreates.match(all, found, describe, asksPerson: asksPerson)
    for (place, fate) in zip(asked, fates) { findings[place] = fate }
    let given = Set(fates.compactMap(\.made?.id))
    let left = found.filter { record in
      UnacknowledgedCreates.id(of: record).map { !given.contains($0) } ?? false
    }
    for (place, lost) in zip(asked, all) {
      guard case .notDone = findings[place] else { continue }
      findings[place] = UnacknowledgedCreates.fate(ofMisdated: lost, left)
    }
    for (place, lost) in search.presumedRefused {
      findings[place] = UnacknowledgedCreates.fate(ofRefused: lost, left)
    }
    return findings
  }

  /// Returns the reader of a sender who can log in and is not the user of the lookups.
  private func ownReader(of user: String) -> RecordReader? {
    senders[user].flatMap {
      $0.session.identity.userID == reader.session.identity.userID ? nil : $0
    }
  }

  /// The creates of one sender to search for, and what is already known about them.
  private struct Search {
    let user: String
    var findings: [Resolution]
    /// The indexes of the creates to search for.
    var asked: [Int] = []
    /// Those creates, and others that may have made the records found.
    var all: [PendingWrite] = []
    /// The creates that the org most likely refused, by index.
    var presumedRefused: [(place: Int, lost: PendingWrite)] = []
    /// All creates for which the org is queried; empty if no query is needed.
    var wanted: [PendingWrite] {
      asked.isEmpty && presumedRefused.isEmpty ? [] : all + presumedRefused.map(\.lost)
    }

    init(
      _ writes: [PendingWrite], _ user: String, _ sobject: String, _ describe: Describe,
      _ resolver: InDoubtResolver
    ) {
      self.user = user
      findings = writes.map { _ in Resolution.notDone() }
      for (place, write) in writes.enumerated() {
        if !resolver.searchesEarly, !resolver.unacknowledged(write).isOver {
          findings[place] = .unclear(
            "it may still be in transit; it is looked up after the wait for its answer")
        } else if UnacknowledgedCreates.isRefused(write.fields, describe) {
          presumedRefused.append((place, resolver.unacknowledged(write)))
        } else {
          asked.append(place)
        }
      }
      let others = resolver.rivals.filter { rival in
        rival.userID == user && rival.objectType.lowercased() == sobject.lowercased()
          && !UnacknowledgedCreates.isRefused(rival.fields, describe)
      }
      all = asked.map { resolver.unacknowledged(writes[$0]) } + others.map(resolver.unacknowledged)
    }
  }

  /// Fetches what several senders have created, concurrently.
  private func askAhead(_ searches: [Search], _ sobject: String) async {
    if searches.count < 2 { return }
    let searches = searches.filter { !$0.wanted.isEmpty }
    await RecordReader.ask(
      searches.compactMap { search in
        ownReader(of: search.user).map { RecordReader.Inquiry($0, .describe(sobject)) }
      }, inFlight: inFlight)
    await RecordReader.ask(
      searches.flatMap { search in
        [reader, ownReader(of: search.user)].compactMap(\.self).compactMap { reader in
          reader.known(sobject).map {
            RecordReader.Inquiry(
              reader, UnacknowledgedCreates.question($0, of: search.wanted, userID: search.user))
          }
        }
      }, inFlight: inFlight)
  }

  /// Returns a write with the time range in which it can have made its record.
  package func unacknowledged(_ write: PendingWrite) -> PendingWrite {
    let window = unansweredWaitSeconds * 1000
    let session = reader.session
    let now = session.serverDate ?? session.estimatedServerDate
    var lost = write
    lost.until = write.sent + window
    // If the org's clock was set back since, the record may have an earlier date.
    if now < write.sent - UnacknowledgedCreates.slackMilliseconds {
      lost.since = min(write.since, now - UnacknowledgedCreates.lateMilliseconds)
    }
    lost.isOver = window <= 0 || now - write.sent >= window
    lost.ahead = ahead
    return lost
  }
}
