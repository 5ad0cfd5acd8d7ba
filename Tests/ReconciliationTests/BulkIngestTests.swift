import HTTP
import JSON
import Ledger
import LocalOrg
import MobileSync
import Reconciliation
import Reports
import TestSupport
import Testing

struct BulkIngestTests {
  private static let texts: [JSONValue] = [
    "plain", .null, "", "a \"quote\", a comma", "two\nlines\r\nand a tab\t", "ä \u{2028} 😀",
    " #N/A",
  ]

  /// A scenario with more than `bulkAbove` changes of each kind, some of which the org refuses.
  private static func day(bulkAbove: Int = 3) throws -> FieldDay {
    let day = try FieldDay()
    day.options.bulkAbove = bulkAbove
    day.options.maxChanges.deletes.maxDeletesPercent = 100
    day.rules.append(
      FieldDay.rule(
        "visits", ["Name", "Notes__c", "External_Id__c", "Account__c"], mode: .overwrite,
        externalID: "External_Id__c"))
    var edits: [Edit] = []
    let ids = try (0..<14).map {
      try day.make("Account", ["Name": .string("A\($0)"), "Phone": "1", "Description": "old"])
    }
    for (place, id) in ids[..<7].enumerated() {
      edits.append(
        try day.edited(
          account: id,
          [
            "Description": texts[place], "Phone": .string("\(place)"),
            // A name that every org refuses.
            "Name": place == 4 ? .null : .string("A\(place)"),
          ]))
    }
    for id in ids[7..<12] {
      try day.org.transfer(id, to: "ada@example.com")
      edits.append(try day.edited(account: id, [:], deleted: true))
    }
    edits.append(try day.edited(account: ids[12], ["Phone": "device"]))
    try day.change("Account", ids[12], ["Phone": "office"])
    for (place, text) in texts.enumerated() {
      edits.append(
        day.account(
          "local_\(place)",
          place == 5
            ? ["Phone": "no name"] : ["Name": .string("New \(place)"), "Description": text]))
      edits.append(
        day.contact(
          "local_c\(place)", ["LastName": "Twin", "AccountId": .string("local_\(place % 2)")]))
    }
    _ = try day.make("Site_Visit__c", ["Name": "V0", "External_Id__c": "E0", "Notes__c": "old"])
    for number in 0..<5 {
      edits.append(
        day.created(
          "visits", "Site_Visit__c", "local_v\(number)",
          [
            "Name": .string("V\(number)"), "External_Id__c": .string("E\(number)"),
            "Notes__c": "new", "Account__c": .string("local_\(number)"),
          ]))
    }
    try day.handBack(edits)
    return day
  }

  private static func handBackFive(_ day: FieldDay) throws {
    try day.handBack((0..<5).map { day.account("local_\($0)", ["Name": .string("N\($0)")]) })
  }

  private struct End: Equatable {
    var org: [String]
    var verdicts: String

    /// The result of a run, without what depends on how its changes were sent.
    init(_ day: FieldDay, _ summary: ReconcileSummary) throws {
      let dump = try day.org.dump(objects: ["Account", "Contact", "Site_Visit__c"])
      let masked = [#"[0-9a-zA-Z]{15}AA[A-Z0-5]"#, #"\d{4}-\d\d-\d\dT[\d:.]+(\+0000|Z)"#].reduce(
        dump
      ) { $0.replacingOccurrences(of: $1, with: "*", options: .regularExpression) }
      org = masked.split(separator: "\n").map(String.init).sorted()
      verdicts = day.verdicts(summary)
    }
  }

  private static let verdicts = "conflict 1, created 17, deleted 5, failed 2, updated 7"

