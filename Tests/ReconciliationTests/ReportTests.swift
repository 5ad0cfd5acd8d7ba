import JSON
import Ledger
import Reports
import System
import TestSupport
import Testing

struct ReportTests {
  /// A scenario with every kind of entry.
  static func day() async throws -> FieldDay {
    let day = try FieldDay()
    let ids = try ["Acme <b>Bold</b>", "=1+1", "Cedar", "Dune", "Elm"].map {
      try day.make("Account", ["Name": .string($0), "Phone": "1", "Industry": "Energy"])
    }
    let conflict = try day.edited(
      account: ids[0], ["Phone": "=cmd()", "Website": "https://a.example.com"])
    try day.change("Account", ids[0], ["Phone": "server\u{202E}gnp", "Industry": "Banking"])
    try day.handBack([
      conflict, try day.edited(account: ids[1], ["Phone": "2"]),
      try day.edited(account: ids[2], ["Website": "https://b.example.com"]),
      day.account("local_1", ["Phone": "no name"]),
      day.contact("local_2", ["LastName": "Kid", "AccountId": "local_1"]),
      try day.edited(account: ids[3], ["Phone": "ada"]),
      try day.edited("other", "Account", ids[4], ["Phone": "x"]),
    ])
    try day.handBack([try day.edited(account: ids[3], ["Phone": "ben"])], user: day.ben)
    try await day.run()
    return day
  }

  private static func text(
    _ format: any ReportFormat.Type, _ model: ReportModel, _ options: ReportMask = .init(),
    file: String? = nil
  ) throws -> String {
    String(decoding: try format.bytes(file ?? format.files[0], model, options), as: UTF8.self)
  }

  private static func files(
    _ format: any ReportFormat.Type, _ model: ReportModel, _ options: ReportMask = .init()
  ) throws -> [String] { try format.files.map { try text(format, model, options, file: $0) } }

  private static func model(_ day: FieldDay) throws -> ReportModel {
    let run = try #require(try day.state.runs(limit: 1).first)
    return try ReportModel(state: day.state, run: run.id, called: "demo")
  }

  private static func reported(_ day: FieldDay) throws -> JSONValue {
    let run = try #require(try day.state.runs(limit: 1).first)
    try day.state.note(.report(.begun), run: run.id)
    return try JSONValue(parsing: text(JSONReport.self, try Self.model(day)))
  }

