import Testing

@Suite struct ManualTests {
  @Test(.enabled(if: place(of: "mandoc") != nil, "mandoc is not installed: make deps-test"))
  func `mandoc accepts the pages`() throws {
    let description = planner.description
    for page in [description.manual] + description.commands.map({ description.manual(for: $0) }) {
      #expect(try outputOf("mandoc", ["-Tlint", "-Wwarning"], input: page).text == "")
    }
  }

  @Test func `the manual page of a command`() throws {
    let command = try #require(planner.description.command(named: "reconcile undo"))
    #expect(try planner.description.manual(for: command) == fixture("planner-reconcile-undo.1"))
  }
}
