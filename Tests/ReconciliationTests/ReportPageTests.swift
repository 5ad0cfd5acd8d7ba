import Foundation
import Ledger
import Reports
import System
import TestSupport
import Testing

@Suite(.serialized, .enabled(if: Browser.isThere, "Chromium is missing: make deps-test"))
struct ReportPageTests {
  let directory = TemporaryDirectory("page")

  private func page() async throws -> (path: String, model: ReportModel) {
    let day = try await ReportTests.day()
    try day.state.store("https://example.my.salesforce.com", as: .instance)
    let run = try #require(try day.state.runs(limit: 1).first)
    let model = try ReportModel(state: day.state, run: run.id, called: "demo")
    return (try write(model), model)
  }

  private func model(
    _ model: ReportModel, edits: [ReportEdit], stillOpen: [ReportEdit] = []
  ) -> ReportModel {
    var model = model
    model.edits = ReportEdits(edits)
    model.stillOpen = ReportEdits(stillOpen)
    return model
  }

  private static var isIdle: Bool {
    let text = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? ""
    let load = text.split(separator: " ").first.flatMap { Double($0) } ?? .infinity
    return load < Double(ProcessInfo.processInfo.activeProcessorCount)
  }

  private func write(_ model: ReportModel) throws -> String {
    try HTMLReport.write(model, to: directory.path, .init())
    return directory.file("report.html")
  }

  /// A model with many copies of a scenario's edits, each with its own name; one in `share` is a
  /// conflict.
  private func large(_ count: Int, conflicts share: Int = 100) async throws -> ReportModel {
    let model = try await page().model
    let updated = try #require(model.edits.all().first { $0.verdict == .updated })
    let conflict = try #require(model.edits.all().first { $0.verdict == .conflict })
    return self.model(
      model,
      edits: (1...count).map { number in
        var edit = number % share == 0 ? conflict : updated
        edit.number = Int64(number)
        edit.editedAt += Int64(number) * 1000
        edit.titles = [
          FieldDifference(
            name: "Name", base: nil, device: .string("Customer number \(number)"), server: nil)
        ]
        return edit
      })
  }

  @Test(.enabled(if: Browser.hasAxe, "axe-core is missing: make deps-test"))
  func `the page works on desktop and phone, light and dark, with and without script`() async throws
  {
    let (path, _) = try await page()
    let browser = try Browser()
    for look in Browser.Look.all {
      for hasScript in [true, false] {
        var look = look
        look.hasScript = hasScript
        try await browser.open(path, look)
        #expect(try await browser.errors() == [], "\(look)")
        #expect(try await browser.requests().count == 1)
        #expect(try await browser.run("document.documentElement.scrollWidth <= innerWidth") == true)
        #expect(try await browser.run("document.querySelectorAll('article').length") == 8)
        try await browser.set(.init(width: look.width, isDark: look.isDark))
        #expect(try await browser.violations() == [], "\(look)")
      }
    }
    await browser.close()
  }

  @Test func `a sent edit shows what it replaced in the org, with and without script`()
    async throws
  {
    let (_, model) = try await page()
    var edit = try #require(model.edits.all().first { $0.verdict == .updated })
    let browser = try Browser()
    for server in ["3", "1"] {
      edit.detail.fields = [
        FieldDifference(name: "Phone", base: "1", device: "2", server: .string(server))
      ]
      let path = try write(self.model(model, edits: [edit]))
      for hasScript in [true, false] {
        try await browser.open(path, .init(hasScript: hasScript))
        let cells = try await browser.run(
          "[...document.querySelectorAll('article .fields th[scope=col], article .fields td')]"
            + ".map(cell => cell.textContent)")
        let columns = ["Field", "Issued to device", "Device"]
        let expected = columns + (server == "3" ? ["Org before", "1", "2", "3"] : ["1", "2"])
        #expect(cells.array?.compactMap(\.string) == expected, "\(server), script: \(hasScript)")
      }
    }
    await browser.close()
  }

