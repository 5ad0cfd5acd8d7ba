import Foundation
import Ledger
import Pipelines
import Rehearsal
import Reports
import System
import TestSupport
import Testing

@Suite struct DemoTests {
  @Test func `the demo's verdicts are as played`() async throws {
    let directory = TemporaryDirectory("demo")
    let places = Demo.Places(
      snapshots: directory.file("snapshots"), scratch: directory.file("scratch"))
    let lines = Locked<[String]>([])
    let commands = Locked<[Pasted]>([])
    let events = Locked<[RunEvent]>([])
    // It throws where the outcome is not what was played.
    try await Demo.run(
      places, report: { event in events.withLock { $0.append(event) } },
      say: { line in
        lines.withLock { $0.append(line) }
        // The hint to start another demo works on none of the files of this one.
        guard let command = line.firstMatch(of: /(?:^ *|: )(attache (?!demo )[a-z].*)$/)?.1
        else { return }
        commands.withLock { $0.append(Pasted(String(command))) }
      })
    let pasted = commands.withLock { $0 }
    #expect(pasted.map(\.verb) == ["decide", "decide", "decide", "review", "status"])
    for command in pasted { #expect(command.works, "\(command)") }

    let told = lines.withLock { $0 }
    let played = told.filter { $0.hasSuffix("(as expected)") }
    #expect(
      played.map { $0.drop { $0 == " " }.dropLast(" (as expected)".count) } == [
        "3 created", "1 updated", "1 deleted", "1 already in org", "1 not in field list",
        "1 conflict", "2 device conflict", "1 deleted on server", "1 not visible", "1 failed",
      ])
    #expect(!told.contains { $0.contains("(expected ") })
    let stages = events.withLock { $0 }.compactMap {
      if case .stageFinished(let cost) = $0 { cost.stage } else { nil }
    }
    #expect(Set(stages) == Set(Stage.allCases))
    try expectResults(directory.file("snapshots/demo"))
    try expectStories(places)
    try expectCommands(directory.file("snapshots"))
  }

  /// The commands of the reports find the demo's data, in which nothing is open any more.
  private func expectCommands(_ snapshots: String) throws {
    var found: [String] = []
    let reports = snapshots + "/demo/reports"
    for name in try Files.list(reports) {
      let text = String(decoding: try Files.read("\(reports)/\(name)/report.json"), as: UTF8.self)
      found += text.matches(of: /attache [a-z ]+[^"]*?(?= \| |"|; |, )/).map { String($0.output) }
    }
    let ours = found.filter { !$0.contains("EDIT") }
    #expect(ours.count > 10)
    for command in ours { #expect(command.contains(" --data \(snapshots)"), "\(command)") }
    let list = ours.first { $0.contains(" decide ") && $0.contains(" --take ") }
    let told = Pasted(try #require(list))
    #expect(told.text.contains("it is resolved"), "\(told)")
    let story = try #require(ours.first { $0.hasPrefix("attache explain") } ?? list)
    #expect(!Pasted(story).text.contains("no ledger"))
  }

  @Test(arguments: ["scratch", "snapshots/demo", "snapshots/field"])
  func `a demo refuses a directory of no demo, and changes nothing`(_ name: String) async throws {
    let directory = TemporaryDirectory("demo")
    if name == "snapshots/demo" {
      // Another org's run has used what a demo made.
      let made = MarkedDirectory(directory.file(name), maker: "attache demo")
      try made.claim()
      try made.name("00D5g0000000001EAA")
      try MarkedDirectory.unmark(made.path, unlessFor: "00D5g07L1QyfLdIEUU")
    }
    let kept = directory.file(name) + "/reports/kept"
    try Files.makeDirectory(directory.file(name) + "/reports")
    try DurableFile.write([1], to: kept)
    var file: String?
    if name.hasSuffix("field") {
      let pipelines = directory.file("pipelines")
      try Files.makeDirectory(pipelines + "/demo")
      let source = "\(Self.root)/pipelines"
      for item in try Files.list(source + "/demo") {
        try Files.copy("\(source)/demo/\(item)", to: "\(pipelines)/demo/\(item)")
      }
      let text = String(decoding: try Files.read(source + "/demo.json"), as: UTF8.self)
      let renamed = text.replacing(#""name": "demo""#, with: #""name": "field""#)
      try DurableFile.write(Array(renamed.utf8), to: pipelines + "/field.json")
      file = pipelines + "/field.json"
    }
    let places = Demo.Places(
      pipelineFile: file, snapshots: directory.file("snapshots"),
      scratch: directory.file("scratch"))
    let error = await #expect(throws: MarkedDirectory.Foreign.self) {
      try await Demo.run(places, report: { _ in }, say: { _ in })
    }
    #expect(error?.path == directory.file(name))
    #expect(try Files.read(kept) == [1])
    #expect(Files.exists(directory.file("scratch")) == (name == "scratch"))
  }

  @Test(arguments: [".", "snapshots", "snapshots/demo", "snapshots/demo/inner"])
  func `a scratch directory inside or around the data is refused`(_ name: String) async throws {
    let directory = TemporaryDirectory("demo")
    // The outer one first: the inner one is nothing that a demo did not make.
    for place in [name, "snapshots/demo"].sorted(by: { $0.count < $1.count }) {
      try MarkedDirectory(directory.file(place), maker: "attache demo").claim()
    }
    let places = Demo.Places(snapshots: directory.file("snapshots"), scratch: directory.file(name))
    let error = await #expect(throws: RehearsalError.self) {
      try await Demo.run(places, report: { _ in }, say: { _ in })
    }
    guard case .overlapping = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(Files.isDirectory(directory.file("snapshots/demo")))
  }

  @Test func `a running demo's directories are refused, and nothing is created`() async throws {
    let directory = TemporaryDirectory("demo")
    let places = Demo.Places(
      snapshots: directory.file("snapshots"), scratch: directory.file("scratch"))
    let lock = try MarkedDirectory(directory.file("snapshots/demo"), maker: "attache demo").hold()
    defer { lock.close() }
    let error = await #expect(throws: RehearsalError.self) {
      try await Demo.run(places, report: { _ in }, say: { _ in })
    }
    guard case .running = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(!Files.exists(places.scratch))
  }

