import JSON
import Ledger
import Pipelines
import System
import TestSupport
import Testing

@Suite struct ReportCommandTests {
  let world: World
  init() throws { world = try World() }

  private func attache(_ words: String...) throws -> ChildProcess.Result {
    var variables = ProcessEnvironment.variables()
    variables.merge(world.variables) { $1 }
    variables["ATTACHE_DATA"] = world.root
    return try ChildProcess.run(ChildRun.executable, words, environment: variables)
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  /// Returns a phone's edit that conflicts with another user's change.
  private func collide() throws {
    let device = try world.device("ada")
    let account = try #require(try world.ids("accounts", on: device).first)
    try device.edit("accounts", id: account, ["Phone": "+1 555 0151"], now: world.org.now())
    let changed = world.org.update(
      "Account", id: account, ["Phone": "+1 555 0152"], as: try world.user("admin"))
    #expect(changed.errors == [])
    try world.handBack(device, as: "ada.sqlite")
  }

  @Test func `with --quiet, open items are one line with the report`() async throws {
    try await world.run()
    #expect(try attache("run", world.pipeline.file, "--quiet").error == [])
    try collide()
    let note = world.data.inbox("inbox") + "/note.txt"
    try DurableFile.write(Array("no store".utf8), to: note)
    for _ in 0..<2 {
      let run = try attache("run", world.pipeline.file, "--quiet")
      #expect(run.status == 3)
      #expect(run.output == [])
      let said = text(run.error)
      #expect(said.split(separator: "\n").count == 1, "\(said)")
      #expect(said.contains("open edits: 1"))
      #expect(said.contains("returns in quarantine: 1"))
      let place = try #require(said.firstMatch(of: /report: (\S+)/)?.1)
      #expect(Files.exists(String(place) + "/report.html"))
    }
  }

  /// Run numbers restart after a ledger was lost.
  @Test func `the newest report is the latest by time, not by number`() async throws {
    try await world.run()
    try collide()
    try await world.run()
    let name = try #require(try Files.list(world.data.reports).last)
    let older = world.data.reports + "/20200101T000000Z-900"
    #expect(
      try ChildProcess.run("/bin/cp", ["-r", world.data.report(name), older], environment: [:])
        .status == 0)
    let shown = try attache("report", world.pipeline.file, "--format", "json")
    #expect(try JSONValue(parsing: shown.output)["run"]?["id"]?.string == name)
  }

  /// A run that does not contact the org is dated by the machine's clock.
  @Test func `the last report is the latest run's, despite a fast clock`() async throws {
    try await world.run()
    try collide()
    try await world.run()
    let ingest = try await world.run(.ingest)
    let last = try await world.run()
    #expect(RunRow.time(ofID: ingest.run) > RunRow.time(ofID: last.run))
    #expect([ingest.report, last.report].allSatisfy { $0 != nil })
    let shown = try attache("report", world.pipeline.file, "--format", "json")
    #expect(try JSONValue(parsing: shown.output)["run"]?["id"]?.string == last.run)
    let status = try attache("status", world.pipeline.file, "--json")
    #expect(try JSONValue(parsing: status.output)["runs"]?.array?.first?["run"]?.string == last.run)
  }

  @Test func `status lists open items with age and location`() async throws {
    try await world.run()
    try collide()
    try DurableFile.write(Array("no store".utf8), to: world.data.inbox("inbox") + "/note.txt")
    let run = try await world.run()
    let said = text(try attache("status", world.pipeline.file).output)
    #expect(said.contains("open edits: 1"))
    #expect(said.contains("    edit 1: Account 001"))
    #expect(said.contains("of ada@example.com, since 20"))
    #expect(said.contains("  quarantined: note.txt: "))
    #expect(said.contains(world.data.quarantine + "/"))
    let json = try JSONValue(parsing: try attache("status", world.pipeline.file, "--json").output)
    #expect(json["open"]?.array?.first?["foundBy"]?.string == run.run)
    #expect(json["waiting"]?.array?.first?["kind"] == "returnQuarantined")
  }

