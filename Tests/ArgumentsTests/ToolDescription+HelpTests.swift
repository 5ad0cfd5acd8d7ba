import Testing

@Suite struct HelpTests {
  @Test func `the help page of a command`() throws {
    let command = try #require(planner.description.command(named: "prime"))
    #expect(try planner.description.help(for: command) == fixture("prime.txt"))
  }

  @Test func `the help page of the program`() throws {
    #expect(try planner.description.help == fixture("planner.txt"))
  }

  @Test func `every page has an example and at most 80 columns`() {
    for command in planner.description.commands {
      let page = planner.description.help(for: command)
      let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
      let example = lines.drop { $0 != "example:" }.dropFirst().first
      #expect(example?.contains("planner \(command.name)") == true, "\(command.name)")
      #expect(!page.contains("exit status:"), "\(command.name)")
      for line in page.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }
  }
}
