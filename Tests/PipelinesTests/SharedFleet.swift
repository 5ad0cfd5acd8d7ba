import Foundation
import JSON
import LocalOrg
import MobileSync
import Pipelines
import Rehearsal
import System
import TestSupport
import Testing

/// A fleet whose rights and records change at random, between its runs and during them.
///
/// Every value is a different word. If nothing changes during a run, the stores of users who fetch
/// all their records are the oracle. If something does, each user's own queries before and after
/// each change are.
struct SharedFleet {
  private static let users = 40
  private let scene: FleetScene
  private let kind: FleetScene.Kind
  private var fields = ["LastName", "Title", "Phone", "Tag__c"]
  private var random: HistoryRandom
  private var rights: FleetRights
  private var ids: [String] = []
  private var words = 1000
  /// Whether a field is always each user's own, and no run has been played.
  private var mustSplice = false
  /// Whether no run has been played.
  private var isNew = true
  /// Whether the org changed during the last run.
  private var hasMoved = false
  /// The records of each user's rows, and the words that they have had since a row was removed.
  private var held: [String: (records: Set<String>, words: Set<String>)] = [:]
  /// What is wrong after the last run.
  private var faults: [String] = []
  /// The number of shared records in a first run with such a field.
  private(set) var spliced = 0

  init(_ kind: FleetScene.Kind, _ seed: UInt64) throws {
    self.kind = kind
    random = HistoryRandom(seed)
    if random.chance(50) { fields.append("Secret__c") }
    mustSplice = random.chance(80)
    if mustSplice { fields.insert("Mark__c", at: random.below(fields.count)) }
    if random.chance(30) { fields.append("SystemModstamp") }
    // Some users cannot read it, and are skipped.
    if random.chance(20) { fields.append("Fax") }
    scene = try FleetScene(users: Self.users, kind, fields: fields)
    rights = FleetRights(of: scene.users, &random)
    FleetChange.setUp(rights).make(in: scene.world.org)
    for _ in 0..<40 + random.below(30) { try make() }
  }

  private var org: Org { scene.world.org }

  private mutating func word() -> JSONValue {
    words += 1
    return .string(FleetScene.word(words))
  }

  private mutating func make() throws {
    let outcome = org.create(
      "Contact",
      ["LastName": word(), "Title": word(), "Phone": word(), "Fax": word(), "Secret__c": word()],
      as: try scene.world.user("admin"))
    let id = try #require(outcome.id, "\(outcome.errors)")
    ids.append(id)
    if random.chance(40) { try org.transfer(id, to: random.pick(scene.users)) }
    for user in scene.users where random.chance(60) { try org.share(id, with: user) }
  }

  // MARK: changes

  /// A change of one of the records.
  private mutating func change() -> FleetChange {
    let (id, user) = (random.pick(ids), random.pick(scene.users))
    switch random.below(6) {
    case 0: return .unshare(id, [user])
    case 1: return .share(id, user)
    case 2: return .transfer(id, user)
    case 3: return random.chance(50) ? .delete(id) : .restore(id)
    default: return update(id)
    }
  }

  private mutating func update(_ id: String) -> FleetChange {
    var fields: JSONObject = ["Phone": word(), "Fax": word()]
    if random.chance(50) { fields["Title"] = word() }
    if random.chance(50) { fields["LastName"] = word() }
    if random.chance(50) { fields["Secret__c"] = word() }
    return .update(id, fields)
  }

  /// Changes at a request of a user, also of values without a date if `used` is not nil.
  private mutating func changes(at user: String, _ used: inout Set<String>?) -> [FleetChange] {
    var changes: [FleetChange] = []
    if random.chance(60) {
      for id in ids.shuffled(using: &random).prefix(3 + random.below(8)) {
        changes.append(.unshare(id, [user]))
      }
    }
    for _ in 0..<random.below(4) {
      // The new words are for others only.
      let id = random.pick(ids)
      changes.append(update(id))
      changes.append(.unshare(id, scene.users.filter { _ in random.chance(40) }))
    }
    for _ in 0..<2 + random.below(4) { changes.append(change()) }
    if used != nil || random.chance(30) {
      if random.chance(40) { rights.change(&random) }
      if var formulas = used {
        rights.changeValues(&random, used: &formulas, words: &words)
        used = formulas
      }
      changes.append(.setUp(rights))
    }
    return changes
  }

  // MARK: runs

