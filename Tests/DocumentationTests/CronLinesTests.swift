import Testing

@Suite struct CronLinesTests {
  @Test(arguments: [("packaging/cron/attache", 2), ("packaging/cron/crontab", 1)])
  func `the cron lines match those of the package`(_ file: String, _ copies: Int) throws {
    let text = try String(contentsOf: Page.root.appending(path: file), encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("17 2 ") })
    // The pages name the program without its path.
    let plain = line.replacing("@BINDIR@/", with: "")
    let pages = ["README.md", "docs/how-to/schedule.md"]
    let found = try pages.map { try Page($0).text.split(separator: "\n").count { $0 == plain } }
    #expect(found.reduce(0, +) == copies)
  }
}
