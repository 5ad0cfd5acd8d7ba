import Pipelines
import Rehearsal
import System
import TestSupport
import Testing

/// Days on which machines and ledgers are lost, generated from seeds.
///
/// The checks are those of a device's user: whatever was lost and recovered, each record that a
/// phone created is in the org once or needs review, each value that it entered is in the org or
/// needs review, and a phone without open edits can install.
@Suite struct RecoveryDaysTests {
  @Test func `whatever is lost and recovered, no edit is lost or duplicated`() async throws {
    for seed in CampaignSize.recoveryDays.seeds(from: 20_261_123_000) {
      var days = try RecoveryDays(seed: seed)
      try await days.play()
      let faults = try await days.judge()
      SeedLog(.recoveryDays)?.add(seed, failure: faults.first)
      #expect(faults.isEmpty, "seed \(seed): \(faults)\n\(days.story.joined(separator: "\n"))")
    }
  }
}

struct RecoveryDays {
  /// A phone, and its user's actions since its bundle was installed.
  private struct Phone {
    var user: String
    var device: Device
    var handedBack = 0
  }

  private let world: World
  private var random: HistoryRandom
  private var phones: [Phone] = []
  private var backups: [String] = []
  private var made: [String] = []
  private var entered: [String: String] = [:]
  /// The log of the day, to analyse a failure.
  private(set) var story: [String] = []
  private var number = 0
  init(seed: UInt64) throws {
    random = HistoryRandom(seed)
    world = try World()
    if random.chance(50) { try world.overwriteAccounts() }
  }

  mutating func play() async throws {
    try await run()
    for user in ["ada", "ben", "cleo"] {
      phones.append(Phone(user: user, device: try world.device(user, as: "\(user)-0")))
    }
    for _ in 0..<(18 + random.below(14)) { try await step() }
  }

  private mutating func step() async throws {
    let place = random.below(phones.count)
    switch random.below(100) {
    case ..<22: try create(place)
    case ..<42: try edit(place)
    case ..<60: try handBack(place)
    case ..<76: try await run()
    case ..<84: try install(place)
    case ..<91: try backUp()
    case ..<95: try await loseLedger()
    default: try await loseMachine()
    }
  }

  // MARK: phones

  private mutating func create(_ place: Int) throws {
    number += 1
    let name = "Made \(number)"
    _ = try phones[place].device.create(
      "contacts", type: "Contact", ["LastName": .string(name), "Title": "Found on site"],
      localID: "local_\(1_000_000 + number)", now: world.org.now())
    made.append(name)
    story.append("\(phones[place].user) makes \(name)")
  }

  private mutating func edit(_ place: Int) throws {
    let all = try world.ids("accounts", on: phones[place].device)
    let own = all.filter { id in id.utf8.reduce(0) { $0 + Int($1) } % phones.count == place }
    guard !own.isEmpty else { return }
    number += 1
    let (id, value) = (own[random.below(min(4, own.count))], "Entered \(number)")
    let field = "Description"
    try phones[place].device.edit("accounts", id: id, [field: .string(value)], now: world.org.now())
    entered[id] = value
    story.append("\(phones[place].user) enters \(value) into \(id)")
  }

  private mutating func handBack(_ place: Int) throws {
    phones[place].handedBack += 1
    let name = "\(phones[place].user)-\(phones[place].handedBack).sqlite"
    try Files.makeDirectory(world.data.inbox("inbox"), intermediate: true)
    try world.handBack(phones[place].device, as: name)
    story.append("\(phones[place].user) returns \(name)")
  }

  /// Installs the newest bundle if the app may; returns whether it did.
  @discardableResult private mutating func install(_ place: Int) throws -> Bool {
    let user = phones[place].user
    guard let bundle = try? world.bundle(user), try phones[place].device.mayInstall(bundle) else {
      return false
    }
    number += 1
    phones[place].device = try world.device(user, as: "\(user)-\(number)")
    story.append("\(user) installs \(bundle)")
    return true
  }

  // MARK: machine

  @discardableResult private mutating func run() async throws -> RunSummary {
    let summary = try await world.runAllAsWritten()
    story.append("run \(summary.run): \(summary.verdicts)")
    return summary
  }

  private mutating func backUp() throws {
    backups.append(try world.backUp())
    story.append("backup \(backups.count - 1)")
  }

  private mutating func loseLedger() async throws {
    try world.loseLedger()
    try world.recover()
    story.append("the ledger is lost and recovered")
  }

  /// Restores any backup, not only the newest.
  ///
  /// The inbox is lost with the machine.
  private mutating func loseMachine() async throws {
    guard !backups.isEmpty else { return }
    let pick = random.below(backups.count)
    try Files.remove(world.data.path)
    try world.recover { $0.backup = backups[pick] }
    story.append("the machine is lost, and recovered from backup \(pick)")
  }

  // MARK: end

  /// Returns every store again, and returns a user's complaints.
  mutating func judge() async throws -> [String] {
    for place in phones.indices { try handBack(place) }
    try await run()
    let last = try await run()
    let open = try PipelineStatus.read(world.pipeline, root: world.root).open
    let waiting = Set(open.flatMap { $0.titles.compactMap(\.device?.string) })
    let waitingRecords = Set(open.compactMap(\.recordID))
    var faults: [String] = []
    if !last.warnings.allSatisfy({ !$0.contains("quarantine") }) { faults += last.warnings }
    for name in made {
      let count = try world.column("SELECT Id FROM Contact WHERE LastName = '\(name)'").count
      if count > 1 { faults.append("\(name) is there \(count) times") }
      if count == 0, !waiting.contains(name) { faults.append("\(name) is lost") }
    }
    for (id, value) in entered.sorted(by: { $0.key < $1.key }) {
      let held = try world.record("Account", id)["Description"]?.string
      if held != value, !waitingRecords.contains(id) {
        faults.append("\(value) is lost in \(id), which holds \(held ?? "nothing")")
      }
    }
    faults += try Quarantine.list(world.data.quarantine).map { "refused: \($0.detail)" }
    for place in phones.indices where open.isEmpty {
      if try !install(place) { faults.append("\(phones[place].user) can never install") }
    }
    return faults
  }
}