  /// Changes rights and records, plays a run, and returns what is wrong.
  ///
  /// After a run with changes, all users are primed from the beginning, or all records have changed:
  /// some values change without a new date.
  mutating func playNight(_ seed: UInt64) async throws -> [String] {
    random = HistoryRandom(seed)
    faults = []
    try org.moveClock(by: 86_400_000)
    rights = FleetRights(of: scene.users, &random)
    FleetChange.setUp(rights).make(in: org)
    for _ in 0..<12 { change().make(in: org) }
    try make()
    let moves = !hasMoved && (isNew || random.chance(50))
    // Half of the runs are first ones, in which queries are shared too.
    let isFirst = isNew || random.chance(50)
    if hasMoved, !isFirst { for id in ids { update(id).make(in: org) } }
    if isFirst {
      try forget(kind.mode)
      held = [:]
    }
    if isFirst || hasMoved { try forget(.never) }
    let summary = moves ? try await playMoves(isFirst: isFirst) : try await playQuietly()
    // The first run of a fleet primes all users from the beginning.
    if mustSplice { spliced = summary.sharedRecords }
    (mustSplice, isNew, hasMoved) = (false, false, moves)
    for user in scene.users { try searchFiles(of: user) }
    try searchRest()
    return faults.map { "seed \(seed), \(kind): \($0)" }
  }

  private func forget(_ mode: RecordPool.Mode) throws {
    let path = scene.data(mode).path
    if Files.exists(path) { try Files.remove(path) }
  }

  private func run(
    _ mode: RecordPool.Mode, _ stages: Set<Stage>, jobs: Int = 2
  ) async throws -> RunSummary {
    try await scene.run(mode, stages) {
      $0.limits.jobs = jobs
      // Records that a user may no longer read are removed in each run.
      $0.prime.ghostsEveryRuns = 1
      $0.prime.ghostsMaxDeletes = Percentage(100)
    }.summary
  }

  /// Plays a run during which nothing changes, in both ways.
  private mutating func playQuietly() async throws -> RunSummary {
    let direct = try await run(.never, [.prime])
    let summary = try await run(kind.mode, [.prime, .pack])
    if summary.findings != direct.findings { faults.append("findings \(summary.findings)") }
    let primed = direct.snapshots.map(\.username)
    if summary.snapshots.map(\.username).sorted() != primed.sorted() {
      faults.append("other users are primed")
    }
    for user in primed {
      let (rows, expected) = (try scene.rows(of: user, kind.mode), try scene.rows(of: user, .never))
      if rows != expected {
        let other = Set(rows).symmetricDifference(expected).sorted()
        faults.append("\(user) has other rows: \(other.prefix(4))")
      }
    }
    return summary
  }

  /// Plays a run during which the org changes, and compares the rows with what each user saw.
  private mutating func playMoves(isFirst: Bool) async throws -> RunSummary {
    let before = try rowsByUser()
    // One user after the other, or several at the same time.
    let isSequential = random.chance(35)
    let steady = fields.filter { $0 != "Tag__c" && $0 != "Secret__c" }
    let changesValues = random.chance(isSequential ? 100 : 40)
    var used: Set<String>? = changesValues ? [] : nil
    var moments: [FleetMoments.Moment] = []
    var changes: [[FleetChange]] = []
    var allRights: [FleetRights] = [rights]
    for _ in 0..<1 + random.below(3) {
      // The first user fetches most of the shared records, mostly with the third request.
      let others = scene.users.dropFirst().prefix(random.chance(60) ? 10 : Self.users)
      let user = !isSequential && random.chance(60) ? scene.users[0] : random.pick(Array(others))
      let count = 1 + random.below(20)
      moments.append(
        FleetMoments.Moment(
          user: user, nth: isSequential ? 1 : random.pick([1, 2, 3, 3, 3, 4]),
          held: isSequential
            ? .nothing : random.pick([.nothing, .request(count), .response(count)])))
      changes.append(self.changes(at: user, &used))
      allRights.append(rights)
    }
    // A record may change several times with one date.
    if random.chance(30) { try org.setClockStep(0) }
    let plan = FleetMoments(scene, fields, moments, changes)
    let summary = try await run(kind.mode, [.prime, .pack], jobs: isSequential ? 1 : 2)
    try org.setClockStep(1000)
    rights = allRights[plan.end()]
    // While no user is being primed, or if dates tell each change, no two read a record differently.
    if isSequential || !changesValues, summary.findings.contains(.unlikeRecords) {
      faults.append("users read a record differently: \(summary.warnings)")
    }
    let rows = try rowsByUser()
    for user in summary.snapshots.map(\.username) {
      let (rows, before) = (rows[user] ?? [:], before[user] ?? [:])
      let sights = plan.sights(of: user)
      for (id, row) in rows {
        let seen = sights.compactMap { $0[id] }
        let others = Set(fields).subtracting(steady)
        func isOfOne(_ fields: [String]) -> Bool {
          seen.contains { sight in fields.allSatisfy { row[$0] == sight[$0] } }
        }
        let isSeen =
          changesValues ? isOfOne(steady) && others.allSatisfy { isOfOne([$0]) } : isOfOne(fields)
        if !isSeen, isFirst || seen.isEmpty || before[id] != row {
          faults.append("\(user) did not see \(JSONValue.object(row).text), but \(seen)")
        }
      }
      let always = sights.dropFirst().reduce(Set(sights.first?.keys ?? [:].keys)) {
        $0.intersection($1.keys)
      }
      let missing = always.filter { rows[$0] == nil && (isFirst || before[$0] != nil) }
      if !missing.isEmpty { faults.append("\(user) lacks \(missing.sorted())") }
    }
    return summary
  }