  @Test func `totals add up to the edits, per soup and overall`() async throws {
    let model = try Self.model(try await Self.day())
    #expect(model.edits.count == 8)
    #expect(model.edits.totals.verdicts.values.reduce(0, +) == 8)
    #expect(model.edits.totals.soups.flatMap(\.counts.values).reduce(0, +) == 8)
    let json = try JSONValue(parsing: try Self.text(JSONReport.self, model))
    #expect(json["edits"] == 8)
    #expect(try JSONSchema(published: "report.schema.json").faults(json) == [])
    for list in ["users", "objects", "soups"] {
      #expect(json[list]?.array?.compactMap { $0["edits"]?.int }.reduce(0, +) == 8)
    }
    let verdicts = try #require(json["verdicts"]?.object)
    #expect(verdicts.names == Verdict.allCases.map(\.rawValue))
    #expect(verdicts.compactMap(\.value.int).reduce(0, +) == 8)
    #expect(
      model.edits.totals.verdicts == [
        .conflict: 1, .updated: 1, .notInFieldList: 1, .failed: 1, .blocked: 1, .deviceConflict: 2,
        .notConfigured: 1,
      ])
  }

  @Test func `the same run produces the same bytes`() async throws {
    let day = try await Self.day()
    for format in ReportFormats.all {
      #expect(try Self.files(format, Self.model(day)) == Self.files(format, Self.model(day)))
    }
  }

  @Test func `data never becomes markup, a formula or a change of text direction`() async throws {
    let model = try Self.model(try await Self.day())
    let page = try Self.text(HTMLReport.self, model)
    #expect(page.contains("Acme &lt;b&gt;Bold&lt;/b&gt;"))
    #expect(!page.contains("<b>Bold"))
    #expect(!page.contains("\u{202E}"))
    let conflicts = try Self.text(CSVReport.self, model, file: "conflicts.csv")
    #expect(conflicts.contains("'=cmd()"))
    #expect(!conflicts.contains(",=cmd()"))
    #expect(conflicts.contains("servergnp") && !conflicts.contains("\u{202E}"))
  }

  @Test func `the page needs no external resources`() async throws {
    let page = try Self.text(HTMLReport.self, try Self.model(try await Self.day()))
    for forbidden in [" src=", "url(", "@import", "<link", "href=\"http"] {
      #expect(!page.contains(forbidden))
    }
  }

  @Test func `records are linked only if the org has web pages`() async throws {
    let day = try await Self.day()
    for (instance, hasPages) in [
      ("https://example.my.salesforce.com", true), ("http://org.example:8080", false),
      ("https://localhost:8443", false), ("https://127.0.0.1:8443", false),
      ("https://[::1]:8443", false),
    ] {
      try day.state.store(instance, as: .instance)
      let page = try Self.text(HTMLReport.self, try Self.model(day))
      #expect(page.contains("href=\"\(instance)") == hasPages, "\(instance)")
    }
  }

  @Test func `a decided edit lists the org's value that it replaced, and no other edit does`()
    async throws
  {
    let day = try await Self.day()
    let before = try Self.model(day)
    let undecided = try Self.text(HTMLReport.self, before)
    #expect(!undecided.contains(#"data-label="Org before""#))
    let conflict = try #require(try before.edits.all().first { $0.verdict == .conflict })
    try day.decide(conflict.number, .device)
    try await day.run()
    let model = try Self.model(day)
    let decided = try #require(try model.edits.all().first { $0.number == conflict.number })
    #expect(decided.verdict == .updated)
    #expect(decided.detail.fields.map(\.name) == ["Phone"])
    #expect(decided.detail.fields.first?.server == "server\u{202E}gnp")
    let page = try Self.text(HTMLReport.self, model)
    #expect(page.contains(#"<th scope="col">Org before</th>"#))
    #expect(page.contains(#"<td data-label="Org before" class="changed">"#))
  }

  @Test func `a conflict has three values, and edits outside the list are listed`() async throws {
    let page = try Self.text(HTMLReport.self, try Self.model(try await Self.day()))
    #expect(page.contains(#"<td data-label="Issued">1</td>"#))
    #expect(page.contains(#"<td data-label="Device" class="changed">=cmd()</td>"#))
    #expect(page.contains("Outside the field list, not sent"))
    #expect(page.contains("REQUIRED_FIELD_MISSING"))
    #expect(page.contains("Required fields are missing: [Name]"))
  }

  @Test func `masked fields and hidden values appear in no format`() async throws {
    let model = try Self.model(try await Self.day())
    for format in ReportFormats.all {
      for text in try Self.files(format, model, ReportMask(mask: ["phone"])) {
        #expect(!text.contains("cmd()"))
      }
      // The note names the fields as the pipeline file does.
      if format == HTMLReport.self {
        let mask = ReportMask(mask: ["Phone", "BillingCity"])
        #expect(
          try Self.text(format, model, mask).contains(
            "Values of these fields are masked: BillingCity, Phone."))
      }
      for text in try Self.files(format, model, ReportMask(showValues: false)) {
        for value in ["cmd()", "Banking", "Acme", "a.example.com", "Required fields"] {
          #expect(!text.contains(value))
        }
      }
    }
  }

  @Test(arguments: [
    ("BillingCity", "BillingAddress", true), ("billingaddress", "BillingAddress", true),
    ("MailingCity", "BillingAddress", false), ("Site__City__s", "Site__c", true),
    ("City", "Owner", true), ("BillingStreet", "BillingAddress", false),
  ])
  func `a compound field is masked as its parts`(
    _ masked: String, _ field: String, _ isMasked: Bool
  ) {
    for value in [["city": "Bonn"], [["city": "Bonn"]], ["of": ["City": "Bonn"]]] as [JSONValue] {
      if value["of"] != nil, masked != "City", masked != "billingaddress" { continue }
      let shown = ReportMask(mask: [masked]).shown(value, of: field)
      #expect(shown == (isMasked ? .masked : .value(value)))
    }
  }

  @Test func `the org's messages do not reveal a masked value`() async throws {
    let day = try FieldDay()
    try day.handBack([day.contact("local_1", ["LastName": "Kid", "Email": "canary.one"])])
    day.server.faults.add(
      .writes, nth: 1, times: 9,
      .status(400, code: "INVALID_EMAIL_ADDRESS", message: "Email: no address: canary.one"))
    #expect(day.verdicts(try await day.run()) == "failed 1")
    let model = try Self.model(day)
    for format in ReportFormats.all {
      for text in try Self.files(format, model, ReportMask(mask: ["email"])) {
        #expect(!text.contains("canary.one"))
      }
    }
    #expect(
      try Self.text(JSONReport.self, model, .init(mask: ["email"])).contains("no address: •••"))
    #expect(try Self.text(JSONReport.self, model).contains("no address: canary.one"))
  }

  @Test func `every member in the schema exists for some edit`() async throws {
    let day = try await Self.day()
    let first = try Self.reported(day)
    try await day.run()
    let second = try Self.reported(day)
    let schema = try JSONSchema(published: "report.schema.json")
    #expect(schema.faults(first) == [] && schema.faults(second) == [])
    let records = (first["records"]?.array ?? []) + (second["stillOpen"]?.array ?? [])
    let seen = Set(records.flatMap { $0.object?.names ?? [] })
    // Members that need a lost answer, a decision, a masked field, an interrupted run or no base.
    let elsewhere: Set = ["candidates", "decision", "kept", "noBase", "otherId", "run", "link"]
    let known = Set(schema.root["$defs"]?["record"]?["properties"]?.object?.names ?? [])
    #expect(known.subtracting(seen).subtracting(elsewhere) == [])
  }

  @Test func `names, the device's time and other users' changes are with the IDs`() async throws {
    let day = try await Self.day()
    try day.state.store("https://example.my.salesforce.com", as: .instance)
    try day.state.store("Customer", as: .label("Account"))
    let model = try Self.model(day)
    let json = try JSONValue(parsing: try Self.text(JSONReport.self, model))
    let conflict = try #require(json["records"]?.array?.first { $0["verdict"] == "conflict" })
    #expect(conflict["name"] == "Acme <b>Bold</b>" && conflict["objectLabel"] == "Customer")
    let id = try #require(conflict["recordId"]?.string)
    #expect(conflict["link"]?.string == "https://example.my.salesforce.com/" + id)
    #expect(conflict["serverChange"]?["by"]?.string?.hasPrefix("005") == true)
    #expect(conflict["editedAt"]?.string?.hasSuffix("Z") == true)
    let table = try Self.text(CSVReport.self, model, file: "records.csv")
    #expect(table.contains(",Account,Customer,\(id),Acme <b>Bold</b>,"))
    #expect(
      model.names.label("Service_Visit__c") == "Service Visit"
        && model.names.label("WorkOrder") == "Work Order")
  }

  @Test func `the user who changed a record is named once a run has the name`() async throws {
    let day = try await Self.day()
    let run = try #require(try day.state.runs(limit: 1).first)
    let unnamed = try day.state.unnamedPeople(run: run.id)
    #expect(unnamed.count == 1 && unnamed[0].hasPrefix("005"))
    #expect(
      try Self.text(HTMLReport.self, try Self.model(day)).contains("by user \(unnamed[0]) on"))
    try day.state.store("Grace Hopper", as: .person(unnamed[0]))
    #expect(try day.state.unnamedPeople(run: run.id) == [])
    let model = try Self.model(day)
    #expect(try Self.text(HTMLReport.self, model).contains("by Grace Hopper on"))
    #expect(try Self.text(JSONReport.self, model).contains(#""user": "Grace Hopper""#))
    // She is not one of the pipeline's users.
    #expect(!model.usernames.values.contains("Grace Hopper"))
  }

  @Test func `totals, the timeline and the edits held by a guard are on the page`() async throws {
    let day = try await Self.day()
    let run = try #require(try day.state.runs(limit: 1).first)
    try day.state.store("Customer", as: .label("Account"))
    try day.state.note(
      .changesHeld, "x",
      [
        "username": "ada@example.com", "reason": "more changes than reconcile.maxChanges allows",
        "fix": "this sends them: attache reconcile demo --confirm 0123456789abcdef",
      ], run: run.id)
    let page = try Self.text(HTMLReport.self, try Self.model(day))
    func rows(_ caption: String) throws -> String {
      let start = try #require(page.range(of: "<h2>\(caption)</h2>"))
      let end = try #require(page[start.upperBound...].range(of: "</section>"))
      return String(page[start.upperBound..<end.lowerBound])
    }
    let people = try rows("By technician")
    #expect(people.contains(#"ada@example.com</th><td class="number">7</td>"#), "\(people)")
    #expect(people.contains(#"ben@example.com</th><td class="number">1</td>"#), "\(people)")
    #expect(people.contains(">conflict 1</span>") && people.contains(">device conflict 1</span>"))
    let objects = try rows("By object")
    #expect(objects.contains(#"Customer</th><td class="number">7</td>"#), "\(objects)")
    #expect(objects.contains(#"Contact</th><td class="number">1</td>"#), "\(objects)")
    let way = try rows("Timeline")
    #expect(
      way.contains("worked on the device: 7 edits") && way.contains("the run processed 8 edits"))
    // The digest that confirms held changes comes before anything else.
    let digest = try #require(page.range(of: "0123456789abcdef"))
    let totals = try #require(page.range(of: "<section class=\"totals\""))
    #expect(digest.upperBound < totals.lowerBound)
  }

  @Test func `sent and failed edits are in tables like Data Loader's`() async throws {
    let model = try Self.model(try await Self.day())
    let success = try Self.text(CSVReport.self, model, file: "success.csv").split(separator: "\r\n")
    #expect(success.count == 2)
    // The whole field list was sent, as the SDK sends it.
    #expect(success[0] == "ID,EDIT,OBJECT,USER,Description,Industry,Name,ParentId,Phone,STATUS")
    #expect(success[1].hasPrefix("001") && success[1].hasSuffix(",2,Item Updated"))
    let error = try Self.text(CSVReport.self, model, file: "error.csv")
    #expect(error.hasPrefix("ID,EDIT,OBJECT,USER,"))
    #expect(error.split(separator: "\r\n")[0].hasSuffix(",ERROR"))
    #expect(error.contains("REQUIRED_FIELD_MISSING: Required fields are missing: [Name]"))
    #expect(error.split(separator: "\r\n").count == 7)
  }

  @Test func `reports are written under their names, with no leftovers`() async throws {
    let day = try await Self.day()
    let directory = TemporaryDirectory("report")
    for format in ReportFormats.named(["html", "csv", "json"]) {
      try format.write(try Self.model(day), to: directory.path, .init())
    }
    #expect(
      try Files.list(directory.path) == [
        "conflicts.csv", "error.csv", "records.csv", "report.html", "report.json", "success.csv",
      ])
  }

  @Test func `a value above 4 kB is in its own file, which all formats name`() async throws {
    let long = String(repeating: "a <b>long</b> text, ", count: 250)
    var model = try Self.model(try await Self.day())
    var edit = try #require(try model.edits.all().first { $0.verdict == .conflict })
    edit.detail.fields = [
      FieldDifference(
        name: "Description", base: "short", device: .string(long), server: .string(long + "2"),
        isConflicting: true),
      FieldDifference(name: "Secret__c", base: nil, device: .string(long + "3"), server: nil),
    ]
    edit.titles = [FieldDifference(name: "Name", base: nil, device: .string(long), server: nil)]
    model.edits = ReportEdits([edit])
    let directory = TemporaryDirectory("long-values")
    try ReportFormats.write(
      ReportFormats.all, model, to: directory.path, ReportMask(mask: ["Secret__c"]))
    func text(_ file: String) throws -> String {
      String(decoding: try Files.read(directory.file(file)), as: UTF8.self)
    }
    let held = try Files.list(directory.file("values")).map { try text("values/" + $0) }
    #expect(held.sorted() == [long, long + "2"])
    let (device, server) = (
      try #require(ReportValues.file(of: .string(long))),
      try #require(ReportValues.file(of: .string(long + "2")))
    )
    let fields = try JSONValue(parsing: try text("report.json"))["records"]?[0]?["fields"]
    #expect(fields?[0]?["files"] == ["device": .string(device), "server": .string(server)])
    #expect(fields?[0]?["device"] == nil && fields?[0]?["base"] == "short")
    #expect(fields?[1]?["masked"] == true && fields?[1]?["files"] == nil)
    #expect(try text("report.html").contains("<a href=\"\(device)\">"))
    #expect(try text("report.html").contains("\"\(server)\"]"))
    #expect(try text("conflicts.csv").contains(",short,\(device),\(server),"))
    for name in CSVReport.files + ["report.html", "report.json"] {
      #expect(try !text(name).contains(String(long.prefix(2100))), "\(name)")
    }
    // A report printed without a directory has the values themselves.
    let printed = try JSONReport.bytes("report.json", model, ReportMask())
    #expect(String(decoding: printed, as: UTF8.self).contains(long))
  }

  @Test func `a run without edits has a report that says so`() async throws {
    let day = try FieldDay()
    try await day.run()
    let page = try Self.text(HTMLReport.self, try Self.model(day))
    #expect(page.contains("No edits were returned"))
  }
}
