import JSON
import Ledger
import LocalOrg
import Pipelines
import Reports
import Testing

@Suite struct LostAnswerTests {
  let world: World
  init() throws {
    world = try World {
      $0.replacingOccurrences(
        of: #""unansweredWaitSeconds": 0"#, with: #""unansweredWaitSeconds": 900"#)
    }
  }

  private static let fields: JSONObject = ["LastName": "Lovelace", "Title": "Analyst"]

  /// Ada's phone creates contacts; the answer is lost, after or before the org's commit.
  private func loseCreates(
    _ contacts: [JSONObject] = [Self.fields], afterCommit: Bool = true
  ) async throws {
    let device = try await world.primed("ada")
    for (place, fields) in contacts.enumerated() {
      try device.create(
        "contacts", type: "Contact", fields, localID: "local_\(place)", now: world.org.now())
    }
    try world.handBack(device, as: "ada.sqlite")
    world.server.faults.add(.kind(.collectionCreate), .drop(afterCommit: afterCommit))
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.unconfirmed: contacts.count])
  }

  private func contacts(_ name: String = "Lovelace") throws -> [String] {
    let page = try world.org.query(
      "SELECT Id FROM Contact WHERE LastName = '\(name)'", as: try world.user("admin"),
      includeDeleted: true)
    return (try JSONValue(parsing: page.records).array ?? []).compactMap { $0["Id"]?.string }
  }

  private func nextNight(afterSeconds: Int64 = 86_400) async throws -> (RunSummary, [ReportEdit]) {
    try world.org.moveClock(by: afterSeconds * 1000)
    let summary = try await world.run(.ingest, .reconcile)
    return (summary, try edits(of: summary))
  }

  private func edits(of summary: RunSummary) throws -> [ReportEdit] {
    let state = try LedgerDatabase(path: world.data.state)
    defer { state.close() }
    let model = try ReportModel(state: state, run: summary.run, called: "field")
    return try model.edits.all() + model.stillOpen.all()
  }

  /// What another user did with the record, and what the report says of it.
  @Test(arguments: [
    "corrected": "Title", "reassigned": "another owner", "deleted": "it has been deleted",
  ])
  func `a lost create that another user changed is not repeated`(
    _ change: String, _ told: String
  ) async throws {
    try await loseCreates()
    let id = try #require(try contacts().first)
    switch change {
    case "corrected": try world.change(id, ["Title": "Countess"], of: "Contact")
    case "reassigned":
      try world.change(id, ["OwnerId": .string(try world.user("ben").id)], of: "Contact")
    default:
      #expect(world.org.delete("Contact", id: id, as: try world.user("admin")).errors.isEmpty)
    }
    let (summary, edits) = try await nextNight()
    #expect(summary.verdicts == [.created: 1])
    #expect(try contacts() == [id])
    #expect(edits.first?.detail.message?.contains(told) == true)
    guard change == "corrected" else { return }
    #expect(edits.first?.detail.recordID == id)
    #expect(edits.first?.detail.fields.compactMap(\.server) == ["Countess"])
    #expect(try world.record("Contact", id)["Title"] == "Countess")
  }

  @Test func `a create that the org refused does not match its neighbour's record`() async throws {
    // The org refuses the second, which has no last name.
    try await loseCreates([Self.fields, ["Title": "Analyst"]])
    let (summary, edits) = try await nextNight()
    #expect(summary.verdicts == [.created: 1, .failed: 1])
    #expect(try contacts().count == 1)
    #expect(edits.map(\.verdict) == [.created, .failed])
  }

  @Test func `a refused create does not match its sender's manual record`() async throws {
    // The org refuses it, because it has no last name.
    try await loseCreates([["Title": "Analyst"]], afterCommit: false)
    let other = world.org.create(
      "Contact", ["LastName": "Byron", "Title": "Poet"], as: try world.user("ada"))
    #expect(other.id != nil)
    let (summary, _) = try await nextNight()
    #expect(summary.verdicts == [.failed: 1])
  }

  static func unnamed() throws -> OrgSetup {
    try OrgSetup(
      parsing: Array(
        """
        {"objects": {"Contact": {"fieldUpdates": [
          {"name": "Name", "condition": "ISBLANK(LastName)", "set": {"LastName": "'Unnamed'"}}]}}}
        """.utf8))
  }

  @Test(arguments: [true, false])
  func `a lost create that automation renames is not repeated`(_ isMade: Bool) async throws {
    try world.org.setUp(Self.unnamed())
    try await loseCreates([["Title": "Analyst"]], afterCommit: isMade)
    let made = try contacts("Unnamed")
    #expect(made.count == (isMade ? 1 : 0))
    let (summary, edits) = try await nextNight()
    // Only an operator can say that the record is that create's.
    #expect(summary.verdicts == [isMade ? .unconfirmed : .created: 1])
    #expect(try contacts("Unnamed").count == 1)
    if isMade { #expect(edits.first?.detail.otherID == made.first) }
  }

  @Test func `a lost create is resolved for a user who can no longer log in`() async throws {
    try await loseCreates()
    try world.org.setActive("ada@example.com", false)
    let (summary, _) = try await nextNight()
    #expect(summary.verdicts == [.created: 1])
    #expect(try contacts().count == 1)
  }
}
