import Foundation
import JSON
import TestSupport
import Testing

@Suite(.enabled(if: Browser.isThere, "Chromium is missing: make deps-test"))
struct BrowserTests {
  let directory = TemporaryDirectory("pages")

  func page(_ body: String, head: String = "") throws -> String {
    let path = directory.file("page.html")
    let text = """
      <!doctype html><html lang="en"><head><meta charset="utf-8">
      <meta name="viewport" content="width=device-width"><title>A page</title>\(head)</head>
      <body><main><h1>A page</h1>\(body)</main></body></html>
      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  @Test func `keys, clicks and text reach the page, and its script runs`() async throws {
    let browser = try Browser()
    try await browser.open(
      page(
        """
        <label>Name <input id="name"></label> <button onclick="said.textContent += name_()">Say</button>
        <p id="said"></p>
        <script>
        function name_() { return document.getElementById('name').value }
        addEventListener('keydown', event => said.textContent += `[${event.key}]`)
        </script>
        """))
    try await browser.click("#name")
    try await browser.type("Ada")
    try await browser.press("b")
    try await browser.press("ArrowDown")
    try await browser.press("Enter")
    try await browser.click("button")
    try await browser.wait(until: "said.textContent.endsWith('Adab')")
    #expect(try await browser.text("#said") == "[b][ArrowDown][Enter]Adab")
    #expect(try await browser.run("({a: [1, 2]})") == ["a": [1, 2]])
    #expect(try await browser.errors() == [])
    await browser.close()
  }

  @Test func `errors of a page are reported, and only its own`() async throws {
    let browser = try Browser()
    let policy =
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'\">"
    try await browser.open(page("<script>console.error('bad', 1); missing.call()</script>"))
    var errors = try await browser.errors().joined(separator: "\n")
    #expect(errors.contains("bad") && errors.contains("missing is not defined"))
    try await browser.open(page("<img alt=\"\" src=\"http://127.0.0.1:9/a.png\">", head: policy))
    errors = try await browser.errors().joined(separator: "\n")
    #expect(errors.contains("Content Security Policy") && !errors.contains("bad"))
    try await browser.open(page("<p>fine</p>"))
    #expect(try await browser.errors() == [])
    #expect(try await browser.requests().count == 1)
    await browser.close()
  }

  @Test func `a screenshot shows the page`() async throws {
    let browser = try Browser()
    let path = try page("<p id=p>plain</p><script>p.textContent = 'by script'</script>")
    for look in Browser.Look.all {
      try await browser.open(path, look)
      let seen = try await browser.run(
        "[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches, p.textContent]")
      #expect(seen == [JSONValue(look.width), JSONValue(look.isDark), "by script"])
    }
    try await browser.open(path, .init(hasScript: false, zone: "Asia/Tokyo"))
    #expect(try await browser.text("#p") == "plain")
    #expect(try await browser.run("new Date(0).getHours()") == 9)
    try await browser.screenshot(to: directory.file("picture.png"))
    try await browser.print(to: directory.file("page.pdf"))
    for name in ["picture.png", "page.pdf"] {
      #expect(FileManager.default.fileExists(atPath: directory.file(name)))
    }
    await browser.close()
  }

  @Test(.enabled(if: Browser.hasAxe, "axe-core is missing: make deps-test"))
  func `axe-core finds text that is hard to read`() async throws {
    let browser = try Browser()
    try await browser.open(page("<p>fine</p>"))
    #expect(try await browser.violations() == [])
    try await browser.open(page("<p style=\"color:#bbb;background:#fff\">pale</p><input>"))
    let found = try await browser.violations()
    #expect(found.contains { $0.hasPrefix("color-contrast: ") })
    #expect(found.contains { $0.hasPrefix("label: ") })
    #expect(try await !browser.violations(without: ["label"]).contains { $0.hasPrefix("label: ") })
    await browser.close()
  }
}
