import JSON
import Ledger
import MobileSync
import Reconciliation
import Testing

/// Sync ups of one soup that send different fields: an edit that one leaves is not taken for done
/// by the next.
@Suite struct SeveralSyncUpsTests {
  private let day: FieldDay
  private let id: String
  init() throws {
    day = try FieldDay()
    let fields: JSONObject = ["Name": "One", "Phone": "1", "Fax": "1", "Website": "a.example"]
    id = try #require(day.org.create("Account", fields, as: day.ada).id)
    lists(.leaveIfChanged, .leaveIfChanged)
  }

  private func lists(_ first: MergeMode, _ second: MergeMode, _ fields: [String] = ["Fax"]) {
    day.rules = [
      FieldDay.rule("accounts", ["Name", "Phone"], mode: first),
      FieldDay.rule("accounts", fields, mode: second),
    ]
  }

  private func handBack(_ changes: JSONObject, office: JSONObject = [:]) throws {
    let edit = try day.edited(account: id, changes)
    if !office.isEmpty { try day.change("Account", id, office) }
    try day.handBack([edit])
  }

  private func run() async throws -> (verdicts: String, detail: OutcomeDetail) {
    let verdicts = day.verdicts(try await day.run())
    return (verdicts, try #require(try day.details().first))
  }

  private func field(_ name: String) throws -> String? {
    try day.record("Account", id)[name]?.string
  }

  @Test(arguments: [MergeMode.leaveIfChanged, .overwrite])
  func `a conflict in one field is not resolved by the second sync up's`(mode: MergeMode)
    async throws
  {
    for changes in [["Phone": "2"], ["Phone": "2", "Fax": "2"]] as [JSONObject] {
      let other = try SeveralSyncUpsTests()
      other.lists(.leaveIfChanged, mode)
      try other.handBack(changes, office: ["Phone": "office"])
      let (verdicts, detail) = try await other.run()
      #expect(verdicts == "conflict 1")
      #expect(detail.fields.map(\.name) == changes.names.sorted() && detail.outside.isEmpty)
      #expect(try other.field("Fax") == "1")
      try other.day.decide(1, .device)
      #expect(try await other.run().verdicts == "updated 1")
      for (name, value) in changes { #expect(try other.field(name) == value.string) }
    }
  }

  @Test func `an edit that the second can send in full is not sent by the first`() async throws {
    lists(.leaveIfChanged, .overwrite, ["Phone", "Fax"])
    try handBack(["Phone": "2", "Fax": "2"], office: ["Phone": "office"])
    #expect(try await run().verdicts == "updated 1")
    #expect(try field("Phone") == "2" && field("Fax") == "2")
  }

  @Test(arguments: [[:], ["Phone": "2"], ["Fax": "2"]] as [JSONObject])
  func `a deletion by the second lists other users' values in the first's fields`(
    _ edited: JSONObject
  ) async throws {
    lists(.leaveIfChanged, .overwrite)
    let edit = try day.edited(account: id, edited, deleted: true)
    try day.change("Account", id, ["Phone": "office"])
    try day.handBack([edit])
    let (verdicts, detail) = try await run()
    #expect(verdicts == "deleted 1")
    #expect(detail.fields.map(\.name) == ["Phone"])
    #expect(detail.fields.first?.server == "office")
  }

  @Test func `an edit of fields of the second only is the second's`() async throws {
    try handBack(["Fax": "2", "Website": "b.example"])
    let (verdicts, detail) = try await run()
    #expect(verdicts == "updated 1")
    #expect(try field("Fax") == "2" && field("Website") == "a.example")
    #expect(detail.outside.map(\.name) == ["Website"])
  }

  @Test func `a decided edit of a merged or deleted record sends all fields`() async throws {
    let master = try day.make("Account", ["Name": "Master", "Fax": "0"])
    try handBack(["Phone": "2", "Fax": "2"])
    try day.org.merge(id, into: master)
    #expect(try await run().verdicts == "merged on server 1")
    try day.decide(1, .device)
    #expect(try await run().verdicts == "updated 1")
    let kept = try day.record("Account", master)
    #expect(kept["Phone"] == "2" && kept["Fax"] == "2")
  }

  @Test func `a recreated record gets the fields of all sync ups`() async throws {
    try handBack(["Fax": "2"])
    _ = day.org.delete("Account", id: id, as: day.admin)
    let (verdicts, left) = try await run()
    #expect(verdicts == "deleted on server 1" && left.fields.map(\.name) == ["Fax"])
    try day.decide(1, .device)
    #expect(try await run().verdicts == "created 1")
    #expect(try day.count("SELECT Id FROM Account WHERE Fax = '2' AND Phone = '1'") == 1)
  }

  @Test func `a refused create has the reason of the one that sent all of it`() async throws {
    let edit = day.account(
      "local_1", ["Name": "New", "Phone": .string(String(repeating: "5", count: 200)), "Fax": "1"])
    try day.handBack([edit])
    let (verdicts, detail) = try await run()
    #expect(verdicts == "failed 1")
    #expect(detail.errorFields == ["Phone"])
  }
}

@Suite struct UnsentFieldsTests {
  @Test(arguments: [MergeMode.overwrite, .leaveIfChanged])
  func `edits not in a recreated record are reported`(mode: MergeMode) async throws {
    let day = try FieldDay(
      "accounts", ["Name", "Phone", "Fax"], mode: mode, create: ["Name", "Phone"])
    let id = try day.make("Account", ["Name": "One", "Fax": "1"])
    try day.handBack([try day.edited(account: id, ["Fax": "2", "Phone": "2"])])
    _ = day.org.delete("Account", id: id, as: day.admin)
    if mode == .leaveIfChanged {
      #expect(day.verdicts(try await day.run()) == "deleted on server 1")
      try day.decide(1, .device)
    }
    #expect(day.verdicts(try await day.run()) == "created 1")
    let detail = try #require(try day.details().first)
    #expect(detail.outside.map(\.name) == ["Fax"])
    #expect(detail.fields.map(\.name) == ["Name", "Phone"])
  }

  @Test func `an unlisted edit of a device's new row is reported on return`() async throws {
    let day = try FieldDay("accounts", ["Name", "Phone"])
    let made = day.account("local_1", ["Name": "New", "Phone": "1", "Site": "told once"])
    #expect(try await day.verdicts([made], handback: 1) == "created 1")
    #expect(try day.details().first?.outside.map(\.name) == ["Site"])
    func later(_ fields: JSONObject, _ handback: Int64) throws {
      var edit = made
      var element = try #require(try JSONValue(parsing: made.element).object)
      for (name, value) in fields { element[name] = value }
      edit.element = JSONValue.object(element).bytes
      edit.lastModified += handback
      try day.handBack([edit], handback: handback)
    }
    try later(["Phone": "2", "Website": "lost"], 2)
    #expect(day.verdicts(try await day.run()) == "updated 1")
    #expect(try day.details().first?.outside.map(\.name) == ["Website"])
    try later(["Phone": "2", "Website": "lost", "Fax": "lost"], 3)
    #expect(day.verdicts(try await day.run()) == "not in field list 1")
    #expect(try day.details().first?.outside.map(\.name) == ["Fax"])
  }

  private static func rule(_ target: SyncUpTarget) throws -> ReconciledSync {
    let definition = SyncDefinition(
      syncName: "up", syncType: .syncUp, soupName: "accounts", target: .syncUp(target),
      options: SyncOptions(mergeMode: .overwrite))
    return try #require(
      try ReconciledSync.all(of: definition, in: FieldDay.store) { _ in ["account"] }.first)
  }

  @Test func `a new row waits for a sync up with a create list, and other edits are sent`()
    async throws
  {
    let day = try FieldDay()
    day.rules = [try Self.rule(SyncUpTarget(updateFieldlist: ["Phone"]))]
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    try day.handBack([
      day.account("local_1", ["Name": "New"]), try day.edited(account: id, ["Phone": "2"]),
    ])
    #expect(day.verdicts(try await day.run()) == "not configured 1, updated 1")
    #expect(try day.details().contains { $0.message?.contains("createFieldlist") == true })
    day.rules.append(try Self.rule(SyncUpTarget(createFieldlist: ["Name"])))
    #expect(day.verdicts(try await day.run()) == "created 1")
  }

  @Test func `a deleted record without a create list is not recreated`() async throws {
    let day = try FieldDay()
    day.rules = [try Self.rule(SyncUpTarget(updateFieldlist: ["Phone"]))]
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    try day.handBack([try day.edited(account: id, ["Phone": "2"])])
    _ = day.org.delete("Account", id: id, as: day.admin)
    #expect(day.verdicts(try await day.run()) == "not configured 1")
  }

  @Test func `an edit whose user cannot log in or a new record shows its values`() async throws {
    let day = try FieldDay("accounts", ["Phone"], create: ["Name", "Site"])
    try day.handBack([day.account("local_1", ["Name": "New", "Phone": "1", "Site": "x"])])
    try day.org.setActive("ada@example.com", false)
    #expect(day.verdicts(try await day.run()) == "not attempted 1")
    #expect(try day.details().first?.fields.map(\.name) == ["Name", "Site"])
  }
}
