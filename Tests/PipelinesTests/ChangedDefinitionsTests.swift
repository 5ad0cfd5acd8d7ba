import Bundles
import JSON
import Pipelines
import Testing

/// Changed definitions of soups and syncs: everything is fetched again, and no device is emptied by
/// it.
@Suite struct ChangedDefinitionsTests {
  let world: World
  init() throws { world = try World(file: IncrementalTruthTests.pipeline.get().file("truth.json")) }

  private func run(_ change: (inout RunOptions) -> Void = { _ in }) async throws -> RunSummary {
    try await world.runAsWritten(Set(Stage.allCases), options: change)
  }

  private func ids() throws -> Set<String> {
    Set(try world.ids("accounts", on: world.device("ada", as: "d\(world.server.log.count)")))
  }

  private func change() throws {
    try world.rewrite(
      "SELECT Id, Name, Phone FROM Account", "SELECT Id, Name, Phone, Industry FROM Account",
      in: "usersyncs.json")
  }

  /// Makes a number of ada's accounts disappear, as a permission or a mistake does.
  private func lose(_ count: Int) async throws -> Set<String> {
    let (ada, admin) = (try world.user("ada"), try world.user("admin"))
    let lost = try (0..<count).map { number in
      try #require(world.org.create("Account", ["Name": .string("more \(number)")], as: ada).id)
    }
    _ = try await run()
    for id in lost { #expect(world.org.delete(nil, id: id, as: admin).errors == []) }
    return Set(lost)
  }

  @Test func `a store that would lose most of its records is not published`() async throws {
    let lost = try await lose(14)
    let before = try ids()
    try change()
    for _ in 0..<2 {
      let summary = try await run()
      #expect(summary.findings.contains(.guardTripped))
      #expect(summary.exitStatus == .needsAttention)
      #expect(summary.snapshots.map(\.generation) == [1])
      #expect(try ids() == before)
      #expect(summary.warnings.contains { $0.contains("instead of 19") })
      let status = try PipelineStatus.read(world.pipeline, root: world.root)
      #expect(status.findings.map(\.kind) == [.removalsHeld])
    }
    #expect(try await run { $0.maxDeletes = Percentage(100) }.findings == [])
    #expect(try ids() == before.subtracting(lost))
    #expect(try await run().findings == [])
  }

  @Test func `a few missing records stop nothing`() async throws {
    let lost = try await lose(9)
    let before = try ids()
    try change()
    #expect(try await run().findings == [])
    #expect(try ids() == before.subtracting(lost))
  }

  /// A sync of three of ada's accounts at most.
  private static let cut = Result {
    let query =
      "SELECT Id, Name, Phone FROM Account WHERE Name LIKE 'cut%' ORDER BY Name DESC LIMIT 3"
    return try SmallPipeline(
      name: "cut", soups: ["accounts"],
      syncs: [
        SmallPipeline.down("down", "accounts", #"{"type":"soql","query":"\#(query)"}"#),
        #"{"syncName":"up","syncType":"syncUp","soupName":"accounts","target":{},"#
          + #""options":{"fieldlist":["Name","Phone"],"mergeMode":"LEAVE_IF_CHANGED"}}"#,
      ],
      more:
        #""reconcile":{"unansweredWaitSeconds":0,"returnOpenEdits":true},"platforms":["ios"]"#
    ).write()
  }

  @Test(arguments: [true, false], [true, false])
  func `a record that its user edited stays if a limit leaves it out`(
    _ isRedelivered: Bool, _ changesDefinition: Bool
  ) async throws {
    let world = try World(file: Self.cut.get().file("cut.json")) {
      $0.replacing(
        #""returnOpenEdits":true"#, with: #""returnOpenEdits":\#(isRedelivered)"#)
    }
    let ada = try world.user("ada")
    func make(_ name: String) throws -> String {
      try #require(world.org.create("Account", ["Name": .string(name)], as: ada).id)
    }
    let ids = try (0..<3).map { try make("cut \($0)") }
    _ = try await world.runAllAsWritten()
    let device = try world.device("ada")
    let long = String(repeating: "1", count: 50)
    for (id, phone) in zip(ids, ["device", long, "sent"]) {
      try device.edit("accounts", id: id, ["Phone": .string(phone)], now: world.org.now())
    }
    try world.change(ids[0], ["Phone": "office"])
    for number in 3..<6 { _ = try make("cut \(number)") }
    try world.handBack(device, as: "ada.sqlite")
    var query = "Id, Name, Phone"
    for field in ["Industry", "Website", "Fax"] {
      if changesDefinition {
        try world.rewrite(query, query + ", " + field, in: "usersyncs.json")
        query += ", " + field
      }
      let summary = try await world.runAllAsWritten()
      #expect(summary.open == [.conflict: 1, .failed: 1])
      let rows = try world.device("ada", as: field).elements("accounts").compactMap(\.object)
      let phones = isRedelivered ? ["device", .string(long)] : ["office", JSONValue.null]
      for (number, phone) in zip(0..., phones) {
        let row = try #require(rows.first { $0["Id"]?.string == ids[number] })
        #expect(row["Name"] == .string("cut \(number)") && row["Phone"] == phone)
        #expect(row["__local__"]?.bool == isRedelivered)
      }
      // The bundle that includes a return has its edits.
      if field == "Industry" {
        #expect(rows.contains { $0["Id"]?.string == ids[2] && $0["Phone"] == "sent" })
      }
    }
  }

  /// Unpublished changes are in no bundle, so the edit's return is not included.
  @Test func `a bundle without a return's edits does not include the return`() async throws {
    let world = try World(file: OwnEffectsTests.pipeline.get().file("orders.json"))
    let (ada, admin) = (try world.user("ada"), try world.user("admin"))
    let made = try (0..<30).map { number in
      let fields: JSONObject = ["Subject": .string("\(number)"), "Status": "New"]
      return try #require(world.org.create("WorkOrder", fields, as: ada).id)
    }
    _ = try await world.runAllAsWritten()
    let device = try world.device("ada")
    try device.edit("orders", id: made[0], ["Status": "Completed"], now: world.org.now())
    try world.handBack(device, as: "ada.sqlite")
    for id in made.dropFirst(2) { #expect(world.org.delete(nil, id: id, as: admin).errors == []) }
    try world.rewrite(
      "Id, Subject, Status FROM", "Id, Subject, Status, Priority FROM", in: "usersyncs.json")
    #expect(try await world.runAllAsWritten().verdicts == [.updated: 1])
    func includes() throws -> [Int?] {
      try BundleReader.inspect(world.bundle("ada")).includes.map(\.handback)
    }
    #expect(try includes() == [])
    _ = try await world.runAllAsWritten { $0.maxDeletes = Percentage(100) }
    #expect(try includes() == [1])
    let left = Set(try world.ids("orders", on: world.device("ada", as: "fresh")))
    #expect(left.isDisjoint(with: made.filter { $0 != made[1] }) && left.contains(made[1]))
  }
}