  @Test func `every demo has another org, whose runs leave its mark, and no other org's do`()
    async throws
  {
    let directory = TemporaryDirectory("demo")
    let first = try DemoOrg(directory: directory.file("first"))
    defer { first.stop() }
    let marked = MarkedDirectory(directory.file("snapshots/demo"), maker: "attache demo")
    try marked.claim()
    try marked.name(first.org.organizationID)
    func run(_ org: DemoOrg) async throws {
      let pipeline = try PipelineFile.read(
        path: Self.root + "/pipelines/demo.json", variables: org.variables)
      var options = RunOptions()
      options.stages = [.ingest]
      _ = try await PipelineRun.execute(
        pipeline, root: directory.file("snapshots"), variables: org.variables, options: options
      ) { _ in }
    }
    try await run(first)
    let names = try Files.list(marked.path)
    #expect(names.contains(MarkedDirectory.markerName) && names.contains("state.sqlite"))
    try marked.empty()
    let second = try DemoOrg(directory: directory.file("second"))
    defer { second.stop() }
    try await run(second)
    #expect(try !Files.list(marked.path).contains(MarkedDirectory.markerName))
    #expect(throws: MarkedDirectory.Foreign.self) { try marked.empty() }
  }

  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path

  /// Each edit of the day reads as a story: who was given what, what a device made of it, how it came back, what
  /// was decided, sent and said of it.
  private func expectStories(_ places: Demo.Places) throws {
    // The org has gone: a story needs the pipeline's directory alone.
    let pipeline = try PipelineFile.read(
      path: places.scratch + "/pipelines/demo.json",
      variables: [
        "ATTACHE_ORG_URL": "http://127.0.0.1:9", "ATTACHE_CLIENT_ID": "none",
        "ATTACHE_JWT_KEY": "none",
      ])
    var told: [String: Int] = [:]
    for number in 1...13 {
      let story = try Explanation.story(of: "\(number)", pipeline, root: places.snapshots)
      let lines = StoryText.lines(story, pipeline.report.reportMask)
      let text = lines.joined(separator: "\n")
      #expect(text.contains("edit \(number) came back in "), "\(text)")
      #expect(
        lines.contains { $0.contains("edit \(number) has the verdict ") && $0.contains(" in run ") }
      )
      let kinds = story.events.map(\.kind)
      expectOrder(story.events, text)
      for kind in kinds {
        switch kind {
        case .issued(_, _, _, let syncs):
          told["issued", default: 0] += 1
          #expect(!syncs.isEmpty && syncs.allSatisfy { $0.hasSuffix(")") }, "\(syncs)")
        case .carried: told["carried", default: 0] += 1
        case .edited: told["edited", default: 0] += 1
        case .returned: told["returned", default: 0] += 1
        case .decided: told["decided", default: 0] += 1
        case .written: told["written", default: 0] += 1
        case .settled: told["settled", default: 0] += 1
        }
      }
    }
    // Two edits of one record are in each other's story. Six needed a decision.
    for (kind, least) in [
      ("edited", 13), ("returned", 13), ("settled", 13), ("decided", 6), ("issued", 10),
      ("written", 8), ("carried", 5),
    ] { #expect(told[kind, default: 0] >= least, "\(kind): \(told)") }
  }

