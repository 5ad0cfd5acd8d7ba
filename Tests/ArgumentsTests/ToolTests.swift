import Arguments
import Testing

/// The outcome of a command line: what the command saw, or the whole error text.
private func outcome(_ line: String) async throws -> String {
  let words = line.split(separator: " ").map(String.init)
  do throws(UsageError) {
    switch try planner.parse(words) {
    case .answer(let text): return String(text.prefix { $0 != "\n" })
    case .command(_, _, let run):
      let journal = Journal()
      // The run's own errors do not exist in these commands.
      _ = try? await run(journal)
      return journal.all.joined()
    }
  } catch { return "\(error.command): \(error.description)" }
}

@Suite struct ToolTests {
  @Test(arguments: [
    ("prime fs", #"prime fs [] [] ["all"] 4 zip - "#),
    ("prime fs a b", #"prime fs ["a", "b"] [] ["all"] 4 zip - "#),
    ("prime fs --user ada --user bob", #"prime fs [] ["ada", "bob"] ["all"] 4 zip - "#),
    ("prime fs --only ingest,pack", #"prime fs [] [] ["ingest", "pack"] 4 zip - "#),
    ("prime --only=ingest --only=pack fs", #"prime fs [] [] ["ingest", "pack"] 4 zip - "#),
    ("prime -j 8 fs --format=tar.zst", #"prime fs [] [] ["all"] 8 tar.zst - "#),
    ("prime -j8 -nq fs", #"prime fs [] [] ["all"] 8 zip - dryquiet"#),
    ("prime --deadline -5 fs", #"prime fs [] [] ["all"] 4 zip -5 "#),
    ("prime --json --dry-run fs", #"prime fs [] [] ["all"] 4 zip - dryjson"#),
    ("prime -- --odd", #"prime --odd [] [] ["all"] 4 zip - "#),
    ("prime -", #"prime - [] [] ["all"] 4 zip - "#),
    ("prime --user= fs", #"prime fs [] [""] ["all"] 4 zip - "#), ("reconcile", "reconcile -"),
    ("reconcile fs", "reconcile fs"), ("reconcile ./undo", "reconcile ./undo"),
    ("reconcile undo 12 --reason why", "undo 12 why"), ("org serve", "serve 0 -"),
    ("org serve --port 8080 --data d", "serve 8080 d"),
  ])
  func `words are assigned to the properties`(_ line: String, _ expected: String) async throws {
    #expect(try await outcome(line) == expected)
  }

  @Test(
    arguments: [
      "prime": "planner prime: PIPELINE is missing: a pipeline file, or a name in pipelines/",
      "prmie fs": #"planner: unknown command "prmie" (did you mean "prime"?)"#,
      "nothing": #"planner: unknown command "nothing" (planner help lists the commands)"#,
      "prime fs --dry": #"planner prime: unknown option "--dry" (did you mean "--dry-run"?)"#,
      "prime fs --jbos 3": #"planner prime: unknown option "--jbos" (did you mean "--jobs"?)"#,
      "prime fs --elephant": #"planner prime: unknown option "--elephant""#,
      "prime fs -x": #"planner prime: unknown option "-x" (--help lists the options)"#,
      "prime fs --format zpi":
        #"planner prime: --format cannot be "zpi": it must be one of zip, tar.zst "#
        + #"(did you mean "zip"?)"#,
      "prime fs --only=":
        #"planner prime: --only "" has an empty name (write names with commas between)"#,
      "prime fs --only ingest,":
        #"planner prime: --only "ingest," has an empty name (write names with commas between)"#,
      "prime fs --jobs many": #"planner prime: --jobs cannot be "many": it must be a whole number"#,
      "prime fs --jobs 2 --jobs 3": "planner prime: --jobs is given twice (give it once)",
      "prime fs --jobs": "planner prime: --jobs needs a value: stores in work at once",
      "prime fs --jobs --json":
        #"planner prime: --jobs needs a value, and "--json" looks like an option "#
        + "(write --jobs=--json if it is the value)",
      "prime fs --json=yes": "planner prime: --json takes no value (write --json alone)",
      "prime fs --json -q": "planner prime: --quiet and --json exclude each other",
      "reconcile a b":
        #"planner reconcile: unexpected argument "b" (--help shows what is expected)"#,
      "reconcile undo 12": "planner reconcile undo: --reason is missing: why",
      "reconcile undo x --reason r":
        #"planner reconcile undo: RUN cannot be "x": it must be a whole number"#,
      "org": #"planner: "org" needs one of: serve (planner help org explains them)"#,
      "org sevre": #"planner: "org" has no command "sevre" (did you mean "serve"?)"#,
      "org dance": #"planner: "org" has no command "dance" (there are: serve)"#,
      "--json prime":
        #"planner: the command must come before "--json" (write planner prime --json)"#,
      "--jobs 2 org serve --port 1":
        #"planner: the command must come before "--jobs" (write planner org serve --jobs 2 --port 1)"#,
      "--json":
        #"planner: the command must come before "--json" (planner help lists the commands)"#,
      "completion": "planner completion: SHELL is missing: one of bash, zsh, fish",
      "completion fihs":
        #"planner completion: SHELL cannot be "fihs": it must be one of bash, zsh, fish "#
        + #"(did you mean "fish"?)"#,
      "help prime it": #"planner help: there is no command "prime it""#,
    ] as [String: String])
  func `an error names the fault and a fix`(_ line: String, _ expected: String) async throws {
    #expect(try await outcome(line) == expected)
  }

  @Test(arguments: [
    ("", "planner - plans what field staff take along"),
    ("--help", "planner - plans what field staff take along"),
    ("help", "planner - plans what field staff take along"), ("--version", "planner 1.2"),
    ("prime --help", "planner prime - prime snapshots from the org"),
    ("prime -h --nonsense", "planner prime - prime snapshots from the org"),
    ("help prime", "planner prime - prime snapshots from the org"),
    ("help reconcile undo", "planner reconcile undo - take back a run's edits"),
    ("help org", "planner org - connect an org"), ("org --help", "planner org - connect an org"),
    ("org -h", "planner org - connect an org"), ("help help", "planner help - explain a command"),
    ("completion --help", "planner completion - print a completion script for a shell"),
  ])
  func `help and version requests are answered`(_ line: String, _ expected: String) async throws {
    #expect(try await outcome(line) == expected)
  }

  @Test func `a command's status is the program's`() async throws {
    guard case .command(let name, _, let run) = try planner.parse(["prime", "fs"]) else {
      Issue.record("not a command")
      return
    }
    #expect(name == "prime")
    #expect(try await run(Journal()).rawValue == 3)
  }
}
