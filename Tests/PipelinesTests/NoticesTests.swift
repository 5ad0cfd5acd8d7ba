import Crypto
import Dispatch
import Glibc
import HTTP
import JSON
import Ledger
import System
import TestSupport
import Testing

@Suite struct NoticesTests {
  private let directory = TemporaryDirectory("notices")

  private func world(_ section: String) throws -> World {
    try World { $0.replacing(#""report": { "mask": ["Email"] }"#, with: section) }
  }

  private func lines(_ path: String) throws -> [String] {
    String(decoding: try Files.read(path, limit: 1 << 20), as: UTF8.self)
      .split(separator: "\n").map(String.init)
  }

  private func leaveConflict(_ world: World) throws {
    let device = try world.device("ada")
    let account = try #require(try world.ids("accounts", on: device).first)
    try device.edit("accounts", id: account, ["Phone": "secret-device"], now: world.org.now() + 1)
    _ = world.org.update(
      "Account", id: account, ["Phone": "secret-office"], as: try world.user("admin"))
    try world.handBack(device, as: "ada.sqlite")
  }

  // MARK: log

  @Test func `a log file collects runs, each line with time, pipeline and run`() async throws {
    let world = try World()
    let log = directory.file("attache.log")
    #expect(try await world.program(["run"], ["--log-file", log]).status == 0)
    let first = try lines(log)
    for line in first {
      #expect(line.prefixMatch(of: #/[0-9-]{10}T[0-9:]{8}Z  demo [0-9TZ]+-1  /#) != nil, "\(line)")
    }
    let words = first.joined(separator: "\n")
    for part in [
      "  started\n", "  prime: started", "prime: ada@example.com: generation 1:",
      "  prime: finished: ", "  ended: attache: demo: success: ", "; exit status 0",
    ] { #expect(words.contains(part), "\(part) in \(words)") }
    let quiet = try await world.program(["run"], ["--log-file", log, "--quiet"])
    #expect(quiet.status == 0 && quiet.everything == "")
    let both = try lines(log)
    #expect(both.count > first.count && Array(both.prefix(first.count)) == first)
    #expect(try Files.status(log).mode & 0o77 == 0)
  }

  @Test func `each line of JSON names time, run, stage and user`() async throws {
    let world = try World()
    let log = directory.file("attache.jsonl")
    let run = try await world.program(
      ["run"], ["--json", "--log-file", log, "--log-format", "json"])
    let logged = try lines(log).map { try JSONValue(parsing: $0) }
    let printed = try run.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    // The last line is the summary on the output, and the run's end in the log.
    #expect(logged.dropLast() == printed.dropLast())
    let times = logged.map { $0["time"]?.string ?? "" }
    #expect(times == times.sorted())
    for line in logged {
      #expect(line["time"]?.string?.hasSuffix("Z") == true && line["pipeline"] == "demo")
      #expect(line["run"]?.string?.hasSuffix("-1") == true, "\(line)")
    }
    // Global events belong to no user.
    let ofUsers = logged.filter { $0["snapshot"]?.string != SnapshotID.global }
    let primed = try #require(ofUsers.last { $0["type"] == "snapshotPrimed" })
    #expect(primed["stage"] == "prime" && primed["user"] == primed["username"])
    let fetched = try #require(ofUsers.last { $0["type"] == "soupProgress" })
    #expect(fetched["stage"] == "prime" && fetched["user"]?.string?.contains("@") == true)
    let packed = try #require(ofUsers.last { $0["type"] == "bundleWritten" })
    #expect(packed["stage"] == "pack" && packed["user"]?.string?.contains("@") == true)
    let ended = try #require(
      logged.first { $0["type"] == "stageFinished" && $0["stage"] == "prime" })
    #expect((ended["requests"]?.int ?? 0) > 0 && (ended["records"]?.int ?? 0) > 0)
    #expect(logged.last?["type"] == "runEnded" && logged.last?["status"] == 0)
  }

  @Test func `a log that cannot be opened is reported before anything is done`() async throws {
    let world = try World()
    let run = try await world.program(["run"], ["--log-file", "/no/such/place/attache.log"])
    #expect(run.status == 1)
    #expect(run.messages.contains("the log file cannot be opened"))
    #expect(run.messages.contains("/no/such/place/attache.log"))
    #expect(!Files.exists(world.data.path))
    // A pipe without a reader is not waited for.
    let pipe = directory.file("pipe")
    #expect(try ChildProcess.run("/usr/bin/mkfifo", [pipe]).status == 0)
    let stuck = try await world.program(["run"], ["--log-file", pipe])
    #expect(stuck.status == 1 && stuck.messages.contains("the log file cannot be opened"))
  }

  @Test func `a log that cannot be opened is a failure too`() async throws {
    let told = directory.file("told")
    let world = try world(#""notify": {"command": ["/bin/sh", "-c", "cat > \#(told)"]}"#)
    #expect(try await world.program(["run"], ["--log-file", "/no/such/place/x.log"]).status == 1)
    let message = try JSONValue(parsing: try #require(try lines(told).last))
    #expect(message["outcome"] == "failure" && message["error"]?["code"] == "log.file")
  }

  @Test func `the terminal shows the cost of a run by stage`() async throws {
    let world = try World()
    // It reads the terminal to its end, because `script` may exit before the last output.
    let run = try await world.program(
      ["run"],
      shell: #"TERM=xterm python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$@" < /dev/null"#)
    let words = run.output
    #expect(words.contains(#/stage +rows +requests +received +time/#), "\(words)")
    #expect(
      words.contains(#/prime +[1-9][0-9]* +[1-9][0-9]* +[0-9]+ KiB +[0-9.]+ s/#)
        && words.contains("slowest:"))
    #expect(words.contains(#/ [1-4] of 4 snapshots, (global|[a-z]+@example.com)/#))
  }

  // MARK: metrics

  @Test func `metrics describe the last run, and a failure keeps the last success`() async throws {
    let path = directory.file("demo.prom")
    let world = try world("\"report\": {\"metricsFile\": \"\(path)\"}")
    #expect(try await world.program(["run"]).status == 0)
    try leaveConflict(world)
    #expect(try await world.program(["run"]).status == 3)
    let text = try lines(path).joined(separator: "\n") + "\n"
    for part in [
      "attache_last_run_exit_status{pipeline=\"demo\"} 3\n",
      "attache_open_edits{pipeline=\"demo\",verdict=\"conflict\"} 1\n",
      "attache_last_run_edits{pipeline=\"demo\",verdict=\"conflict\"} 1\n",
      "attache_open_findings{pipeline=\"demo\",kind=\"userSkipped\"} 0\n",
      "# TYPE attache_last_run_requests gauge\nattache_last_run_requests{pipeline=\"demo\",stage=\"ingest\"} ",
    ] { #expect(text.contains(part), "\(part) in \(text)") }
    #expect(!text.contains("ada@") && !text.contains("secret"))
    #expect(try Files.status(path).mode & 0o777 == 0o644)
    let success = try lines(path).first { $0.hasPrefix("attache_last_success") }
    world.goAway()
    #expect(try await world.program(["run"]).status == 6)
    let failed = try lines(path)
    #expect(failed.contains("attache_last_run_exit_status{pipeline=\"demo\"} 6"))
    #expect(failed.first { $0.hasPrefix("attache_last_success") } == success)
    // What was not counted has no metric.
    for name in ["attache_open_edits", "attache_last_run_edits", "attache_last_run_snapshots"] {
      #expect(!failed.contains { $0.hasPrefix(name) }, "\(name)")
    }
  }

  @Test func `a single stage, or one user's run, does not count as a full run`() async throws {
    let path = directory.file("demo.prom")
    let world = try world("\"report\": {\"metricsFile\": \"\(path)\"}")
    for words in [
      ["run", "--only", "prime,pack"], ["run", "--user", "ada@example.com"], ["pack"],
    ] {
      #expect(try await world.program([words[0]], Array(words.dropFirst())).status == 0)
      let text = try lines(path)
      #expect(text.contains("attache_last_run_exit_status{pipeline=\"demo\"} 0"))
      #expect(!text.contains { $0.hasPrefix("attache_last_success") }, "\(words)")
    }
    #expect(try await world.program(["run"]).status == 0)
    #expect(try lines(path).contains { $0.hasPrefix("attache_last_success") })
  }

  @Test(.enabled(if: Files.exists("/usr/bin/promtool"), "promtool is missing: make deps-test"))
  func `promtool finds no fault in the metrics`() async throws {
    let path = directory.file("demo.prom")
    let world = try world("\"report\": {\"metricsFile\": \"\(path)\"}")
    #expect(try await world.program(["run"]).status == 0)
    let check = try ChildProcess.run(
      "/usr/bin/promtool", ["check", "metrics"], input: try Files.read(path, limit: 1 << 20))
    #expect(check.status == 0, "\(String(decoding: check.error, as: UTF8.self))")
  }

  // MARK: notifications

  @Test func `a program is notified of runs that need review, and of no others`() async throws {
    let (told, program) = (directory.file("told"), directory.file("tell.sh"))
    try DurableFile.write(
      Array("#!/bin/sh\n{ env | grep ATTACHE; cat; } >> \(told)\n".utf8), to: program, mode: 0o755)
    let world = try world("\"notify\": {\"command\": [\"\(program)\"]}")
    #expect(try await world.program(["run"]).status == 0)
    #expect(!Files.exists(told))
    try leaveConflict(world)
    #expect(try await world.program(["run"], variables: ["MY_SECRET": "x"]).status == 3)
    let lines = try lines(told)
    #expect(lines.contains("ATTACHE_OUTCOME=attention") && lines.contains("ATTACHE_STATUS=3"))
    // No secret of the run's environment is passed.
    #expect(lines.count { $0.hasPrefix("ATTACHE_") } == 5)
    let message = try JSONValue(parsing: try #require(lines.last))
    #expect(message["open"] == ["conflict": 1] && message["pipeline"] == "demo")
    #expect(!lines.joined().contains("secret-"))
    // A dry run sends no notification, and a user who mistyped a name sees the message.
    #expect(try await world.program(["run"], ["--dry-run"]).status == 0)
    #expect(try await world.program(["run"], ["--user", "unknown@example.com"]).status == 4)
    #expect(try self.lines(told).count == lines.count)
  }

  @Test func `a notification without its variable is only a warning`() async throws {
    let world = try world(
      #""notify": {"on": ["success"], "webhook": {"url": {"env": "NO_SUCH_VARIABLE"}}}"#)
    let run = try await world.program(["run"])
    #expect(run.status == 0, "\(run.everything)")
    #expect(
      run.messages.contains("warning: notify.webhook could not be notified of the run's end: "))
    #expect(run.messages.contains("the environment variable NO_SUCH_VARIABLE is not set"))
  }

  @Test func `a failing program is a warning and does not change the exit status`() async throws {
    let world = try world(
      "\"notify\": {\"on\": [\"success\"], \"command\": [\"/bin/sh\", \"-c\", \"echo no mail >&2; exit 7\"]}"
    )
    let run = try await world.program(["run"])
    #expect(run.status == 0)
    #expect(
      run.messages.contains(
        "warning: notify.command could not be notified of the run's end: /bin/sh failed with exit status 7: no mail"
      ), "\(run.messages)")
  }

  @Test func `a webhook gets a signed message, a heartbeat only successful runs`() async throws {
    let asked = Locked<[(path: String, request: ServerRequest)]>([])
    let refusals = Locked(1)
    let server = try HTTPServer { request in
      asked.withLock { $0.append((request.path, request)) }
      let fails =
        request.path == "/hook"
        && refusals.withLock { left in
          left -= 1
          return left >= 0
        }
      return ServerResponse(status: fails ? 503 : 200)
    }
    defer { server.stop() }
    let key = directory.file("hook.key")
    try DurableFile.write(Array("very secret\n".utf8), to: key)
    func world(notifying url: String) throws -> World {
      try self.world(
        """
        "notify": {"on": ["failure", "attention", "success"], "heartbeat": "\(url)/beat",
          "webhook": {"url": "\(url)/hook", "secret": {"file": "\(key)"}}}
        """)
    }
    // Nothing answers this one: neither its org nor the webhook, which takes its time.
    let gone = try HTTPServer { _ in ServerResponse(status: 200) }
    gone.stop()
    let away = try world(notifying: gone.url)
    away.goAway()
    async let unheard = away.program(["run"])
    let world = try world(notifying: server.url)
    let run = try await world.program(["run"])
    #expect(run.status == 0 && !run.messages.contains("warning"), "\(run.messages)")
    var all = asked.withLock { $0 }
    // Retried after a server error; the heartbeat does not wait for it.
    #expect(all.map(\.path).sorted() == ["/beat", "/hook", "/hook"])
    let message = try #require(all.last { $0.path == "/hook" }?.request)
    let time = try #require(message.headers["X-Attache-Timestamp"])
    let code = HMAC.sha256(key: Array("very secret".utf8), Array(time.utf8) + [0x2E] + message.body)
    #expect(message.headers["X-Attache-Signature"] == "sha256=" + Hex.encode(code))
    #expect(try JSONValue(parsing: message.body)["outcome"] == "success")

    world.goAway()
    #expect(try await world.program(["run"]).status == 6)
    all = Array(asked.withLock { $0 }.dropFirst(3))
    #expect(all.map(\.path) == ["/hook"])
    let failure = try JSONValue(parsing: try #require(all.first).request.body)
    #expect(failure["outcome"] == "failure" && failure["error"]?["code"] == "org.unreachable")
    let silent = try await unheard
    #expect(silent.status == 6)
    #expect(silent.messages.contains("notify.webhook could not be notified of the run's end: "))
    #expect(!silent.messages.contains(gone.url), "an address may contain a token")
  }

  @Test func `a hanging target does not delay the others or exceed the time limit`() async throws {
    let asked = Locked<[String]>([])
    let release = DispatchSemaphore(value: 0)
    let server = try HTTPServer { request in
      asked.withLock { $0.append(request.path) }
      if request.path == "/hook" { release.wait() }
      return ServerResponse(status: 200)
    }
    defer {
      release.signal()
      server.stop()
    }
    let world = try world(
      """
      "notify": {"on": ["success"], "heartbeat": "\(server.url)/beat", "timeoutSeconds": 10,
        "command": ["/bin/sleep", "1000"], "webhook": {"url": "\(server.url)/hook"}}
      """)
    let log = directory.file("attache.log")
    let run = try await world.program(["run"], ["--log-file", log])
    #expect(run.status == 0)
    #expect(Set(asked.withLock { $0 }) == ["/hook", "/beat"])
    for text in [run.messages, try lines(log).joined(separator: "\n")] {
      for target in ["command", "webhook"] {
        #expect(
          text.contains("warning: notify.\(target) could not be notified of the run's end: "),
          "\(text)")
      }
      #expect(!text.contains("notify.heartbeat"))
    }
  }

  @Test
  func `a signal during the notices ends them at once, and the log names who got none`()
    async throws
  {
    let release = DispatchSemaphore(value: 0)
    let server = try HTTPServer { _ in
      release.wait()
      return ServerResponse(status: 200)
    }
    defer {
      for _ in 0..<2 { release.signal() }
      server.stop()
    }
    // The program's parent process is the run itself.
    let world = try world(
      """
      "notify": {"on": ["success"], "timeoutSeconds": 60, "webhook": {"url": "\(server.url)/hook"},
        "command": ["/bin/sh", "-c", "kill -TERM $PPID; exec sleep 1000"]}
      """)
    let log = directory.file("attache.log")
    let run = try await world.program(["run"], ["--log-file", log])
    #expect(run.status == 0, "the run itself was done: \(run.everything)")
    let text = try lines(log).joined(separator: "\n")
    for target in ["command", "webhook"] {
      let words = "notify.\(target) could not be notified of the run's end: a signal ended it"
      #expect(text.contains("warning: " + words), "\(text)")
    }
  }

  @Test(arguments: ["url", "secret"])
  func `a program that supplies a URL or key has a time limit`(_ what: String) async throws {
    let asked = Locked(0)
    let server = try HTTPServer { _ in
      asked.withLock { $0 += 1 }
      return ServerResponse(status: 200)
    }
    defer { server.stop() }
    let slow = #"{"command": ["/bin/sh", "-c", "sleep 1000; echo late"]}"#
    let url = what == "url" ? slow : #""\#(server.url)/hook""#
    let secret = what == "secret" ? slow : #"{"command": ["/bin/echo", "key"]}"#
    let world = try world(
      #""notify": {"timeoutSeconds": 1, "webhook": {"url": \#(url), "secret": \#(secret)}}"#)
    let check = try await ProgramRun.blocking(
      ["check", world.pipeline.file, "--notify"], variables: world.variables, deadlineSeconds: 20)
    #expect(check.status == 1, "\(check.everything)")
    #expect(
      check.output.contains("did not finish within 1 second and was stopped"), "\(check.output)")
    #expect(asked.withLock { $0 } == 0)
  }

  @Test(arguments: [SIGINT, SIGTERM], ["webhook", "command"])
  func `a test ended by a signal exits with its status at once`(
    _ number: Int32, _ kind: String
  ) async throws {
    // A shell that runs the tests in the background ignores the signal, and so do the programs they
    // start.
    signal(SIGINT, SIG_DFL)
    let asked = directory.file("asked")
    let words = #"["/bin/sh", "-c", "echo >\#(asked); kill -\#(number) $PPID; exec sleep 1000"]"#
    let target =
      kind == "command" ? #""command": \#(words)"# : #""webhook": {"url": {"command": \#(words)}}"#
    let world = try world(#""notify": {"timeoutSeconds": 600, \#(target)}"#)
    let check = try await ProgramRun.blocking(
      ["check", world.pipeline.file, "--notify"], variables: world.variables)
    #expect(check.status == 128 + number, "\(check.everything)")
    #expect(check.output == "notify.\(kind): not sent: a signal ended it\n")
    #expect(Files.exists(asked))
  }

  @Test func `check sends a marked test to all targets and shows their answers`() async throws {
    let told = directory.file("told")
    let asked = Locked<[(path: String, request: ServerRequest)]>([])
    let answer = Locked(204)
    let server = try HTTPServer { request in
      asked.withLock { $0.append((request.path, request)) }
      return ServerResponse(status: request.path == "/hook" ? answer.withLock { $0 } : 200)
    }
    let key = directory.file("hook.key")
    try DurableFile.write(Array("very secret\n".utf8), to: key)
    // No outcome is notified, but a test is.
    let world = try world(
      """
      "notify": {"on": [], "heartbeat": "\(server.url)/beat",
        "command": ["/bin/sh", "-c", "cat > \(told); echo $ATTACHE_OUTCOME >> \(told)"],
        "webhook": {"url": "\(server.url)/hook", "secret": {"file": "\(key)"}}}
      """)
    let check = try await ProgramRun.blocking(
      ["check", world.pipeline.file, "--notify"], variables: world.variables)
    #expect(check.status == 0 && check.messages == "", "\(check.everything)")
    #expect(
      check.output == """
        notify.command: sent: /bin/sh ended with exit status 0
        notify.webhook: sent: it answers 204
        notify.heartbeat: sent: it answers 200

        """)
    let message = try #require(asked.withLock { $0.first { $0.path == "/hook" } }).request
    let body = try JSONValue(parsing: message.body)
    #expect(body["type"] == "test" && body["outcome"] == "test" && body["pipeline"] == "demo")
    #expect(body["words"] == "attache: demo: this is a test; no run has finished")
    let time = try #require(message.headers["X-Attache-Timestamp"])
    let code = HMAC.sha256(key: Array("very secret".utf8), Array(time.utf8) + [0x2E] + message.body)
    #expect(message.headers["X-Attache-Signature"] == "sha256=" + Hex.encode(code))
    let command = try lines(told)
    #expect(try JSONValue(parsing: command[0])["type"] == "test" && command.last == "test")

    answer.withLock { $0 = 404 }
    let refused = try await ProgramRun.blocking(
      ["check", world.pipeline.file, "--notify", "--json"], variables: world.variables)
    #expect(refused.status == 1)
    let notices = try JSONValue(parsing: refused.output)["notices"]?.array ?? []
    #expect(notices.map { $0["told"] } == [true, false, true])
    #expect(notices[1] == ["target": "notify.webhook", "told": false, "answer": "it answers 404"])
    #expect(!refused.everything.contains(server.url), "an address may contain a token")
    server.stop()
  }

  @Test func `a test without targets is reported as such`() async throws {
    let world = try World()
    let check = try await ProgramRun.blocking(
      ["check", world.pipeline.file, "--notify"], variables: world.variables)
    #expect(check.status == 4 && check.messages.contains("[notify.nobody]"), "\(check.everything)")
  }

  @Test func `messages next to JSON output are JSON with the run's id`() async throws {
    let world = try world(#""notify": {"on": ["success"], "command": ["/bin/false"]}"#)
    let run = try await world.program(["run"], ["--json"], shell: #"exec "$@" 2>&1"#)
    #expect(run.status == 0)
    let lines = try run.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    let warning = try #require(lines.last)
    #expect(warning["type"] == "warning" && warning["pipeline"] == "demo")
    #expect(warning["message"]?.string?.hasPrefix("notify.command could not be notified") == true)
    #expect(warning["time"]?.string != nil && warning["run"]?.string?.hasSuffix("-1") == true)
  }

  @Test func `the events of a single return and bundle name their user`() async throws {
    let world = try World()
    #expect(try await world.program(["run"]).status == 0)
    let device = try world.device("ada")
    let account = try #require(try world.ids("accounts", on: device).first)
    try device.edit("accounts", id: account, ["Phone": "1"], now: world.org.now() + 1)
    try world.handBack(device, as: "ada.sqlite")
    let copy = try Files.read(world.data.inbox("inbox") + "/ada.sqlite")
    func user(_ type: String, in run: ProgramRun) throws -> [String?] {
      try run.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        .filter { $0["type"]?.string == type }.map { $0["user"]?.string }
    }
    let first = try await world.program(["ingest"], ["--json"])
    #expect(try user("returnIngested", in: first) == ["ada@example.com"])
    try DurableFile.write(copy, to: world.data.inbox("inbox") + "/again.sqlite")
    let second = try await world.program(["ingest"], ["--json"])
    #expect(try user("returnKnown", in: second) == ["ada@example.com"], "\(second.output)")
    #expect(try await world.program(["reconcile"]).status == 0)
    #expect(try await world.program(["prime"]).status == 0)
    let packed = try user("bundleWritten", in: try await world.program(["pack"], ["--json"]))
    #expect(packed.contains("ada@example.com") && !packed.contains(nil), "\(packed)")
  }

  @Test func `a service manager gets the state of a run`() async throws {
    let world = try World()
    let listener = try DatagramListener(directory.file("notify"))
    let run = try await world.program(["run"], variables: ["NOTIFY_SOCKET": listener.path])
    #expect(run.status == 0)
    let told = listener.received()
    #expect(told.contains("STATUS=prime") && told.contains("STATUS=pack"))
    #expect(told.contains { $0.hasPrefix("STATUS=prime: 2 of 4 ") && $0.hasSuffix("@example.com") })
  }
}
