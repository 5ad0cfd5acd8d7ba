import Foundation
import Pipelines
import Rehearsal
import System
import TestSupport
import Testing

/// A pipeline that runs daily, with changes in the org and returning phones.
///
/// `make test` plays a few runs, `make soak` a year.
@Suite struct YearTests {
  private static let nights = CampaignSize.nights.count
  private static let day: Int64 = 86_400_000
  private static let names = ["ada", "ben", "cleo"]
  /// No limit of `keep` is greater: from then on, as much is removed as is added.
  private static let settled = 70

  private struct DailyRun {
    var seconds = 0.0
    /// The size of the data directory in bytes, without the ledger, which keeps its rows forever.
    var disk: Int64 = 0
    var ledger: Int64 = 0
    var descriptors = 0
    var residentMiB = 0.0
  }

  private let world: World
  init() throws {
    world = try World {
      $0.replacing(
        #""format": "tar.zst" }"#, with: #""format": "tar.zst", "expiresAfterDays": 14 }"#
      ).replacing(
        #""inbox": {"#,
        with: #"""
          "keep": { "generations": 3, "issuedRecordDays": 20, "returnedDays": 30, "runsDays": 60 },
            "inbox": {
          """#)
    }
  }

  @Test func `disk, time, files and memory stay constant over many runs`() async throws {
    var phones: [String: Device] = [:]
    var nights: [DailyRun] = []
    try await world.run()
    for number in 1...Self.nights {
      try world.org.moveClock(by: Self.day)
      try office(number)
      let name = Self.names[number % Self.names.count]
      // A phone returns its edits since its last bundle, and gets the newest bundle.
      if let phone = phones[name] { try world.handBack(phone, as: "\(name)-\(number).sqlite") }
      let night = try await play()
      phones[name] = try goOut(name, number)
      nights.append(night)
      if number % 30 == 0 || number == Self.nights { print(line(number, night)) }
      let keeps = try KeepWork.prune(world.pipeline, root: world.root, isDryRun: true)
      #expect(keeps.going.isEmpty, "run \(number): \(keeps.going.prefix(3))")
    }
    try checkGenerations()
    checkFlat(nights)
  }

  private func line(_ number: Int, _ night: DailyRun) -> String {
    let parts = [
      "YearTests: run \(number): \(String(format: "%.2f", night.seconds)) s",
      "\(night.disk / 1024) KiB", "ledger \(night.ledger / 1024) KiB",
      "\(night.descriptors) files open", "\(Int(night.residentMiB)) MiB",
    ]
    return parts.joined(separator: ", ")
  }

  // MARK: runs

  /// Other users change about one account of a hundred; the phones' users edit contacts.
  private func office(_ number: Int) throws {
    let admin = try world.user("admin")
    let ids = try world.column("SELECT Id FROM Account ORDER BY Id")
    for place in stride(from: number % 100, to: ids.count, by: 100) {
      _ = world.org.update(
        "Account", id: ids[place], ["Phone": .string("+1 555 \(1000 + number)")], as: admin)
    }
  }

  private func play() async throws -> DailyRun {
    let start = Clock.monotonicNanoseconds()
    let summary = try await world.run()
    var night = DailyRun()
    night.seconds = Double(Clock.monotonicNanoseconds() - start) / 1e9
    #expect(summary.exitStatus == .done, "\(summary.verdicts) \(summary.warnings)")
    let use = try DiskUse.read(world.data)
    night.ledger = use.parts.filter { $0.kind == "ledger" }.reduce(0) { $0 + $1.bytes }
    night.disk = use.bytes - night.ledger
    night.descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    night.residentMiB = try resident()
    return night
  }

  private func resident() throws -> Double {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let row = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    let kibibytes = row.flatMap { Double($0.filter(\.isNumber)) }
    return try #require(kibibytes) / 1024
  }

  /// A phone with the newest bundle, on which a contact is created and a title edited.
  private func goOut(_ name: String, _ number: Int) throws -> Device {
    let place = "\(name)-\(number)"
    let phone = try world.device(name, as: place)
    // The previous one is discarded.
    try? Files.remove(world.directory.file("devices/\(name)-\(number - Self.names.count)"))
    _ = try phone.create(
      "contacts", type: "Contact", ["LastName": .string("Met in run \(number)")],
      localID: "local_\(1_000_000 + number)", now: world.org.now())
    if number % 5 == 0,
      let id = try world.ids("contacts", on: phone).first(where: { !$0.hasPrefix("local") })
    {
      try phone.edit("contacts", id: id, ["Title": .string("Seen \(number)")], now: world.org.now())
    }
    return phone
  }

  // MARK: years

  /// Checks that there are stores of as many generations as `keep` says, and of others only if it
  /// names them.
  private func checkGenerations() throws {
    let plan = try KeepWork.prune(world.pipeline, root: world.root, isDryRun: true)
    for id in try world.data.snapshots() {
      let whole = try world.data.generations(of: id).filter {
        try PrunedGeneration(directory: world.data.generation($0, of: id)) == nil
      }
      let pinned = plan.staying.count { $0.kind == .generation && $0.snapshot == id }
      #expect(whole.count <= 3 + pinned, "\(id): \(whole), \(pinned) pinned")
    }
  }

  /// Checks that in the steady state, the last third is like the one before.
  private func checkFlat(_ nights: [DailyRun]) {
    guard nights.count > Self.settled + 60 else { return }
    let third = (nights.count - Self.settled) / 3
    let (before, last) = (nights.dropLast(third).suffix(third), nights.suffix(third))
    func ratio(_ value: (DailyRun) -> Double) -> Double {
      let sorted = [before, last].map { $0.map(value).sorted() }
      return sorted[1][third / 2] / max(sorted[0][third / 2], 1e-9)
    }
    let (time, disk) = (ratio(\.seconds), ratio { Double($0.disk) })
    let (files, memory) = (ratio { Double($0.descriptors) }, ratio(\.residentMiB))
    print(
      "YearTests: last third next to the previous third: time \(time), disk \(disk), files \(files), memory \(memory)"
    )
    #expect(time < 1.25)
    #expect(disk < 1.1)
    #expect(files <= 1.05)
    #expect(memory < 1.1)
  }
}