  /// Causes stand before their effects, whatever the clocks of devices and of this machine say.
  private func expectOrder(_ events: [RecordEvent], _ text: String) {
    for edit in Set(events.compactMap(\.edit)) {
      let own = events.filter { $0.edit == edit }
      func first(_ isIt: (RecordEvent.Kind) -> Bool) -> Int? { own.firstIndex { isIt($0.kind) } }
      let edited = first { if case .edited = $0 { true } else { false } }
      let returned = first { if case .returned = $0 { true } else { false } }
      let settled = first { if case .settled = $0 { true } else { false } }
      #expect(edited == 0, "\(text)")
      #expect((edited ?? 0) < (returned ?? .max) && (returned ?? 0) < (settled ?? .max), "\(text)")
      for (place, event) in own.enumerated() {
        guard case .decided(let decision) = event.kind, let run = decision.run else { continue }
        let done = first {
          switch $0 {
          case .written(let write): write.run?.id == run
          case .settled(_, _, let name): name == run
          default: false
          }
        }
        #expect((settled ?? .max) < place && place < (done ?? .max), "\(text)")
      }
    }
  }

  /// What it leaves to look at.
  private func expectResults(_ data: String) throws {
    let users = try Files.list(data + "/users")
    #expect(users.count == 3)
    let generations = try users.map { user in
      try Files.list("\(data)/users/\(user)").filter { Int($0) != nil }
    }
    // The first run redelivered open edits to each of the three, and the decisions resolved them.
    #expect(generations.map(\.count) == [3, 3, 3])
    let stores = try StoreFile.all(in: data)
    // Stores with redelivered edits are next to those that the next ones are built from.
    #expect(stores.count == 23)
    #expect(stores.count { $0.path.contains("/clean/") } == 3)
    #expect(try ForeignReader.violations(stores) == [])
    let reports = try Files.list(data + "/reports")
    // The report of the edits, and one of each later run, because some edits are still open.
    #expect(reports.count == 3)
    for report in reports {
      #expect(try Files.list("\(data)/reports/\(report)").contains("report.html"))
    }
    #expect(try Files.list(data + "/done").count == 3)
    for directory in ["processing", "quarantine", "inbox"] {
      #expect(try Files.list("\(data)/\(directory)") == [])
    }
  }
}

/// A command that was pasted into a shell of another directory, which has none of the demo's variables.
private struct Pasted: CustomStringConvertible {
  let command: String
  let status: Int32
  let text: String
  var verb: String { command.split(separator: " ").dropFirst().first.map(String.init) ?? "" }
  var description: String { "\(command): \(status) \(text)" }
  var works: Bool { [0, 3].contains(status) && !text.contains("  fix  ") }

  /// Runs it; a decision is tried only, and a page is asked for its address.
  init(_ command: String) {
    self.command = command
    let program = (Files.parent(of: ProcessEnvironment.executablePath()) ?? ".") + "/attache"
    let tried = command.replacing("attache decide ", with: "attache decide --dry-run ")
    let script = """
      cd /
      attache() { "$PROGRAM" "$@"; }
      case "$COMMAND" in
        *review*) exec 3< <(eval "exec \"$PROGRAM\" ${COMMAND#attache }"); read -r line <&3
          kill -TERM $!; wait $!; echo "$line"; [[ $line == *http://127.0.0.1* ]] ;;
        *) eval "$COMMAND" ;;
      esac
      """
    var environment = ["PROGRAM": program, "COMMAND": tried]
    for name in ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"] {
      environment[name] = ProcessEnvironment.variable(name)
    }
    do {
      let result = try ChildProcess.run(
        "/bin/bash", ["-c", script], environment: environment, deadlineSeconds: 60)
      status = result.status
      text = String(decoding: result.output + result.error, as: UTF8.self)
    } catch { (status, text) = (-1, "\(error)") }
  }
}