  @Test func `bulk jobs have the same outcomes as requests`() async throws {
    let (bulk, plain) = (try Self.day(), try Self.day(bulkAbove: 1000))
    let bulkEnd = try End(bulk, try await bulk.run())
    let plainEnd = try End(plain, try await plain.run())
    #expect(bulkEnd.org.difference(from: plainEnd.org).map { "\($0)" } == [])
    #expect(bulkEnd.verdicts == plainEnd.verdicts)
    #expect(bulkEnd.verdicts == Self.verdicts)
    let kinds = bulk.server.log.entries.map(\.kind)
    // Accounts are created and changed, contacts created, visits upserted, accounts deleted.
    #expect(kinds.count { $0 == .bulkUpload } == 5)
    #expect(!kinds.contains(.collectionCreate) && !kinds.contains(.collectionDelete))
    #expect(!plain.server.log.entries.contains { $0.kind == .bulkCreate })
  }

  @Test func `each object has its own job, and small numbers go in requests`() async throws {
    let day = try FieldDay()
    day.options.bulkAbove = 3
    day.options.maxChanges.deletes.maxDeletesPercent = 100
    var edits: [Edit] = []
    for number in 0..<5 {
      let account = try day.make("Account", ["Name": .string("A\(number)"), "Phone": "1"])
      let contact = try day.make("Contact", ["LastName": .string("C\(number)")])
      for id in [account, contact] { try day.org.transfer(id, to: "ada@example.com") }
      let isLast = number == 4
      edits.append(try day.edited(account: account, isLast ? [:] : ["Phone": "2"], deleted: isLast))
      if !isLast { edits.append(try day.edited(contact: contact, ["LastName": "Changed"])) }
    }
    #expect(try await day.verdicts(edits) == "deleted 1, updated 8")
    #expect(day.server.log.entries.map(\.kind).count { $0 == .bulkUpload } == 2)
    #expect(try day.count("SELECT Id FROM Contact WHERE LastName = 'Changed'") == 4)
  }