  /// The rows of the users' newest stores, by ID.
  private func rowsByUser() throws -> [String: [String: JSONObject]] {
    var found: [String: [String: JSONObject]] = [:]
    for user in scene.users {
      for text in try scene.rows(of: user, kind.mode) {
        guard let row = try JSONValue(parsing: text).object, let id = row["Id"]?.string else {
          continue
        }
        found[user, default: [:]][id] = row
      }
    }
    return found
  }

  // MARK: words

  /// Searches the files of a user's newest generation for words that no row has had.
  ///
  /// A row may leave bytes of an earlier version in the file. When a row is removed, all unused
  /// bytes are overwritten.
  private mutating func searchFiles(of user: String) throws {
    guard let directory = try scene.newest(of: user, in: scene.data(kind.mode)) else { return }
    let rows = try scene.rows(of: user, kind.mode)
    let records = Set(try rows.compactMap { try JSONValue(parsing: $0)["Id"]?.string })
    let before = held[user].flatMap { $0.records.isSubset(of: records) ? $0.words : nil } ?? []
    let allowed = rows.reduce(into: before) { $0.formUnion(Self.words(in: $1)) }
    held[user] = (records, allowed)
    let files = try Tree.files(directory).map { directory + "/" + $0 }
    let bundle = try #require(files.first { $0.contains("ios.bundle") })
    let phone = scene.world.directory.file("phone")
    if Files.exists(phone) { try Files.remove(phone) }
    _ = try Device.install(bundle, .ios, into: phone, now: org.now())
    // Compressed bytes may look like a word; the phone has the same files as they are.
    for file in try files.filter({ $0 != bundle }) + Tree.files(phone).map({ phone + "/" + $0 }) {
      let others = try Self.words(inFile: file).subtracting(allowed)
      if !others.isEmpty { faults.append("\(user): \(file) has \(others.sorted())") }
    }
  }

  /// What belongs to no user has no word, and no file of the pool is left.
  private mutating func searchRest() throws {
    let data = scene.data(kind.mode)
    let ids = try data.snapshots()
    for name in try Tree.files(data.path) where !ids.contains(where: { name.contains($0) }) {
      let words = try Self.words(inFile: data.path + "/" + name)
      if !words.isEmpty { faults.append("\(name) has \(words.sorted())") }
    }
  }

  /// The words in all bytes of a file, whether a row uses them or not.
  private static func words(inFile path: String) throws -> Set<String> {
    words(in: try Files.read(path))
  }

  private static func words(in text: String) -> Set<String> { words(in: Array(text.utf8)) }

  /// The words in bytes, such as zq12zq; a formula may have changed their case.
  private static func words(in bytes: [UInt8]) -> Set<String> {
    var found: Set<String> = []
    bytes.withUnsafeBytes { bytes in
      for letter in "zZ".utf8 {
        var place = 0
        while let start = next(letter, in: bytes, from: place) {
          place = start + 1
          guard isMark(bytes, start) else { continue }
          var end = start + 2
          while end < bytes.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes[end] { end += 1 }
          guard end > start + 2, isMark(bytes, end) else { continue }
          found.insert("zq" + String(decoding: bytes[(start + 2)..<end], as: UTF8.self) + "zq")
          place = end + 2
        }
      }
    }
    return found
  }

  /// Whether a word starts or ends at a place.
  private static func isMark(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> Bool {
    place + 1 < bytes.count && bytes[place] | 0x20 == UInt8(ascii: "z")
      && bytes[place + 1] | 0x20 == UInt8(ascii: "q")
  }

  /// The index of the next such byte.
  private static func next(
    _ byte: UInt8, in bytes: UnsafeRawBufferPointer, from place: Int
  ) -> Int? {
    guard place < bytes.count, let base = bytes.baseAddress,
      let found = memchr(base + place, Int32(byte), bytes.count - place)
    else { return nil }
    return base.distance(to: found)
  }
}
