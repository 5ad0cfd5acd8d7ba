import Pipelines
import Testing

@Suite struct OneUsersTroubleRunsTests {
  let world: World
  init() throws {
    world = try World { text in
      text.replacing(
        ",\n      \"integrationUser\": \"attache@example.com\"", with: ""
      )
      .replacing(
        #/"users": \{[^}]*\}[^}]*\}/#,
        with: #""users": {"list": ["ada@example.com", "ben@example.com"]}"#
      ).replacing(#/,\s*\{\s*"scope": "global"[^}]*\}/#, with: "")
    }
  }

  private func run() async throws -> RunSummary {
    try await world.run(.ingest, .reconcile)
  }

  /// Both phones create a contact, and the answers are lost.
  private func loseCreates() async throws {
    try await world.run()
    for name in ["ada", "ben"] {
      let device = try world.device(name)
      try device.create(
        "contacts", type: "Contact", ["LastName": .string("Of \(name)")], localID: "local_1",
        now: world.org.now())
      try world.handBack(device, as: name + ".sqlite")
    }
    world.server.faults.add(.kind(.collectionCreate), times: 2, .drop(afterCommit: true))
    // Nothing can be looked up in that run.
    world.server.faults.add(
      .init(pathPrefix: "/services/data/v66.0/queryAll"), times: 1000,
      .status(400, code: "MALFORMED_QUERY"))
    #expect(try await run().verdicts == [.unconfirmed: 2])
    world.server.faults.removeAll()
  }

  private func count() throws -> Int {
    try world.org.query(
      "SELECT Id FROM Contact WHERE LastName LIKE 'Of %'", as: try world.user("admin")
    ).totalSize
  }

  @Test(arguments: ["ada", "ben"])
  func `unconfirmed edits of a user whose login ends are reported`(_ name: String) async throws {
    try await loseCreates()
    world.server.faults.add(
      .init(pathPrefix: "/services/data/v66.0/query", user: name + "@example.com"), times: 1000,
      .status(401, code: "INVALID_SESSION_ID"))
    let night = try await run()
    #expect(night.verdicts == [.created: 1, .unconfirmed: 1])
    #expect(night.exitStatus == .needsAttention)
    #expect(
      night.warnings.contains { $0.contains("1 edit of \(name)@example.com stays unconfirmed") },
      "\(night.warnings)")
    world.server.faults.removeAll()
    let next = try await run()
    #expect(next.verdicts == [.created: 1])
    #expect(next.exitStatus == .done)
    #expect(try count() == 2)
  }
}
