import Ledger
import Pipelines
import SQLite
import System
import Testing

@Suite struct VerdictsToldTests {
  let world: World
  init() throws { world = try World() }

  @Test func `an open edit is in every report until resolved, and keeps the status`() async throws {
    let device = try await world.runFieldDay()
    let first = try await world.run()
    #expect(first.verdicts == [.conflict: 1, .updated: 1])
    #expect(first.exitStatus == .needsAttention)
    let second = try await world.run()
    #expect(second.verdicts == [:])
    #expect(second.findings == [.unsettledEdits])
    #expect(second.exitStatus == .needsAttention)
    #expect(second.report != nil)
    let third = try await world.run(device, as: "again.sqlite")
    #expect(third.exitStatus == .needsAttention)
    let fourth = try await world.run(.pack)
    #expect(fourth.exitStatus == .needsAttention)

    let told = try Told(world)
    #expect(told.report(third.run)["stillOpen"]?.array?.first?["ageDays"] == 0)
    let (edit, verdict) = try #require(told.news(first.run).first { $0.value == "conflict" })
    #expect(told.open(first.run) == [:])
    for run in [second.run, third.run, fourth.run] {
      #expect(told.open(run) == [edit: verdict], "\(run)")
      #expect(told.report(run)["openEdits"] == 1)
      #expect(told.report(run)["openVerdicts"] == ["conflict": 1])
      #expect(told.report(run)["verdicts"]?["conflict"] == 0)
      let open = told.report(run)["stillOpen"]?.array?.first
      #expect(open?["foundBy"]?.string == first.run)
      #expect(
        open?["next"]?.string
          == "Compare the values and decide: attache decide \(world.pipeline.called) \(edit) "
          + "followed by one of: --take device, --take server, --set FIELD=VALUE, --retry.")
    }
    #expect(told.times(edit) == 1)
    #expect(try status().open.map(\.number) == [edit])
  }

  @Test func `an edit again not attempted is not new, a resolved one is`() async throws {
    try await world.runFieldDay("ben")
    try world.org.setActive("ben@example.com", false)
    var runs: [RunSummary] = []
    for _ in 0..<2 { runs.append(try await world.run(.ingest, .reconcile)) }
    try world.org.setActive("ben@example.com", true)
    runs.append(try await world.run(.ingest, .reconcile))
    let told = try Told(world)
    #expect(told.news(runs[0].run).values.sorted() == ["not attempted", "not attempted"])
    #expect(told.news(runs[1].run) == [:])
    #expect(told.open(runs[1].run).values.sorted() == ["not attempted", "not attempted"])
    #expect(runs[1].exitStatus == .needsAttention)
    #expect(told.news(runs[2].run).values.sorted() == ["conflict", "updated"])
    #expect(told.open(runs[2].run) == [:])
  }

  // MARK: interrupted runs

  @Test func `a run interrupted for a day passes its verdicts to the next report`() async throws {
    try await world.runFieldDay()
    // The moment before the first file of its report exists.
    try await world.die { if case .editsSettled = $0 { true } else { false } }
    let dead = try #require(try status().runs.first)
    #expect(try status().unsettled == [.conflict: 1])
    try world.org.moveClock(by: 25 * 3_600_000)
    let next = try await world.run()
    let told = try Told(world)
    #expect(next.run != dead.id)
    #expect(told.reports.map(\.run) == [next.run])
    #expect(told.news(next.run).values.contains("conflict"))
    #expect(told.news(next.run).count == 2)
    #expect(told.open(next.run) == [:])
    #expect(next.exitStatus == .needsAttention)
    let later = try await world.run()
    #expect(try Told(world).news(later.run) == [:])
    #expect(try Told(world).open(later.run).values.sorted() == ["conflict"])
  }

  @Test func `verdicts of an interrupted run's report are not new later`() async throws {
    try await world.runFieldDay()
    // Its report exists, whether the ledger knows it or not: the next run is a new one.
    try await world.die { if case .reportWritten = $0 { true } else { false } }
    let dead = try #require(try status().runs.first)
    try world.org.moveClock(by: 25 * 3_600_000)
    let next = try await world.run()
    let told = try Told(world)
    #expect(told.news(dead.id).values.sorted() == ["conflict", "updated"])
    #expect(told.news(next.run) == [:])
    #expect(told.open(next.run).values.sorted() == ["conflict"])
    for edit in told.news(dead.id).keys { #expect(told.times(edit) == 1) }
  }

  @Test(arguments: [[Stage.ingest], [.pack], [.ingest, .pack]])
  func `an unrelated command neither ends an interrupted run nor hides its verdicts`(
    _ stages: [Stage]
  ) async throws {
    try await world.runFieldDay()
    try await world.die { if case .stageStarted(.prime) = $0 { true } else { false } }
    let dead = try #require(try status().runs.first)
    #expect(dead.ended == nil)
    #expect(try await world.run { $0.stages = Set(stages) }.exitStatus == .needsAttention)
    #expect(try status().runs.first?.ended == nil)
    #expect(try await world.run().run == dead.id)
    #expect(try status().runs.first?.ended != nil)
    let told = try Told(world)
    #expect(told.reports.map(\.run) == [dead.id])
    #expect(told.news(dead.id).values.sorted() == ["conflict", "updated"])
  }

  @Test func `an interrupted run is finished when its requested stages are done`() async throws {
    try await world.runFieldDay()
    try await world.die(.ingest, .reconcile) {
      if case .stageStarted(.reconcile) = $0 { true } else { false }
    }
    let next = try await world.run(.reconcile)
    #expect(next.exitStatus == .needsAttention)
    #expect(try status().runs.first?.id == next.run)
    #expect(try status().runs.first?.exitStatus == 3)
  }

  @Test func `a stage that was interrupted is not done`() async throws {
    try await world.runFieldDay()
    try await world.die { if case .snapshotPrimed = $0 { true } else { false } }
    let dead = try #require(try status().runs.first)
    #expect(dead.finished == ["ingest", "reconcile"])
    let verb = try await world.run(.pack)
    #expect(verb.warnings.contains { $0.contains("prime waits for the next run") })
    #expect(try status().runs.first?.ended == nil)
    #expect(try await world.run(.prime).run == dead.id)
    #expect(try status().runs.first?.ended != nil)
  }

  @Test func `a failing command does not end an interrupted run with more to do`() async throws {
    try await world.runFieldDay()
    try await world.die { if case .stageStarted(.reconcile) = $0 { true } else { false } }
    let dead = try #require(try status().runs.first)
    try await world.ingestFails()
    #expect(try status().runs.first?.id == dead.id)
    #expect(try status().runs.first?.ended == nil)
    let next = try await world.run()
    #expect(next.run == dead.id)
    #expect(next.verdicts == [.conflict: 1, .updated: 1])
    // One that fails in all remaining work ends it.
    try await world.die(.ingest) { if case .stageStarted(.ingest) = $0 { true } else { false } }
    try await world.ingestFails()
    #expect(try status().runs.first?.ended != nil)
  }

  @Test func `a dry run neither resumes an interrupted run nor writes its report`() async throws {
    try await world.runFieldDay()
    try await world.die { if case .reportWritten = $0 { true } else { false } }
    let dead = try #require(try status().runs.first)
    let ledger = try Connection(world.data.state)
    try ledger.run("UPDATE run SET report = 'begun' WHERE id = \(dead.id)")
    ledger.close()
    let before = try Tree.entries(world.data.path)
    for hours: Int64 in [0, 25] {
      try world.org.moveClock(by: hours * 3_600_000)
      world.told.withLock { $0 = [] }
      #expect(try await world.run { $0.isDryRun = true }.run != dead.id)
      let resumed = world.told.withLock { $0 }.compactMap {
        if case .runStarted(_, _, let resumed) = $0 { resumed } else { nil }
      }
      #expect(resumed == [false])
      #expect(try Tree.entries(world.data.path) == before)
    }
  }

  @Test(arguments: [true, false], [(1, true), (25, true), (1, false), (25, false)])
  func `a run interrupted while reporting lists each verdict in one report`(
    _ hasFiles: Bool, _ later: (hours: Int64, hasVerb: Bool)
  ) async throws {
    try await world.runFieldDay()
    try await world.die { if case .reportWritten = $0 { true } else { false } }
    let dead = try #require(try status().runs.first)
    // Between the ledger's entries that it is about to be written and that it was.
    let ledger = try Connection(world.data.state)
    try ledger.run("UPDATE run SET report = 'begun' WHERE id = \(dead.id)")
    ledger.close()
    if !hasFiles {
      try Files.rename(world.data.report(dead.id), to: world.data.reports + "/.tmp-1-half")
    }
    try world.org.moveClock(by: later.hours * 3_600_000)
    // Another run may end before one resumes it.
    if later.hasVerb { #expect(try await world.run(.pack).exitStatus == .needsAttention) }
    let next = try await world.run()
    let last = try await world.run()
    let told = try Told(world)
    #expect((next.run == dead.id) == (later.hours == 1))
    let edits = told.reports.flatMap { told.news($0.run).keys }
    #expect(edits.count == 2, "\(told.reports.map(\.run))")
    #expect(Set(edits).count == 2)
    // Reported there if its files exist; then nowhere else.
    if hasFiles { #expect(told.news(dead.id).count == 2) }
    #expect(told.open(last.run).values.sorted() == ["conflict"])
    #expect(try Files.list(world.data.reports).filter { $0.hasPrefix(".") } == [])
  }

  @Test(arguments: [false, true])
  func `a resumed run completes the report that was started`(_ hasFiles: Bool) async throws {
    let (device, account) = try await world.primed("ada", first: "accounts")
    try world.handBack(device, as: "ada.sqlite", edited: account, ["Phone": "+1 555 0153"])
    try await world.die {
      if case .reportWritten = $0 {
        hasFiles
      } else if case .editsSettled = $0 {
        !hasFiles
      } else {
        false
      }
    }
    let dead = try #require(try status().runs.first)
    let ledger = try LedgerDatabase(path: world.data.state)
    try ledger.note(.report(.begun), run: dead.id)
    ledger.close()
    if hasFiles { try Files.remove(world.data.report(dead.id) + "/records.csv") }
    let next = try await world.run()
    #expect(next.run == dead.id)
    #expect(next.report == world.data.report(dead.id))
    #expect(Files.exists(world.data.report(dead.id) + "/records.csv"))
    #expect(try Told(world).news(dead.id).values.sorted() == ["updated"])
    #expect(try await world.run().report == nil)
    #expect(try Told(world).reports.map(\.run) == [dead.id])
  }

  private func status() throws -> PipelineStatus {
    try PipelineStatus.read(world.pipeline, root: world.root)
  }
}
