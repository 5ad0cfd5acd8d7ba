import JSON
import System
import TestSupport
import Testing

@Suite struct RehearsedReportTests {
  @Test func `a dry run with a report writes the report and nothing else`() async throws {
    let world = try World()
    let phone = try await world.runFieldDay(handBack: false)
    try phone.create(
      "accounts", type: "Account", ["Name": "Quay"], localID: "local_1", now: world.org.now())
    try world.handBack(phone, as: "ada.sqlite")
    let before = try Tree.entries(world.data.path)
    let writes = world.server.log.writes.count
    let place = world.directory.file("preview")
    for own in ["", "/users", "/inbox"] {
      await #expect(throws: (any Error).self) {
        try await world.run {
          $0.isDryRun = true
          $0.rehearsal = world.data.path + own
        }
      }
      #expect(try Tree.entries(world.data.path) == before)
    }
    let look = try await world.run {
      $0.isDryRun = true
      $0.rehearsal = place
    }
    #expect(look.verdicts == [.conflict: 1, .updated: 1, .created: 1])
    #expect(look.report == place)
    #expect(try Tree.entries(world.data.path) == before)
    #expect(world.server.log.writes.count == writes)

    let foreseen = try JSONValue(parsing: try Files.read(place + "/report.json"))
    #expect(try JSONSchema(published: "report.schema.json").faults(foreseen) == [])
    #expect(foreseen["run"]?["rehearsal"] == true)
    let new = foreseen["records"]?.array?.first { $0["verdict"] == "created" }
    #expect(new?["name"] == "Quay")
    #expect(new?["recordId"] == nil)
    #expect(new?["link"] == nil)
    func text(_ file: String) throws -> String {
      String(decoding: try Files.read(place + "/" + file), as: UTF8.self)
    }
    #expect(try text("report.html").contains("<strong>Nothing was sent.</strong>"))
    #expect(try text("records.csv").contains(",rehearsal,"))
    #expect(try text("success.csv").contains("Rehearsal: Item Created"))

    let night = try await world.run()
    let made = try Told(world).report(night.run)
    #expect(made["verdicts"] == foreseen["verdicts"])
    #expect(made["returns"]?.array?.count == foreseen["returns"]?.array?.count)
    #expect(made["run"]?["rehearsal"] == nil)
    let html = String(
      decoding: try Files.read(world.data.report(night.run) + "/report.html"), as: UTF8.self)
    #expect(!html.contains("Nothing was sent."))
  }
}
