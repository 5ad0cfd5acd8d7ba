import Foundation
import Reports
import System
import TestSupport
import Testing

@Suite(.serialized) struct ReportChartTests {
  let directory = TemporaryDirectory("chart")

  private func write(_ called: String, _ history: [EarlierRun]) async throws -> String {
    let day = try await ReportTests.day()
    let run = try #require(try day.state.runs(limit: 1).first)
    var model = try ReportModel(state: day.state, run: run.id, called: called)
    model.history = history
    try HTMLReport.write(model, to: directory.path, .init())
    return directory.file("report.html")
  }

  private static let runs = (1...29).map { number in
    EarlierRun(
      run: "r\(number)", started: Int64(number) * 86_400_000, edits: number, open: 29 - number,
      records: number * 1000, seconds: Double(number) / 2)
  }

  @Test func `the chart has a bar for each run, with its numbers next to it`() async throws {
    let text = String(decoding: try Files.read(try await write("demo", Self.runs)), as: UTF8.self)
    #expect(text.contains("The 29 runs before this one"))
    #expect(text.ranges(of: "<svg ").count == 4)
    #expect(text.ranges(of: "<rect ").count == 4 * 29)
    #expect(text.contains("aria-label=\"Edits found: last 29, most 29\""))
    #expect(text.contains("<figcaption>Duration: last 14.5 s, most 14.5 s</figcaption>"))
    #expect(text.contains("<td class=\"number\">29000</td>"))
    let one = String(
      decoding: try Files.read(try await write("demo", [Self.runs[0]])), as: UTF8.self)
    #expect(!one.contains("<svg "))
  }

  @Test func `commands in sentences are code, with options in one piece`() async throws {
    let text = String(decoding: try Files.read(try await write("demo", [])), as: UTF8.self)
    #expect(
      text.contains(
        "<code>attache decide demo EDIT</code> followed by one of: "
          + "<code><span class=\"o\">--take device</span></code>, "))
    let prose = text.replacing(/<code[^>]*>.*?<\/code>/, with: "")
      .replacing(/(?s)<(script|style)[^>]*>.*?<\/(script|style)>/, with: "")
    #expect(!prose.contains("attache decide") && !prose.contains("--take"))
  }

  @Test func `the headings of a report suggest only what its edits permit`() async throws {
    let day = try FieldDay()
    let id = try day.make("Account", ["Name": "Acme", "Phone": "1"])
    day.server.faults.add(
      .writes, nth: 1, times: 9, .status(400, code: "FIELD_INTEGRITY_EXCEPTION", message: "no"))
    #expect(try await day.verdicts([try day.edited(account: id, ["Phone": "2"])]) == "failed 1")
    let model = try ReportModel(
      state: day.state, run: try #require(try day.state.runs(limit: 1).first).id, called: "demo")
    try HTMLReport.write(model, to: directory.path, .init())
    let text = String(decoding: try Files.read(directory.file("report.html")), as: UTF8.self)
    #expect(text.ranges(of: "attache decide demo EDIT</code> followed by ").count == 2)
    #expect(text.contains("Send another value, retry after fixing the reported error, or discard"))
    #expect(!text.contains("--match-record") && !text.contains("name the record"))
  }

  @Test(.enabled(if: Browser.isThere, "Chromium is missing: make deps-test"))
  func `a long path wraps on a phone, and no option is broken`() async throws {
    let long = "/srv/field-service/" + String(repeating: "pipelines-of-the-north/", count: 6)
    let path = try await write(long + "visits.json --data " + long + "data", Self.runs)
    let browser = try Browser()
    for look in Browser.Look.all {
      try await browser.open(path, look)
      try await browser.run("document.querySelectorAll('details').forEach(d => d.open = true); 0")
      #expect(try await browser.run("document.documentElement.scrollWidth <= innerWidth") == true)
      #expect(
        try await browser.run(
          "[...document.querySelectorAll('.o')].filter(e => e.getClientRects().length > 1).length")
          == 0)
      #expect(try await browser.errors() == [])
      if Browser.hasAxe { #expect(try await browser.violations() == [], "\(look)") }
    }
    await browser.close()
  }
}