  @Test func `rows that a failed job did not process are sent again at once`() async throws {
    let day = try FieldDay()
    (day.options.bulkAbove, day.options.unansweredWaitSeconds) = (3, 900)
    try Self.handBackFive(day)
    func answer(_ type: String, _ text: String) -> Faults.Action {
      .respond(ServerResponse(status: 200, headers: ["Content-Type": type], body: Array(text.utf8)))
    }
    let json = "application/json"
    day.server.faults.add(
      .kind(.bulkClose), answer(json, #"{"id":"750","state":"UploadComplete"}"#))
    day.server.faults.add(
      .kind(.bulkRead), times: 1000,
      answer(json, #"{"id":"750","state":"Failed","errorMessage":"no memory"}"#))
    day.server.faults.add(
      .kind(.bulkResults), nth: 3, answer("text/csv", "Name\nN0\nN1\nN2\nN3\nN4\n"))
    #expect(day.verdicts(try await day.run()) == "created 5")
    #expect(try day.count("SELECT Id FROM Account") == 5)
  }

  @Test func `a close whose answer was lost is not repeated to a running job`() async throws {
    let day = try FieldDay()
    day.options.bulkAbove = 3
    try Self.handBackFive(day)
    day.server.faults.add(.kind(.bulkClose), .drop(afterCommit: true))
    #expect(day.verdicts(try await day.run()) == "created 5")
    #expect(day.server.log.entries.count { $0.kind == .bulkClose } == 1)
  }

  @Test func `each refused row of a job has the org's message and fields`() async throws {
    let day = try Self.day()
    try await day.run()
    let run = try #require(try day.state.runs(limit: 1).first)
    let failed = try ReportModel(state: day.state, run: run.id, called: "demo").edits.all()
      .filter { $0.verdict == .failed }.map(\.detail)
    #expect(failed.count == 2)
    #expect(failed.allSatisfy { $0.code == "REQUIRED_FIELD_MISSING" })
    #expect(failed.allSatisfy { $0.errorFields == ["Name"] })
    #expect(failed.allSatisfy { $0.message == "Required fields are missing: [Name]" })
  }

  @Test(arguments: [true, false])
  func `others' changes after the plan are conflicts in a job too`(_ strict: Bool) async throws {
    let day = try FieldDay()
    day.options.conditionalUpdates = strict
    day.options.bulkAbove = 3
    let ids = try (0..<5).map {
      try day.make("Account", ["Name": .string("A\($0)"), "Phone": "1"])
    }
    try day.handBack(try ids.map { try day.edited(account: $0, ["Phone": "2"]) })
    let moved = ids[2]
    day.server.faults.add(.kind(.bulkCreate), .update(moved, ["Phone": "office"], after: 5000))
    let summary = try await day.run()
    #expect(day.verdicts(summary) == "conflict 1, updated 4")
    #expect(try day.record("Account", moved)["Phone"] == "office")
    let warning = try #require(summary.warnings.first)
    #expect(warning.hasPrefix("4 edits of Account were sent in the bulk job 750"))
    #expect(warning.contains("were not seen and may have been overwritten"))
    #expect(summary.warnings.count == 1)
  }

  @Test func `an org that cannot create jobs gets requests, and the report says so`() async throws {
    let day = try Self.day()
    day.server.faults.add(
      .kind(.bulkCreate), times: 1000,
      .status(403, code: "API_DISABLED_FOR_ORG", message: "no bulk"))
    let summary = try await day.run()
    #expect(day.verdicts(summary) == Self.verdicts)
    #expect(
      summary.warnings == [
        "the org created no bulk job, so the changes are sent in requests: no bulk"
      ])
  }

  @Test(arguments: [true, false])
  func `an unanswered job is replaced by requests, and reported`(_ isMade: Bool) async throws {
    let day = try Self.day()
    day.server.faults.add(.kind(.bulkCreate), times: 1000, .drop(afterCommit: isMade))
    let summary = try await day.run()
    #expect(summary.interruption == nil)
    #expect(day.verdicts(summary) == Self.verdicts)
    let told = summary.warnings.filter { $0.contains("the job has no rows and does") }
    // Each of five openings was tried seven times.
    #expect(told.count == (isMade ? 35 : 0))
    #expect(summary.warnings.contains { $0.hasPrefix("the org created no bulk job") })
    #expect(day.server.log.entries.count { $0.kind == .bulkUpload } == 0)
  }

  @Test func `an unanswered creation in an unreachable org ends the run`() async throws {
    let day = try Self.day()
    day.server.faults.add(.kind(.bulkCreate), times: 1000, .drop(afterCommit: true))
    // The logins of the sender and of the integration user each ask for their identity.
    day.server.faults.add(.kind(.userinfo), nth: 3, times: 1000, .drop(afterCommit: false))
    let summary = try await day.run()
    #expect(summary.interruptionCause?.kind == .unreachable)
    #expect(summary.verdicts[.created] == nil)
    day.server.faults.removeAll()
    #expect(day.verdicts(try await day.run()).contains("created 17"))
  }

  @Test func `when the org's jobs fail as a whole, requests are sent`() async throws {
    let day = try Self.day()
    day.server.faults.add(
      .kind(.bulkUpload), times: 1000, .status(400, code: "INVALIDBATCH", message: "no"))
    #expect(day.verdicts(try await day.run()) == Self.verdicts)
    // Each job is aborted.
    let kinds = day.server.log.entries.map(\.kind)
    #expect(kinds.count { $0 == .bulkClose } == kinds.count { $0 == .bulkUpload })
  }

  /// Every fault at every request of a job's life.
  @Test(arguments: [
    (RequestKind.bulkCreate, 5), (.bulkUpload, 5), (.bulkClose, 5), (.bulkRead, 5),
    (.bulkResults, 10),
  ])
  func `a fault at any request of a job neither loses nor duplicates writes`(
    _ kind: RequestKind, _ requests: Int
  ) async throws {
    let expected = try await {
      let day = try Self.day()
      return try End(day, try await day.run())
    }()
    let actions: [Faults.Action] = [
      .drop(afterCommit: true), .drop(afterCommit: false),
      .status(503, code: "SERVER_UNAVAILABLE", afterCommit: true),
      .status(500, code: "UNKNOWN_EXCEPTION"), .expireSession, .truncate(bytes: 20),
    ]
    for nth in 1...requests {
      let action = actions[nth % actions.count]
      let day = try Self.day()
      day.server.faults.add(.kind(kind), nth: nth, times: 1, action)
      var summary = try await day.run()
      // A login that ends leaves its user's edits not attempted.
      if summary.interruption != nil || summary.verdicts[.notAttempted] != nil {
        summary = try await day.run()
      }
      let end = try End(day, summary)
      let differences = end.org.difference(from: expected.org).map { "\($0)" }
      #expect(differences == [], "\(action) at \(kind.rawValue) \(nth)")
    }
  }

  @Test func `a running job leaves its edits unconfirmed for the next run`() async throws {
    let day = try FieldDay()
    day.options.bulkAbove = 3
    try day.handBack((0..<5).map { day.account("local_\($0)", ["Name": "Same"]) })
    day.server.faults.add(
      .kind(.bulkRead), times: 600,
      .respond(
        ServerResponse(
          status: 200, headers: ["Content-Type": "application/json"],
          body: Array(#"{"id":"750","state":"InProgress"}"#.utf8))))
    #expect(day.verdicts(try await day.run()) == "unconfirmed 5")
    let words = try day.details().compactMap(\.message)
    #expect(words.count == 5)
    #expect(
      words.allSatisfy { $0.hasPrefix("the bulk job 750") && $0.contains("is still running") })
    day.server.faults.removeAll()
    #expect(day.verdicts(try await day.run()) == "created 5")
    #expect(try day.count("SELECT Id FROM Account") == 5)
    #expect(day.server.log.entries.count { $0.kind == .bulkUpload } == 1)
  }

  @Test func `a result without a body has no rows`() async throws {
    let day = try FieldDay()
    day.options.bulkAbove = 3
    try Self.handBackFive(day)
    day.server.faults.add(.kind(.bulkResults), nth: 2, .respond(ServerResponse(status: 204)))
    #expect(day.verdicts(try await day.run()) == "created 5")
  }

  /// Faults that permanently prevent a job's results from being read.
  private static let losses: [Faults.Action] = [
    page, .status(500, code: "UNKNOWN_EXCEPTION"), .status(503, code: "SERVER_UNAVAILABLE"),
    .drop(afterCommit: true), .drop(afterCommit: false), .truncate(bytes: 10),
  ]
  private static let page = Faults.Action.respond(
    ServerResponse(status: 200, headers: ["Content-Type": "text/html"], body: Array("<html>".utf8)))

  @Test(arguments: [RequestKind.bulkRead, .bulkResults], losses)
  func `a job with unreadable results delays no others, and is read later`(
    _ kind: RequestKind, _ loss: Faults.Action
  ) async throws {
    let day = try FieldDay()
    day.options.bulkAbove = 3
    try Self.handBackFive(day)
    let id = try day.make("Account", ["Name": "One", "Phone": "1"])
    try day.handBack([try day.edited(account: id, ["Phone": "2"])], user: day.ben)
    day.server.faults.add(.kind(kind), times: 1000, loss)
    let summary = try await day.run()
    #expect(day.verdicts(summary) == "unconfirmed 5, updated 1")
    #expect(summary.interruption == nil)
    // An edit returned in the meantime is sent by a run that starts with the same query.
    try day.handBack([try day.edited(account: id, ["Phone": "3"])], user: day.ben, handback: 2)
    let second = try await day.run()
    #expect(day.verdicts(second) == "unconfirmed 5, updated 1")
    #expect(second.interruption == nil)
    let told = try day.details().compactMap(\.message).filter { $0.contains("the bulk job 750") }
    #expect(told.count == 5)
    day.server.faults.removeAll()
    #expect(day.verdicts(try await day.run()) == "created 5")
    #expect(try day.count("SELECT Id FROM Account") == 6)
  }

  @Test func `an unreachable org does not count as one that lost the job`() async throws {
    let day = try FieldDay()
    day.options.bulkAbove = 3
    try Self.handBackFive(day)
    day.server.faults.add(.kind(.bulkResults), times: 1000, .drop(afterCommit: false))
    // Two logins ask for their identity.
    day.server.faults.add(.kind(.userinfo), nth: 3, times: 1000, .drop(afterCommit: false))
    let summary = try await day.run()
    #expect(summary.interruptionCause?.kind == .unreachable)
    #expect(day.verdicts(summary) == "unconfirmed 5")
  }

  @Test(arguments: [true, false])
  func `one part of the results counts if the other fails`(_ areRefusedTold: Bool) async throws {
    let day = try FieldDay()
    day.options.bulkAbove = 3
    try day.handBack(
      (0..<5).map { day.account("local_\($0)", $0 == 2 ? ["Phone": "1"] : ["Name": "Same"]) })
    let broken = Faults.Action.respond(
      ServerResponse(
        status: 200, headers: ["Content-Type": "text/csv"], body: Array("sf__Id,\"open".utf8)))
    // The successful rows are read first, then the refused ones, and both again for the unconfirmed
    // ones.
    let lost = areRefusedTold ? 1 : 2
    for nth in [lost, lost + 2] { day.server.faults.add(.kind(.bulkResults), nth: nth, broken) }
    #expect(
      day.verdicts(try await day.run())
        == (areRefusedTold ? "failed 1, unconfirmed 4" : "created 4, unconfirmed 1"))
    #expect(day.verdicts(try await day.run()) == (areRefusedTold ? "created 4" : "failed 1"))
    #expect(try day.count("SELECT Id FROM Account") == 4)
    #expect(day.server.log.entries.count { $0.kind == .bulkUpload } == 1)
  }

  @Test func `rows answered with an HTML page go in requests at once`() async throws {
    let day = try FieldDay()
    (day.options.bulkAbove, day.options.unansweredWaitSeconds) = (3, 900)
    try day.handBack((0..<5).map { day.account("local_\($0)", ["Name": "Same"]) })
    day.server.faults.add(.kind(.bulkUpload), Self.page)
    #expect(day.verdicts(try await day.run()) == "created 5")
    #expect(try day.count("SELECT Id FROM Account") == 5)
  }

  @Test func `after an unanswered close no requests are sent while the job may run`() async throws {
    let day = try FieldDay()
    (day.options.bulkAbove, day.options.unansweredWaitSeconds) = (3, 900)
    try Self.handBackFive(day)
    // The closes are lost, and so is the request that would abort the job.
    day.server.faults.add(.kind(.bulkClose), times: 4, .drop(afterCommit: false))
    _ = try await day.run()
    #expect(try day.count("SELECT Id FROM Account") == 0)
    #expect(day.verdicts(try await day.run()) == "created 5")
    #expect(try day.count("SELECT Id FROM Account") == 5)
  }

  @Test func `writes of a job that the org forgot are looked up like others`() async throws {
    let day = try FieldDay()
    day.options.bulkAbove = 3
    try Self.handBackFive(day)
    day.server.faults.add(.kind(.bulkResults), times: 1000, .status(404, code: "NOT_FOUND"))
    #expect(day.verdicts(try await day.run()) == "created 5")
    #expect(try day.count("SELECT Id FROM Account") == 5)
  }

  @Test func `large numbers of edits go in jobs, and each has its verdict`() async throws {
    let edits = CampaignSize.bulkEdits.count
    let day = try FieldDay()
    day.options.maxChanges.perSnapshot = edits
    day.options.bulkAbove = edits / 5
    let (half, ada) = (edits / 2, day.ada)
    let ids = try day.org.transaction {
      try (0..<half).map { number in
        try #require(
          day.org.create("Account", ["Name": .string("a\(number)"), "Phone": "1"], as: ada).id)
      }
    }
    let updates = try ids.enumerated().map { place, id in
      // Every hundredth row is refused.
      try day.edited(account: id, ["Phone": "2", "Name": place % 100 == 7 ? .null : "b"])
    }
    let creates = (0..<edits - half).map { number in
      day.account(
        "local_\(number)",
        number % 100 == 7 ? ["Phone": "3"] : ["Phone": "3", "Name": .string("n\(number % 1000)")])
    }
    try day.handBack(updates + creates)
    let before = day.server.log.count
    let summary = try await day.run()
    let failed = (0..<half).count { $0 % 100 == 7 } + (0..<edits - half).count { $0 % 100 == 7 }
    #expect(summary.edits == edits)
    #expect(summary.verdicts[.failed] == failed)
    #expect((summary.verdicts[.updated] ?? 0) + (summary.verdicts[.created] ?? 0) == edits - failed)
    #expect(
      try day.count("SELECT Id FROM Account WHERE Phone = '2'")
        == half - (0..<half).count { $0 % 100 == 7 })
    #expect(
      try day.count("SELECT Id FROM Account WHERE Phone = '3'")
        == edits - half - (0..<edits - half).count { $0 % 100 == 7 })
    // About six requests for ten thousand rows, and three reads for every two thousand updates.
    let jobs = 2 * ((half + 9999) / 10_000)
    let spent = day.server.log.count - before
    #expect(spent <= jobs * 8 + 4 * ((edits + 1999) / 2000) + 12, "\(spent)")
  }

  @Test func `a dry run predicts a job's verdicts and creates no job`() async throws {
    let day = try Self.day()
    let plan = try await day.plan()
    #expect(!day.server.log.entries.contains { $0.kind == .bulkCreate || $0.isWrite })
    #expect(
      plan.counts.map { "\($0.key.rawValue) \($0.value)" }.sorted().joined(separator: ", ")
        == Self.verdicts)
  }

  @Test(arguments: [MergeMode.overwrite, .leaveIfChanged])
  func `what runs read before a late job worked is listed as overwritten`(
    _ mode: MergeMode
  ) async throws {
    let day = try FieldDay("accounts", ["Name", "Phone"], mode: mode)
    (day.options.bulkAbove, day.options.unansweredWaitSeconds) = (1, 900)
    let ids = try (0..<2).map {
      try day.make("Account", ["Name": .string("A\($0)"), "Phone": "1"])
    }
    try day.handBack(try ids.map { try day.edited(account: $0, ["Phone": "2"]) })
    // The org acknowledges that the job is complete, but does not start it yet.
    day.server.faults.add(
      .kind(.bulkClose),
      .respond(
        ServerResponse(
          status: 200, headers: ["Content-Type": "application/json"],
          body: Array(#"{"id":"750","state":"UploadComplete"}"#.utf8))))
    day.server.faults.add(
      .kind(.bulkRead), times: 1000, .status(503, code: "SERVER_UNAVAILABLE"))
    #expect(day.verdicts(try await day.run()) == "unconfirmed 2")
    try day.change("Account", ids[0], ["Phone": "9"])
    #expect(day.verdicts(try await day.run()) == "unconfirmed 2")
    day.server.faults.removeAll()
    let job = try #require(
      try day.state.connection.text("SELECT job_id FROM operation WHERE job_id IS NOT NULL"))
    try await day.close(job: job)
    #expect(try day.record("Account", ids[0])["Phone"] == "2")
    let isKept = mode == .leaveIfChanged
    #expect(
      day.verdicts(try await day.run()) == (isKept ? "conflict 1, updated 1" : "updated 2"))
    let told = try #require(try day.details().first { $0.recordID == ids[0] })
    let phone = try #require(told.fields.first { $0.name == "Phone" })
    #expect((isKept ? phone.base : phone.server) == "9")
    #expect(told.message?.hasSuffix("after it was sent, in Phone") == true)
    let other = try #require(try day.details().first { $0.recordID == ids[1] })
    #expect(other.message == nil)
    #expect(other.fields.first { $0.name == "Phone" }?.server == "1")
    #expect(try day.state.change(by: 1)?.seen?["Phone"] == "9")
  }
}