  @Test func `a reader searches, filters, sorts and follows a link`() async throws {
    let (path, model) = try await page()
    let browser = try Browser()
    try await browser.open(path, .init(zone: "Asia/Tokyo"))
    func found() async throws -> [String] {
      let names = try await browser.run(
        "[...document.querySelectorAll('#list h3')].map(h => h.textContent.trim())")
      return (names.array ?? []).compactMap(\.string)
    }
    var names: [String] = []
    // Edits that need review come first.
    #expect(try await found().first == "conflict Account Acme <b>Bold</b>")
    #expect(try await browser.text("header time").contains("GMT+9"))
    try await browser.press("/")
    try await browser.type("dune")
    names = try await found()
    #expect(names == ["device conflict Account Dune", "device conflict Account Dune"])
    #expect(try await browser.text(".found") == "2 of 8 edits")
    try await browser.run("search.value = ''; search.dispatchEvent(new Event('input')); 0")
    let choose = { (id: String, text: String) in
      """
      (() => { const select = document.getElementById('\(id)')
        select.value = [...select.options].find(option => option.text.startsWith('\(text)')).value
        select.dispatchEvent(new Event('change')) })()
      """
    }
    try await browser.run(choose("by-verdict", "failed"))
    names = try await found()
    #expect(names == ["failed Account"])
    let reason = try await browser.run("document.querySelector('#list .reason').textContent").string
    #expect(reason?.contains("Required fields are missing: [Name]") == true)
    try await browser.run(choose("by-verdict", "All"))
    try await browser.run(choose("sort", "Object and name"))
    #expect(try await found().first == "failed Account")
    try await browser.run(choose("by-user", "ben"))
    names = try await found()
    #expect(names == ["device conflict Account Dune"])
    // A verdict in the totals shows its edits; a device conflict links to the other edit.
    try await browser.click(".verdicts a[href='#blocked']")
    try await browser.wait(
      until: "document.querySelector('#list h3').textContent.includes('blocked')")
    names = try await found()
    #expect(names == ["blocked Contact Kid"])
    try await browser.click(".verdicts a[href='#device-conflict']")
    try await browser.wait(
      until: "document.querySelector('#list h3').textContent.includes('device conflict')")
    let other = try #require(model.edits.all().last { $0.verdict == .deviceConflict })
    try await browser.click("#list .reason a[href='#edit-\(other.number)']")
    try await browser.wait(until: "document.activeElement.id === 'edit-\(other.number)'")
    // The link to the record in the org, and the command, are usable.
    let link = try await browser.run("document.querySelector('#list .where a').href").string ?? ""
    #expect(link.hasPrefix("https://example.my.salesforce.com/001"))
    #expect(
      try await browser.text("#list .decide code").hasPrefix("attache decide \(model.called) "))
    try await browser.click("#list .decide button")
    #expect(try await browser.text("#list .decide button") == "Copied")
    #expect(try await browser.errors() == [])
    await browser.close()
  }

  @Test func `edits open from earlier runs are linked from the top, with their age`() async throws {
    let day = try await page().model
    let known = try day.edits.all()
    let model = self.model(
      day, edits: known.filter(\.verdict.isSettled),
      stillOpen: known.filter { !$0.verdict.isSettled }.map { edit in
        var edit = edit
        edit.foundAt = day.run.now - 3 * 86_400_000
        return edit
      })
    let browser = try Browser()
    try await browser.open(try write(model))
    try await browser.click(".totals a[href='#still-open']")
    try await browser.wait(until: "document.querySelector('#by-verdict').value === 'still-open'")
    let count = model.stillOpen.count
    #expect(try await browser.text(".found") == "\(count) of 8 edits")
    let first = try await browser.run("document.querySelector('#list article').textContent").string
    #expect(first?.contains("3 days ago") == true)
    #expect(try await browser.errors() == [])
    await browser.close()
  }

  // The two seconds and 0.3 are for 100,000 edits, which CI and `make soak` play. A smaller page has
  // less, but not less than a busy machine needs.
  @Test func `many edits open within two seconds and are searched in 0.3`() async throws {
    let thousands = CampaignSize.reportEdits.count / 1000
    let longest = (
      open: max(1, Double(thousands) / 50), search: max(0.15, 0.003 * Double(thousands))
    )
    // A thousand of them are conflicts.
    let path = try write(try await large(thousands * 1000, conflicts: thousands))
    var browser = try Browser()
    var seconds = try await browser.open(path)
    var work = try await browser.work()
    // The best of three: other work of the machine only adds to it.
    for _ in 0..<2 where work >= longest.open {
      await browser.close()
      browser = try Browser()
      seconds = try await browser.open(path)
      work = try await browser.work()
    }
    #expect(work < longest.open, "the page did \(work) s of work to open")
    // If all cores are busy, the wall-clock time says nothing about the page.
    if Self.isIdle { #expect(seconds < 2, "the page opened after \(seconds) s") }
    print(
      "report.html with \(thousands),000 edits: \(try Files.read(path).count / 1_000_000) MB, open after \(seconds) s"
    )
    #expect(try await browser.text(".found") == "\(thousands),000 edits")
    try await browser.wait(until: "rows.every(row => row.words)")
    let one = "number \(thousands * 1000 / 9 * 7)"
    for word in [one, "nothing of this", "customer"] {
      let before = try await browser.work()
      try await browser.run(
        "search.value = '\(word)'; search.dispatchEvent(new Event('input')); document.body.offsetHeight"
      )
      let took = try await browser.work() - before
      #expect(took < longest.search, "\(word): \(took) s")
    }
    try await browser.run(
      "search.value = '\(one)'; search.dispatchEvent(new Event('input')); 0")
    // Content outside the viewport has no text before the next frame.
    try await browser.wait(
      until: "document.querySelector('#list .name')?.innerText === 'Customer \(one)'")
    #expect(try await browser.errors() == [])
    // Without the script: the totals, the first open edits, and where the others are.
    try await browser.open(path, .init(width: 390, isDark: true, hasScript: false))
    #expect(try await browser.run("document.querySelectorAll('article').length") == 300)
    #expect(try await browser.text("#conflict").contains("700 more are not shown"))
    #expect(try await browser.text(".totals").contains("\(thousands)000 edits processed"))
    if Browser.hasAxe {
      for look in Browser.Look.all {
        try await browser.open(path, look)
        #expect(try await browser.violations() == [], "\(look)")
        #expect(try await browser.errors() == [])
      }
    }
    await browser.close()
  }

  @Test(.enabled(if: Self.pdftotext != nil, "pdftotext is missing: make deps-test"))
  func `on paper no heading ends a page alone, and no controls are printed`() async throws {
    let path = try write(try await large(400))
    let browser = try Browser()
    for hasScript in [true, false] {
      try await browser.open(path, .init(hasScript: hasScript))
      let found = try await browser.run(
        """
        [...document.querySelectorAll('h2, h3, caption, thead')].map(h => h.textContent)
        """)
      let headings = Set((found.array ?? []).compactMap(\.string).map(Self.letters))
      try await browser.print(to: directory.file("page.pdf"))
      let pages = try Self.lines(ofPDF: directory.file("page.pdf"))
      #expect(pages.count > 10 && headings.count > 10)
      for (number, lines) in pages.dropLast().enumerated() {
        let last = Self.letters(lines.last ?? "")
        #expect(!headings.contains(last), "page \(number + 1) ends with a heading: \(last)")
      }
      let words = pages.joined().joined(separator: "\n")
      #expect(words.contains("Edits by outcome") && !words.contains("Search"))
    }
    await browser.close()
  }

  private static let pdftotext = ["/usr/bin/pdftotext"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  /// A line without the characters that printers and screens set differently.
  private static func letters(_ text: String) -> String { text.filter { !$0.isWhitespace } }

  private static func lines(ofPDF path: String) throws -> [[String]] {
    let program = Process()
    program.executableURL = URL(fileURLWithPath: try #require(pdftotext))
    program.arguments = ["-layout", path, "-"]
    let output = Pipe()
    program.standardOutput = output
    try program.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    program.waitUntilExit()
    return text.split(separator: "\u{0C}").map { page in
      page.split(separator: "\n").map(String.init).filter { !letters($0).isEmpty }
    }
  }

  @Test func `a page shows 2,000 characters of a value, and report.json all`() async throws {
    let long = String(repeating: "long text ", count: 50_000)
    var edits = try await large(20).edits.all()
    for index in edits.indices {
      edits[index].detail.fields = [
        FieldDifference(name: "Description", base: .string(""), device: .string(long), server: nil)
      ]
    }
    let model = self.model(try await page().model, edits: edits)
    let path = try write(model)
    #expect(try Files.read(path).count < 400_000)
    #expect(try JSONReport.bytes("report.json", model, .init()).count > 20 * 500_000)
    let browser = try Browser()
    for hasScript in [true, false] {
      try await browser.open(path, .init(hasScript: hasScript))
      let text = try await browser.text("article td.changed")
      #expect(text.contains(hasScript ? "500,000 characters" : "500000 characters"))
      #expect(text.count < 2100)
    }
    await browser.close()
  }
}

extension ReportTotals {
  fileprivate mutating func add(_ edit: ReportEdit) {
    add(
      edits: 1, edit.verdict, subject: edit.verdict.isSettled ? nil : edit.subject,
      username: edit.username, soup: SoupKey(store: edit.store, soup: edit.soup),
      sobject: edit.sobject, source: edit.source, arrivedAt: edit.arrivedAt,
      edited: edit.editedAt > 0 ? edit.editedAt...edit.editedAt : nil,
      editsWithTime: edit.editedAt > 0 ? 1 : 0, decision: edit.detail.decision)
  }
}

extension ReportEdits {
  init(_ edits: [ReportEdit]) {
    var totals = ReportTotals()
    for edit in edits { totals.add(edit) }
    let known = Dictionary(uniqueKeysWithValues: edits.map { ($0.number, $0) })
    self.init(
      rows: edits.map { Row(number: $0.number, run: 1, verdict: $0.verdict) }, totals: totals
    ) { rows, _, body in for row in rows { if let edit = known[row.number] { try body(edit) } } }
  }
}
