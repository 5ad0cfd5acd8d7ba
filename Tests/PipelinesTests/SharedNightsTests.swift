import Foundation
import JSON
import LocalOrg
import MobileSync
import Pipelines
import Rehearsal
import System
import TestSupport
import Testing

/// Runs of fleets whose rights change between runs: no file has a value that its user may not read.
///
/// Every value is a different word. The stores of users who fetch all their records are the oracle.
@Suite struct SharedNightsTests {
  private static let seeds = CampaignSize.sharedNights.seeds(from: 20_261_129_000)
  /// The runs of one fleet.
  private static let nights = 5

  @Test func `no file has a value that its user cannot read, whatever changes between runs`()
    async throws
  {
    let log = SeedLog(.sharedNights)
    var spliced = 0
    for first in stride(from: 0, to: Self.seeds.count, by: Self.nights) {
      let seeds = Self.seeds[first..<min(first + Self.nights, Self.seeds.count)]
      var fleets = try FleetScene.Kind.allCases.map { try SharedFleet($0, seeds[first]) }
      for seed in seeds {
        for place in fleets.indices { try await fleets[place].playNight(seed) }
        log?.add(seed, failure: nil)
      }
      spliced += fleets.reduce(0) { $0 + $1.spliced }
    }
    // A short list may take fewer calls without shared records, so not every fleet shares any.
    #expect(spliced > 0 || Self.seeds.count <= Self.nights)
  }
}

/// A fleet with random rights, records and shares.
private struct SharedFleet {
  private static let users = 40
  private let scene: FleetScene
  private let kind: FleetScene.Kind
  private var random: HistoryRandom
  private var ids: [String] = []
  private var words = 1000
  /// Whether a field is always each user's own, and no run has been played.
  private var mustSplice = false
  /// The number of shared records in a first run with such a field.
  private(set) var spliced = 0

  init(_ kind: FleetScene.Kind, _ seed: UInt64) throws {
    self.kind = kind
    random = HistoryRandom(seed)
    var fields = ["LastName", "Title", "Phone", "Tag__c"]
    if random.chance(50) { fields.append("Secret__c") }
    mustSplice = random.chance(80)
    if mustSplice { fields.insert("Mark__c", at: random.below(fields.count)) }
    if random.chance(30) { fields.append("SystemModstamp") }
    // Some users cannot read it, and are skipped.
    if random.chance(20) { fields.append("Fax") }
    scene = try FleetScene(users: Self.users, kind, fields: fields)
    try setUp()
    for _ in 0..<20 + random.below(30) { try make() }
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

  /// Hides a field that the formula reads, masks and records from some of the users.
  private mutating func setUp() throws {
    let formula = random.pick([
      "Phone & Fax", "Phone & Fax", "UPPER(Title)", "IF(BEGINS(Title, 'zq1'), Phone, Fax)",
      "$User.LastName & Phone", "$Setup.Fleet__c.Word__c & Phone",
    ])
    func names(_ percent: Int) -> String {
      scene.users.filter { _ in random.chance(percent) }.map { "\"\($0)\"" }
        .joined(separator: ",")
    }
    var profiles: [[String]] = [[], [], []]
    for user in scene.users { profiles[random.below(3)].append("\"\(user)\"") }
    let settings = scene.users.enumerated().map {
      "\"\($1)\": \"\(FleetScene.word(100 + $0))\""
    }
    let text = #"""
      {"customSettings": {"Fleet__c": {"Word__c": {
         "users": {\#(settings.joined(separator: ","))}}}},
       "objects": {"Contact": {
         "fields": {"Tag__c": {"type": "string", "formula": "\#(formula)"},
           "Mark__c": {"type": "string", "formula": "$User.LastName & LastName"},
           "Secret__c": {"type": "encryptedstring", "length": 40}},
         "restrictionRules": [{"name": "Some", "userCriteria": "$Profile.Name = 'Blind'",
           "recordFilter": "RIGHT(Phone, 3) <> '\#(random.below(10))zq' || OwnerId = $User.Id"}]}},
       "profiles": [
         {"name": "Field Technician", "users": [\#(profiles[0].joined(separator: ","))]},
         {"name": "Blind", "users": [\#(profiles[1].joined(separator: ","))],
           "objects": {"Contact": {"fields": {"Fax": "none"}}}}],
       "permissionSets": [
         {"name": "Fax", "users": [\#(names(20))],
           "objects": {"Contact": {"fields": {"Fax": "read"}}}},
         {"name": "Secrets", "users": [\#(names(40))], "viewEncryptedData": true}]}
      """#
    try org.setUp(OrgSetup(parsing: Array(text.utf8)))
  }

  /// Changes rights and records, and compares the stores of both ways.
  mutating func playNight(_ seed: UInt64) async throws {
    random = HistoryRandom(seed)
    try org.moveClock(by: 86_400_000)
    try setUp()
    for id in ids.shuffled(using: &random).prefix(12) {
      switch random.below(4) {
      case 0: try org.unshare(id, from: random.pick(scene.users))
      case 1: try org.share(id, with: random.pick(scene.users))
      case 2: try org.transfer(id, to: random.pick(scene.users))
      default:
        let admin = try scene.world.user("admin")
        _ = org.update("Contact", id: id, ["Phone": word(), "Fax": word()], as: admin)
      }
    }
    try make()
    // Half of the runs are first ones, in which queries are shared too.
    if random.chance(50) {
      for mode in [kind.mode, .never] {
        if Files.exists(scene.data(mode).path) { try Files.remove(scene.data(mode).path) }
      }
    }
    let direct = try await scene.run(.never).summary
    let summary = try await scene.run(kind.mode, [.prime, .pack]).summary
    #expect(summary.findings == direct.findings, "seed \(seed)")
    // The first run of a fleet primes all users from the beginning.
    if mustSplice { spliced = summary.sharedRecords }
    mustSplice = false
    try check(seed)
  }

  private func check(_ seed: UInt64) throws {
    let data = scene.data(kind.mode)
    for user in scene.users {
      let rows = try scene.rows(of: user, .never)
      #expect(try scene.rows(of: user, kind.mode) == rows, "seed \(seed), \(user)")
      let allowed = rows.reduce(into: Set<String>()) { $0.formUnion(Self.words(in: $1)) }
      guard let directory = try scene.newest(of: user, in: data) else { continue }
      let files = try Tree.files(directory).map { directory + "/" + $0 }
      let bundle = try #require(files.first { $0.contains("ios.bundle") })
      let phone = scene.world.directory.file("phone")
      if Files.exists(phone) { try Files.remove(phone) }
      _ = try Device.install(bundle, .ios, into: phone, now: org.now())
      // Compressed bytes may look like a word; the phone has the same files as they are.
      for file in try files.filter({ $0 != bundle }) + Tree.files(phone).map({ phone + "/" + $0 }) {
        let others = try Self.words(inFile: file).subtracting(allowed)
        #expect(others.isEmpty, "seed \(seed), \(user): \(file) has \(others.sorted())")
      }
    }
    // What belongs to no user has no word, and no file of the pool is left.
    let ids = try data.snapshots()
    for name in try Tree.files(data.path) where !ids.contains(where: { name.contains($0) }) {
      let words = try Self.words(inFile: data.path + "/" + name)
      #expect(words.isEmpty, "seed \(seed): \(name)")
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