  @Test func `the report of an interrupted run shows its known results`() async throws {
    try await world.run()
    try collide()
    try await world.die { if case .editsSettled = $0 { true } else { false } }
    let dead = try #require(
      try PipelineStatus.read(world.pipeline, root: world.root).runs.first?.id)
    let said = try attache("report", world.pipeline.file, dead)
    #expect(said.status == 0)
    #expect(text(said.output) == "1\tconflict\n")
    #expect(text(said.error).contains("is not finished"))
    let json = try JSONValue(
      parsing: try attache("report", world.pipeline.file, dead, "--format", "json").output)
    #expect(json["verdicts"]?["conflict"] == 1)
    #expect(json["run"]?["id"]?.string == dead)
    // A day later another run reports it, and the first report names that run.
    try world.org.moveClock(by: 25 * 3_600_000)
    let next = try await world.run()
    let later = try attache("report", world.pipeline.file, dead)
    #expect(text(later.error).contains("see that of \(next.run)"))
    #expect(text(later.output) == "1\tconflict\n")
    let none = try attache("report", world.pipeline.file, "20260101T000000Z-99")
    #expect(none.status == 4)
    #expect(text(none.error).contains("report.none"))
  }

  @Test func `a failed run without a report is called failed`() async throws {
    try await world.run()
    world.server.faults.add(
      .kind(.query), times: 1000, .status(400, code: "INVALID_QUERY_FILTER_OPERATOR"))
    let run = try attache("run", world.pipeline.file)
    #expect(run.status != 0 && !text(run.error).contains("report: "), "\(text(run.error))")
    let said = try attache("report", world.pipeline.file)
    #expect(said.status == 0)
    #expect(
      text(said.output).contains("failed with exit status \(run.status) ("), "\(text(said.output))")
    let one = try #require(try PipelineStatus.read(world.pipeline, root: world.root).runs.first?.id)
    let named = try attache("report", world.pipeline.file, one)
    #expect(text(named.error).contains(", and had nothing to report"), "\(text(named.error))")
  }

  @Test func `a failed run names its report`() async throws {
    try await world.run()
    try DurableFile.write(Array("no store".utf8), to: world.data.inbox("inbox") + "/note.txt")
    world.server.faults.add(
      .kind(.priming), times: 1000, .status(400, code: "INVALID_QUERY_FILTER_OPERATOR"))
    world.server.faults.add(
      .kind(.query), times: 1000, .status(400, code: "INVALID_QUERY_FILTER_OPERATOR"))
    let run = try attache("run", world.pipeline.file)
    #expect(run.status != 0)
    let said = text(run.error)
    let place = try #require(said.firstMatch(of: /report: (\S+)/)?.1, "\(said)")
    #expect(Files.exists(String(place) + "/report.json"))
  }

  @Test func `a missing report is not described as empty`() async throws {
    try await world.run()
    try collide()
    let run = try await world.run()
    try Files.rename(world.data.report(run.run), to: world.directory.file("away"))
    let said = try attache("report", world.pipeline.file, run.run)
    #expect(text(said.output) == "1\tconflict\n")
    #expect(text(said.error).contains("the report of run \(run.run) is missing"))
  }

  @Test func `a report is printed in each format, and for one user`() async throws {
    try await world.run()
    try collide()
    let run = try await world.run()
    let place = world.data.report(run.run)
    let forms = [("json", "report.json"), ("html", "report.html"), ("csv", "records.csv")]
    for (form, file) in forms {
      let said = try attache("report", world.pipeline.file, "--format", form)
      #expect(said.status == 0)
      #expect(text(said.output) == text(try Files.read(place + "/" + file)))
    }
    #expect(
      try attache("report", world.pipeline.file, "--format", "text").output
        == attache("report", world.pipeline.file).output)
    for (word, count) in [("ada", 1), ("ADA@example.com", 1), ("ben", 0)] {
      let json = try JSONValue(
        parsing: try attache("report", world.pipeline.file, "--user", word, "--format", "json")
          .output)
      #expect(json["edits"]?.int == Int64(count))
      #expect(try JSONSchema(published: "report.schema.json").faults(json) == [])
    }
    let unknown = try attache("report", world.pipeline.file, "--user", "zoe")
    #expect(unknown.status == 2)
    #expect(text(unknown.error).contains("no user name contains \"zoe\""))
    #expect(text(unknown.error).contains("ada@example.com, ben@example.com"))
    let several = try attache("report", world.pipeline.file, "--user", "example.com")
    #expect(several.status == 2 && text(several.error).contains("\" matches several users"))
  }
}
