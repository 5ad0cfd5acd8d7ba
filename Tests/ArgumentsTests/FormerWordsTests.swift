import Arguments
import System
import Testing

@Suite struct FormerWordsTests {
  private struct Decide: Command {
    static let name = "decide"
    static let summary = "decide"
    static let examples: [Note] = []
    static var parameters: [Parameter<Self>] {
      [.flag("retry", "retry", \.retry), .option("report", "DIR", "a report", \.report)]
    }
    var retry = false
    var report: String?

    func run(_ context: Journal) async throws -> System.ExitStatus { .done }
  }

  private struct Show: Command {
    static let name = "show"
    static let summary = "show"
    static let examples: [Note] = []
    static var parameters: [Parameter<Self>] { [.flag("retries", "retries", \.retries)] }
    var retries = false

    func run(_ context: Journal) async throws -> System.ExitStatus { .done }
  }

  private struct Names: Command {
    static let name = "names"
    static let summary = "print names for a shell"
    static let examples: [Note] = []
    static let isHidden = true

    func run(_ context: Journal) async throws -> System.ExitStatus { .done }
  }

  private let tool = Tool<Journal>(
    name: "tool", summary: "a tool", version: "1", date: "today",
    commands: [Decide.self, Show.self, Names.self], exitStatuses: [],
    former: FormerWords(
      options: ["again": "--retry", "rehearse": "--retry --report DIR"],
      commands: ["decide again": "tool decide --retry"]))

  private func error(_ words: String...) -> String? {
    do throws(UsageError) {
      _ = try tool.parse(words)
      return nil
    } catch { return error.description }
  }

  @Test func `a former option is refused with the option that replaces it`() {
    #expect(error("decide", "--again") == "unknown option \"--again\" (write --retry)")
    #expect(
      error("decide", "--rehearse", "x")
        == "unknown option \"--rehearse\" (write --retry --report DIR)")
  }

  @Test func `a command without the replacement does not name it`() {
    #expect(error("show", "--again") == "unknown option \"--again\"")
  }

  @Test func `a former command is refused with the command that replaces it`() {
    #expect(
      error("decide", "again", "x")
        == "there is no command \"decide again\" (write tool decide --retry)")
    #expect(
      error("decide", "other") == "unexpected argument \"other\" (--help shows what is expected)")
  }

  @Test func `a hidden command can be called, and no page and no script lists it`() {
    #expect(error("names") == nil)
    let description = tool.description
    let scripts = Shell.allCases.map { description.completion(for: $0) }
    let pages = [description.help, description.manual] + scripts
    #expect(pages.allSatisfy { !$0.contains("print names") && !$0.contains("'names'") })
  }
}
