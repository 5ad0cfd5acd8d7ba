import Foundation
import Pipelines
import System
import Testing

@Suite struct FindingsToldTests {
  let world: World
  init() throws { world = try World.withoutSharing() }

  private func status() throws -> PipelineStatus {
    try PipelineStatus.read(world.pipeline, root: world.root)
  }

  private func put(_ text: String, as name: String) throws {
    let path = world.data.inbox("inbox") + "/" + name
    try DurableFile.write(Array(text.utf8), to: path)
    try Files.setModificationTime(of: path, nanoseconds: 1_700_000_000_000_000_000)
  }

  @Test func `a refused return is reported with reason and file until removal`() async throws {
    let (device, account) = try await world.primed("ada", first: "accounts")
    try world.handBack(device, as: "ada.sqlite", edited: account, ["Phone": "+1 555 0153"])
    try put("no store", as: "note.txt")
    let first = try await world.run()
    let second = try await world.run()
    let third = try await world.run(.pack)
    #expect(
      [first, second, third].map(\.exitStatus) == [
        .needsAttention, .needsAttention, .needsAttention,
      ])
    let told = try Told(world)
    #expect(Set(told.states(first.run, "returns")) == ["accepted", "quarantined"])
    #expect(told.states(second.run, "returns") == ["quarantined, as before"])
    #expect(told.states(third.run, "returns") == ["quarantined, as before"])
    let refused = try #require(
      told.report(first.run)["returns"]?.array?.first { $0["state"] == "quarantined" })
    #expect(refused["name"] == "note.txt")
    #expect(refused["code"] == "return.not-a-database")
    #expect(refused["reason"]?.string?.isEmpty == false)
    let place = try #require(refused["path"]?.string)
    #expect(Files.exists(place + "/note.txt"))
    #expect(try status().quarantined == 1)
    // Remove only the reason: the file stays, and is no longer reported.
    try Files.remove(place + ".reason.json")
    #expect(try status().quarantined == 0)
    let last = try await world.run()
    #expect(last.exitStatus == .done)
    #expect(last.report == nil)
  }

  @Test func `a refused return that left the quarantine is closed with its reason`() async throws {
    try await world.run()
    try put("no store", as: "note.txt")
    #expect(try await world.run().exitStatus == .needsAttention)
    let names = try Files.list(world.data.quarantine)
    let place = try #require(names.first { !$0.hasSuffix(".json") })
    try Files.remove(world.data.quarantine + "/" + place)
    #expect(try status().quarantined == 0)
    #expect(try await world.run().exitStatus == .done)
  }

  @Test func `a file that stays in the inbox is reported until it is gone`() async throws {
    try await world.run()
    let path = world.data.inbox("inbox") + "/link.db"
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/passwd")
    let first = try await world.run()
    let second = try await world.run(.ingest)
    #expect([first, second].map(\.exitStatus) == [.needsAttention, .needsAttention])
    #expect(try Told(world).states(first.run, "returns") == ["left in the inbox"])
    #expect(try status().findings.map(\.kind) == [.returnLeft])
    try Files.remove(path)
    #expect(try await world.run(.ingest).exitStatus == .done)
  }

  @Test func `a skipped user is reported until a prime succeeds`() async throws {
    let names = #""list": ["ada@example.com", "ben@example.com"],"#
    let world = try World { $0.replacing(/"query": "SELECT[^\n]*/, with: names) }
    try world.org.setActive("ben@example.com", false)
    let first = try await world.run()
    #expect(first.exitStatus == .needsAttention)
    let told = try Told(world)
    let skipped = try #require(told.report(first.run)["skippedUsers"]?.array?.first)
    #expect(skipped["username"] == "ben@example.com")
    #expect(skipped["reason"]?.string?.isEmpty == false)
    // A run that primes no one.
    let second = try await world.run(.ingest, .reconcile)
    #expect(second.exitStatus == .needsAttention)
    #expect(try Told(world).states(second.run, "skippedUsers") == ["skipped, as before"])
    let waiting = try PipelineStatus.read(world.pipeline, root: world.root).findings
    #expect(waiting.map(\.subject) == ["ben@example.com"])
    try world.org.setActive("ben@example.com", true)
    #expect(try await world.run().exitStatus == .done)
    #expect(try PipelineStatus.read(world.pipeline, root: world.root).findings == [])
  }

  @Test func `a dry run exits like a run if a user cannot log in`() async throws {
    let names = #""list": ["ada@example.com", "ben@example.com"],"#
    let world = try World { $0.replacing(/"query": "SELECT[^\n]*/, with: names) }
    #expect(try await world.run { $0.isDryRun = true }.exitStatus == .done)
    try world.org.setActive("ben@example.com", false)
    let look = try await world.run { $0.isDryRun = true }
    #expect(look.findings == [.skippedUser])
    #expect(look.exitStatus == .needsAttention)
  }

  @Test func `a global store that cannot be fetched fails the run`() async throws {
    let names = #""list": ["ada@example.com", "ben@example.com"],"#
    let world = try World { $0.replacing(/"query": "SELECT[^\n]*/, with: names) }
    world.server.faults.add(
      .init(kind: .query, user: "attache@example.com"), times: 1000, .drop(afterCommit: false))
    let error = await #expect(throws: (any Error).self) {
      try await world.run()
    }
    #expect(error.map { PipelineError(describing: $0).kind } == .tryLater)
    #expect(world.skipped == [])
    world.server.faults.removeAll()
    #expect(try await world.run().findings == [])
  }

  @Test func `a skipped user who is no longer in the pipeline is not reported`() async throws {
    world.server.faults.add(
      .init(kind: .retrieve, user: "ben@example.com"), times: 1000, .drop(afterCommit: false))
    #expect(try await world.run().findings.contains(.skippedUser))
    world.server.faults.removeAll()
    try world.org.setActive("ben@example.com", false)
    #expect(try await world.run().exitStatus == .done)
  }

  @Test func `findings of an interrupted run are reported by the next one`() async throws {
    try await world.run()
    try put("no store", as: "note.txt")
    try await world.die {
      if case .stageFinished(let cost) = $0 { cost.stage == .ingest } else { false }
    }
    try world.org.moveClock(by: 25 * 3_600_000)
    let next = try await world.run()
    #expect(try Told(world).states(next.run, "returns") == ["quarantined"])
  }

  @Test func `a failed run reports its earlier findings`() async throws {
    try await world.run()
    try put("no store", as: "note.txt")
    let device = try world.device("ada")
    let account = try #require(try world.ids("accounts", on: device).first)
    try world.handBack(device, as: "ada.sqlite", edited: account, ["Phone": "+1 555 0153"])
    world.server.faults.add(.kind(.query), times: 1000, .drop(afterCommit: false))
    await #expect(throws: (any Error).self) { try await world.run() }
    world.server.faults.removeAll()
    let told = try Told(world)
    #expect(told.reports.count == 1)
    let run = try #require(told.reports.first?.run)
    #expect(told.states(run, "returns").contains("quarantined"))
  }

  @Test func `a failing org rule is reported until it works again`() async throws {
    try await world.run()
    world.server.faults.add(
      .kind(.priming), .ruleError(ruleID: "0nP000000000001AAA", object: "Account"))
    let first = try await world.run()
    #expect(first.exitStatus == .needsAttention)
    let error = try #require(
      try Told(world).report(first.run)["ruleErrors"]?.array?.first, "\(first.findings)")
    #expect(error["reason"]?.string?.contains("0nP000000000001AAA") == true)
    #expect(try status().findings.map(\.kind) == [.incomplete])
    #expect(try await world.run().exitStatus == .done)
    #expect(try status().findings == [])
  }

  @Test func `changes that wait for confirmation are reported with the command`() async throws {
    let world = try World { text in
      text.replacingOccurrences(
        of: #""unansweredWaitSeconds": 0"#,
        with: #""unansweredWaitSeconds": 0, "maxChanges": {"perSnapshot": 1}"#)
    }
    let device = try await world.primed("ada")
    for account in try world.ids("accounts", on: device).prefix(2) {
      try device.edit("accounts", id: account, ["Phone": "+1 555 0153"], now: world.org.now())
    }
    let held = try await world.run(device, as: "ada.sqlite")
    #expect(held.exitStatus == .needsAttention)
    let told = try #require(try Told(world).report(held.run)["guards"]?.array?.first)
    #expect(told["username"] == "ada@example.com")
    let words = try #require(told["fix"]?.string)
    let digest = try #require(words.firstMatch(of: /--confirm (\S+)/)?.1)
    let sent = try await world.run(options: { $0.confirmed = [String(digest)] })
    #expect(sent.verdicts == [.updated: 2])
    #expect(sent.exitStatus == .done)
  }
}
