import Arguments
import Testing
import attache

@Suite struct HelpSectionsTests {
  private var description: ToolDescription { AttacheTool.tool.description }

  @Test func `every command for users is in exactly one part of the list`() {
    let listed = description.sections.flatMap(description.commands(in:)).map(\.name)
    #expect(Set(listed).count == listed.count)
    #expect(Set(description.commands.map(\.name)).subtracting(listed).isEmpty)
    #expect(
      description.sections.map(\.title)
        == ["run", "returns and decisions", "stores and bundles", "org", "setup"])
  }

  @Test func `global options, exit statuses and variables are explained on the first page`() {
    let page = description.help
    for option in ["--data DIR", "--json", "-q, --quiet", "--color WHEN", "-v, --verbose"] {
      #expect(page.contains(option), "\(option)")
    }
    for name in ["ATTACHE_DATA", "HTTPS_PROXY, NO_PROXY", "NO_COLOR"] {
      #expect(page.contains("  \(name)"), "\(name)")
    }
    #expect(page.contains("exit status:"))
    let run = description.command(named: "run").map(description.help(for:)) ?? ""
    #expect(run.contains("shared options (see attache help):"))
    #expect(!run.contains("exit status:") && !run.contains("-q, --quiet"))
  }

  @Test func `an option is listed as global only if every command has it`() throws {
    let rest = try #require(description.help.split(separator: "\nglobal options:\n").last)
    let section = try #require(rest.split(separator: "\n\n").first)
    let names = section.matches(of: /\-\-([a-z-]+)/).map { String($0.output.1) }
    #expect(names.contains("color") && names.contains("version"), "\(names)")
    let builtIn = ["completion", "manual", "help"]
    for command in description.commands where !builtIn.contains(command.name) {
      let known = command.options.map(\.name) + ["version"]
      let missing = names.filter { !known.contains($0) }
      #expect(missing.isEmpty, "\(command.name): \(missing)")
    }
  }

  @Test func `the choices of an option are listed once`() {
    for command in description.commands {
      for parameter in command.parameters {
        guard case .words(let choices) = parameter.completion else { continue }
        let words = Set(parameter.summary.split { !$0.isLetter }.map(String.init))
        #expect(
          words.intersection(choices).count < 2,
          "\(command.name) \(parameter.name): \(parameter.summary)")
      }
      for parameter in command.parameters where parameter.kind == .repeatable {
        #expect(!parameter.summary.contains("may be repeated"), "\(command.name)")
      }
    }
  }

  @Test func `an option that is almost one of the program names it`() {
    for (word, meant) in [("--verson", "--version"), ("--halp", "--help")] {
      let error = #expect(throws: UsageError.self) { try AttacheTool.tool.parse([word]) }
      #expect(error?.hint == "did you mean \"\(meant)\"?")
    }
  }

  @Test func `completion is never written over a file that a user owns`() throws {
    let command = try #require(description.command(named: "completion"))
    #expect(!description.help(for: command).contains("bash_completion"))
    #expect(!description.help(for: command).contains(">"))
  }
}
