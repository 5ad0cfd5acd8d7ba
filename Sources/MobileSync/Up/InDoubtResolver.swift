import JSON
import Salesforce

/// Finds out what writes without an answer have done: the one place that does, for every journal.
///
/// - What went in a bulk job is told by the job, as long as the org keeps it; while its results cannot be had, by
///   nothing else.
/// - An update is done if the record holds what was sent, or what the org's rules make of it; a delete if its record
///   is proved deleted, an undelete if it is there.
/// - An upsert, or a create with a correlation field, is looked up by that field.
/// - A create is searched by its type, its sender and the time (`UnacknowledgedCreates`).
///
/// It asks as the reader's user, best an integration user: what a sender has written may since be
/// somebody else's, or deleted. What was created is asked for as its sender too, where that user can
/// log in: an integration user need not see all.
package struct InDoubtResolver {
  /// What was found out about a write.
  package enum Resolution: Sendable {
    /// What a write that is done has left.
    package struct Done: Sendable {
      /// The record.
      package var id: String?
      /// What an upsert did; nil where it is not known, and for other writes.
      package var isCreated: Bool?
      /// What a create has made, as it stands now.
      package var made: UnacknowledgedCreates.Made?
      /// Whether another user wrote last, so that the values may be theirs.
      package var isSomebodyElses = false
      /// Whether the record that an update has changed was deleted since.
      package var isDeletedSince = false
    }

    case done(Done)
    /// It was not done; of an upsert with the record that stands under its external id.
    case notDone(standing: JSONObject? = nil)
    /// Only a person can tell; with the ids of the records that it may have made.
    case unclear(String, ids: [String] = [])
    /// Nobody can tell yet: a bulk job may be at work on it.
    case atWork(String)
  }

  /// Who asks.
  package let reader: RecordReader
  /// The senders' own readers, by their Ids.
  package var senders: [String: RecordReader] = [:]
  /// How long a request may be on its way, in seconds.
  package let quietWindowSeconds: Int64
  /// Other creates in doubt, which may own what is found.
  package var rivals: [PendingWrite] = []
  /// Whether creates are searched in the quiet window already: what agrees as a whole is theirs then.
  package var searchesEarly = false
  /// Whether a person can be asked about what is not clear.
  package var asksPerson = true
  /// Whether there is time to wait for a bulk job that is at work.
  package var mayWait: @Sendable () -> Bool = { false }
  /// How many questions there are at once.
  package var inFlight = 1
  /// Whether only a record that holds all that was sent is looked at; tests show by it what for.
  package var takesLikenessesOnly = false
  /// How far the org's answers may be dated ahead of its records, in milliseconds.
  ///
  /// An answer gets its date from the org, or from a proxy whose clock is wrong. Where that date is more ahead of this
  /// machine's clock than an org's clocks lie apart, one of the two is wrong; beyond a day it is this machine's.
  package var ahead: Int64
  /// Whether a record is known to be what something else has made.
  package let isTaken: (String) throws -> Bool

  /// A resolver.
  package init(
    reader: RecordReader, quietWindowSeconds: Int64, isTaken: @escaping (String) throws -> Bool
  ) {
    self.reader = reader
    self.quietWindowSeconds = quietWindowSeconds
    self.isTaken = isTaken
    let ahead = reader.session.clockOffset
    let isDoubtful = ahead > UnacknowledgedCreates.slackMilliseconds
    self.ahead = isDoubtful && ahead <= UnacknowledgedCreates.lateMilliseconds ? ahead : 0
  }

  /// What became of writes to one object; a finding for each, in their order.
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

  // MARK: bulk jobs

  /// What bulk jobs say of the writes that went in them, by the place of each; nothing of a job that the org
  /// has forgotten, and of a row that its results, where all are here, leave out.
  private func tellOfJobs(_ writes: [PendingWrite]) async throws -> [Int: Resolution] {
    var told: [Int: Resolution] = [:]
    let jobs = Dictionary(grouping: writes.indices.filter { writes[$0].job != nil }) {
      writes[$0].job ?? ""
    }
    for (id, places) in jobs.sorted(by: { $0.key < $1.key }) {
      // A job is seen by whoever made it.
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
        // What was refused is refused again, and told then.
        default: told[place] = .notDone()
        }
      }
    }
    return told
  }

  /// What is told of the writes of a job that could not be asked; nil where the org has forgotten the job, so
  /// that they are looked for as any other.
  private func words(
    _ error: OrgError, ofJob id: String, _ write: PendingWrite, _ asker: RecordReader
  ) async throws(OrgError) -> String? {
    let isSender = asker.session.identity.userID == write.userID
    switch error.kind {
    case .invalidResponse, .tooLarge:
      return "the results of the bulk job \(id) cannot be read: \(error.message)"
    case .refused, .notFound, .permission:
      // Another user does not see it; a day later no job is at work any more.
      let now = asker.session.serverDate ?? asker.session.estimatedServerDate
      return isSender || now - write.sent > Self.longestJobMilliseconds
        ? nil : "only its sender can be asked about the bulk job \(id)"
    case .authentication where asker !== reader:
      return "only its sender can be asked about the bulk job \(id), and cannot log in"
    case .unreachable, .timeout:
      // One question that is never answered, of an org that answers others, ends nobody else's work.
      if !error.isFailedAnswer, await !asker.session.isAnswered() { throw error }
      return "the org could not answer for the bulk job \(id): \(error.message)"
    default: throw error
    }
  }

  /// No job is at work longer, in milliseconds of the org's time.
  private static let longestJobMilliseconds: Int64 = 24 * 60 * 60 * 1000

  // MARK: updates and deletes

  /// Where the record holds what was sent and another wrote last, somebody may have entered the same:
  /// nothing is to be sent, and it is not said that we did it.
  ///
  /// A record that was deleted since holds in the recycle bin what it held.
  private func updates(_ writes: [PendingWrite], _ sobject: String) async throws -> [Resolution] {
    let fields = try await readable(writes, sobject, and: ["LastModifiedById"])
    let ids = writes.compactMap(\.recordID)
    var found = try await reader.records(sobject, ids: ids, fields: fields)
    let missing = ids.filter { id in id.recordID18.map { found[$0] == nil } ?? false }
    if !missing.isEmpty {
      found.merge(try await reader.withBin(sobject, ids: missing, fields: fields)) { old, _ in old }
    }
    return writes.map { write in
      guard let id = write.recordID?.recordID18, let record = found[id],
        Self.hasArrived(write, in: record)
      else { return .notDone() }
      return .done(done(write, record, id: id))
    }
  }

  private static func hasArrived(_ write: PendingWrite, in record: JSONObject) -> Bool {
    UnacknowledgedCreates.agreement(of: write.fields, with: record) == .whole
      || ArrivedWrite.hasChanged(
        record, by: write.userID, from: write.seen?.object, to: write.fields)
  }

  private func done(_ write: PendingWrite, _ record: JSONObject, id: String?) -> Resolution.Done {
    var done = Resolution.Done(id: id)
    done.isDeletedSince = record["IsDeleted"]?.bool == true
    // Who deletes a record has written last.
    done.isSomebodyElses =
      !done.isDeletedSince
      && (write.userID == nil || record["LastModifiedById"]?.string?.recordID18 != write.userID)
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

  // MARK: by a unique field

  /// An upsert is done if its sender has made the record of its external id since, or if that holds what was sent.
  ///
  /// All else is to be compared with what stands there.
  private func upserts(_ writes: [PendingWrite], _ sobject: String) async throws -> [Resolution] {
    var findings: [Resolution] = []
    try await askForKeyed(writes, sobject)
    for write in writes {
      guard let rows = try await keyedRecords(of: write, sobject) else {
        findings.append(.notDone())
        continue
      }
      let times = unacknowledged(write)
      // What another write has made, and deleted since, is not what this one made.
      let own = try rows.filter { record in
        try record["CreatedById"]?.string?.recordID18 == write.userID && write.userID != nil
          && UnacknowledgedCreates.isInTime(of: times, record)
          && !isTaken(UnacknowledgedCreates.id(of: record) ?? "")
      }
      // A request that names its record by Id makes none.
      if write.externalField?.isIDName != true, write.seen?.object == nil, own.count == 1,
        let made = UnacknowledgedCreates.Made(own[0], sent: write.fields)
      {
        findings.append(.done(Resolution.Done(id: made.id, isCreated: true, made: made)))
        continue
      }
      let alive = rows.filter { $0["IsDeleted"]?.bool != true }
      guard alive.count == 1, let id = UnacknowledgedCreates.id(of: alive[0]),
        Self.hasArrived(write, in: alive[0])
      else {
        findings.append(.notDone(standing: alive.first))
        continue
      }
      var done = done(write, alive[0], id: id)
      done.isCreated = false
      findings.append(.done(done))
    }
    return findings
  }

  /// A create that bears its edit's identity is found by that, at once.
  ///
  /// If it is not there it may be sent again: of two, the org refuses the later.
  private func correlated(_ write: PendingWrite, _ sobject: String) async throws -> Resolution {
    guard let rows = try await keyedRecords(of: write, sobject) else {
      return .unclear("\(write.externalField ?? "") cannot be asked for")
    }
    let standing = rows.first { $0["IsDeleted"]?.bool != true } ?? rows.first
    guard let record = standing, let made = UnacknowledgedCreates.Made(record, sent: write.fields)
    else { return .notDone() }
    return .done(Resolution.Done(id: made.id, isCreated: true, made: made))
  }

  /// The records of a write's unique field, deleted ones too; nil where it cannot be asked for.
  package func keyedRecords(
    of write: PendingWrite, _ sobject: String
  ) async throws -> [JSONObject]? {
    let describe = try await reader.describe(sobject)
    guard let (fields, condition) = keyedSearch(write, describe) else { return nil }
    return try await reader.records(describe, fields: fields, where: condition, all: true)
  }

  private func keyedSearch(
    _ write: PendingWrite, _ describe: Describe
  ) -> (fields: [String], condition: String)? {
    guard let field = write.externalField, let value = write.externalValue,
      let condition = ExternalIDQuery.condition(describe, field: field, values: [value])
    else { return nil }
    let fields = UnacknowledgedCreates.readable(
      write.fields.names, describe, and: UnacknowledgedCreates.auditFields)
    return (fields, condition)
  }

  /// Asks for the records of several writes' unique fields beside each other.
  private func askForKeyed(_ writes: [PendingWrite], _ sobject: String) async throws {
    let keyed = writes.filter { $0.externalField != nil }
    if keyed.count < 2 { return }
    let describe = try await reader.describe(sobject)
    await RecordReader.ask(
      keyed.compactMap { write in
        keyedSearch(write, describe).map { fields, condition in
          RecordReader.Inquiry(
            reader, .search(describe, fields: fields, where: condition, all: true))
        }
      }, inFlight: inFlight)
  }

  // MARK: creates

  private func creates(_ writes: [PendingWrite], _ sobject: String) async throws -> [Resolution] {
    var findings = writes.map { _ in Resolution.unclear("nobody knows who sent it") }
    var groups: [String: [Int]] = [:]
    try await askForKeyed(writes, sobject)
    for (place, write) in writes.enumerated() {
      if write.externalField != nil {
        findings[place] = try await correlated(write, sobject)
      } else if let user = write.userID {
        groups[user, default: []].append(place)
      }
    }
    try await askForCreates(groups.mapValues { $0.map { writes[$0] } }, sobject)
    for (user, places) in groups.sorted(by: { $0.key < $1.key }) {
      let found = try await search(places.map { writes[$0] }, user, sobject)
      for (place, finding) in zip(places, found) { findings[place] = finding }
    }
    return findings
  }

  /// Creates are compared with all that their sender has made in their time: long text cannot be
  /// filtered, and the org may have trimmed a value.
  ///
  /// What an org most likely refuses is given no record: only one that holds all of it and that nothing else
  /// accounts for leaves it in doubt, as automation may have filled what was sent empty.
  private func search(
    _ writes: [PendingWrite], _ user: String, _ sobject: String
  ) async throws -> [Resolution] {
    let describe = try await reader.describe(sobject)
    let search = Search(writes, user, sobject, describe, self)
    var findings = search.findings
    let (asked, all, wanted) = (search.asked, search.all, search.wanted)
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
        // A sender whose login ends now is one who cannot log in.
        guard error.isAboutTheUser else { throw error }
      }
    }
    found = try found.filter { try !isTaken(UnacknowledgedCreates.id(of: $0) ?? "") }
    if takesLikenessesOnly { found.removeAll { !Self.isLikeness($0, of: wanted) } }
    let fates = UnacknowledgedCreates.match(all, found, asksPerson: asksPerson)
    for (place, fate) in zip(asked, fates) {
      switch fate {
      case .made(let made):
        findings[place] = .done(Resolution.Done(id: made.id, isCreated: true, made: made))
      case .notMade: findings[place] = .notDone()
      case .unclear(let words, let ids): findings[place] = .unclear(words, ids: ids)
      }
    }
    let given = Set(fates.compactMap(\.madeID))
    let left = found.filter { record in
      UnacknowledgedCreates.id(of: record).map { !given.contains($0) } ?? false
    }
    for (place, lost) in zip(asked, all) {
      guard case .notDone = findings[place] else { continue }
      if case .unclear(let words, let ids) = UnacknowledgedCreates.fate(ofMisdated: lost, left) {
        findings[place] = .unclear(words, ids: ids)
      }
    }
    for (place, lost) in search.presumedRefused {
      if case .unclear(let words, let ids) = UnacknowledgedCreates.fate(ofRefused: lost, left) {
        findings[place] = .unclear(words, ids: ids)
      }
    }
    return findings
  }

  /// The reader of a sender who can log in and is not who asks anyway.
  private func ownReader(of user: String) -> RecordReader? {
    senders[user].flatMap {
      $0.session.identity.userID == reader.session.identity.userID ? nil : $0
    }
  }

  /// What is searched for the creates of one sender, and what is known of them before.
  private struct Search {
    var findings: [Resolution]
    /// The places of those that are searched.
    var asked: [Int] = []
    /// They, and others that may own what is found.
    var all: [UnacknowledgedCreates.Lost] = []
    /// Those that the org most likely refused, by their places.
    var presumedRefused: [(place: Int, lost: UnacknowledgedCreates.Lost)] = []
    /// All that the org is asked for; empty where nothing is to be asked.
    var wanted: [UnacknowledgedCreates.Lost] {
      asked.isEmpty && presumedRefused.isEmpty ? [] : all + presumedRefused.map(\.lost)
    }

    init(
      _ writes: [PendingWrite], _ user: String, _ sobject: String, _ describe: Describe,
      _ resolver: InDoubtResolver
    ) {
      findings = writes.map { _ in Resolution.notDone() }
      for (place, write) in writes.enumerated() {
        if !resolver.searchesEarly, !resolver.unacknowledged(write).isOver {
          findings[place] = .unclear(
            "it may still be on its way; the org is asked after the quiet window")
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

  /// Asks for what several senders have made, beside each other.
  private func askForCreates(_ groups: [String: [PendingWrite]], _ sobject: String) async throws {
    if groups.count < 2 { return }
    let describe = try await reader.describe(sobject)
    let searches = groups.sorted { $0.key < $1.key }.map { user, writes in
      (user: user, search: Search(writes, user, sobject, describe, self))
    }.filter { !$0.search.wanted.isEmpty }
    await RecordReader.ask(
      searches.compactMap { user, _ in
        ownReader(of: user).map { RecordReader.Inquiry($0, .describe(sobject)) }
      }, inFlight: inFlight)
    await RecordReader.ask(
      searches.flatMap { user, search in
        let readers = [reader] + [ownReader(of: user)].compactMap(\.self)
        return readers.compactMap { reader in
          reader.known(sobject).map {
            RecordReader.Inquiry(
              reader, UnacknowledgedCreates.question($0, of: search.wanted, userID: user))
          }
        }
      }, inFlight: inFlight)
  }

  /// Says whether a record is there and holds all that one of the creates has sent.
  private static func isLikeness(_ record: JSONObject, of creates: [UnacknowledgedCreates.Lost])
    -> Bool
  {
    record["IsDeleted"]?.bool != true
      && creates.contains { UnacknowledgedCreates.agreement(of: $0.fields, with: record) == .whole }
  }

  /// A write with the time in which it can have made its record.
  package func unacknowledged(_ write: PendingWrite) -> UnacknowledgedCreates.Lost {
    let window = quietWindowSeconds * 1000
    let session = reader.session
    let now = session.serverDate ?? session.estimatedServerDate
    var lost = UnacknowledgedCreates.Lost(
      write.fields, sent: write.since, until: write.sent + window,
      isOver: window <= 0 || now - write.sent >= window)
    (lost.isPresumed, lost.isRevised) = (write.isPresumed, write.isRevised)
    lost.ahead = ahead
    lost.otherSenders = write.otherSenders
    return lost
  }

  // MARK: comparing

  /// The fields that were sent, as far as the org lets them be read, with `Id` and `others`.
  private func readable(
    _ writes: [PendingWrite], _ sobject: String, and others: [String]
  ) async throws -> [String] {
    UnacknowledgedCreates.readable(
      writes.flatMap(\.fields.names), try await reader.describe(sobject), and: others)
  }
}
