import JSON
import System
import Testing

@Suite struct RequestTraceTests {
  private let world: World
  init() throws { world = try World() }

  @Test func `each request has a line, and with -vv its status, time and size`() async throws {
    let file = world.directory.file("http.jsonl")
    let short = try await world.program(["org", "check"], ["-v"])
    #expect(short.status == 0, "\(short.everything)")
    #expect(short.messages.contains(/(?m)^GET \/services\/data\/v\S+$/), "\(short.messages)")
    let long = try await world.program(["org", "check"], ["-vv", "--debug-http", file])
    #expect(
      long.messages.contains(/(?m)^GET \/services\/data\/\S+: 200, \d+ ms, [\d.]+ (B|KiB|bytes)/),
      "\(long.messages)")
    let text = String(decoding: try Files.read(file), as: UTF8.self)
    let events = try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    #expect(events.count > 3)
    #expect(events.allSatisfy { $0["request"] != nil && $0["time"] != nil })
    #expect(events.contains { $0["kind"] == "token" && $0["status"] == 200 })
    // No login's assertion, token or key.
    #expect(!text.contains("eyJ") && !text.contains("BEGIN") && !text.contains("assertion"))
    #expect(!long.messages.contains("eyJ") && !long.messages.contains("BEGIN"))
  }

  @Test func `a repeated request is in the log, with its number and its pause`() async throws {
    world.server.faults.add(.kind(.query), times: 1, .status(503, code: "SERVER_UNAVAILABLE"))
    let log = world.directory.file("run.log")
    let run = try await world.program(["run"], ["--only", "prime", "--log-file", log])
    #expect(run.status == 0, "\(run.everything)")
    let text = String(decoding: try Files.read(log), as: UTF8.self)
    #expect(
      text.contains(/org answered HTTP 503 SERVER_UNAVAILABLE, retry 1 of 6 in \d+ m?s: GET/),
      "\(text)")
  }

  @Test func `repeated requests are shown without a terminal, and not with --quiet`() async throws {
    for words in [["org", "check"], ["run"]] {
      for (more, isShown) in [([], true), (["--quiet"], false)] as [([String], Bool)] {
        world.server.faults.add(.kind(.query), times: 1, .status(503, code: "SERVER_UNAVAILABLE"))
        let run = try await world.program(words, more)
        #expect(run.status == 0, "\(words): \(run.everything)")
        let line = /(?m)^GET \S+: org answered HTTP 503 SERVER_UNAVAILABLE, retry 1 of 6 in/
        #expect(run.messages.contains(line) == isShown, "\(words) \(more): \(run.messages)")
      }
    }
  }

  @Test func `an error of the org names its address`() async throws {
    world.server.faults.add(.kind(.query), times: 100, .status(400, code: "INVALID_FIELD"))
    let run = try await world.program(["org", "check"])
    #expect(run.status != 0)
    #expect(
      run.everything.contains("(400 INVALID_FIELD) at \(world.server.url)"), "\(run.everything)")
  }

  @Test func `colour is used only on a terminal or on request`() async throws {
    let plain = try await world.program(["status"])
    #expect(plain.status == 0 && !plain.output.contains("\u{1B}["), "\(plain.everything)")
    let always = try await world.program(["status"], ["--color", "always"])
    #expect(always.output.contains("\u{1B}[1mdemo\u{1B}[0m"), "\(always.everything)")
    let script = #"script -qec "$(printf '%q ' "$@")" /dev/null"#
    for (variables, words, isColored) in [
      ([:], [], true), (["NO_COLOR": "1"], [], false), ([:], ["--color", "never"], false),
      (["NO_COLOR": "1"], ["--color=always"], true),
    ] as [([String: String], [String], Bool)] {
      let run = try await world.program(["status"], words, shell: script, variables: variables)
      #expect(run.output.contains("\u{1B}[1mdemo") == isColored, "\(variables) \(words)")
    }
    let wrong = try await world.program(["status"], ["--color", "alwys"])
    #expect(wrong.status == 2 && wrong.messages.contains("did you mean \"always\"?"))
  }

  @Test func `a dry run ends with one message that nothing was done`() async throws {
    let run = try await world.program(["run"], ["--dry-run"])
    #expect(run.output.hasSuffix("dry run: nothing was sent or changed\n"), "\(run.output)")
    #expect(run.output.ranges(of: "nothing was").count == 1, "\(run.output)")
  }
}
