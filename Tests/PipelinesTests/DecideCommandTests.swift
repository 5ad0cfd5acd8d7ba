import JSON
import Ledger
import System
import Testing

@Suite struct DecideCommandTests {
  let scene: DecisionScene
  init() throws { scene = try DecisionScene() }

  private func decide(_ words: String...) async throws -> ProgramRun {
    try await scene.world.program(["decide"], words)
  }

  private func turn(into verdict: Verdict) throws {
    try scene.withLedger { ledger in
      try ledger.connection.run("UPDATE edit SET verdict = \(verdict.rawValue)")
      try ledger.connection.run("UPDATE outcome SET verdict = \(verdict.rawValue)")
    }
  }

  @Test func `open edits are listed with their values and possible decisions`() async throws {
    let none = try await decide("1", "--discard")
    #expect(none.status == 4 && none.messages.contains("decide.no-ledger"))
    #expect(try await decide("--list").output == "nothing has run in \(scene.world.data.path)\n")
    let id = try await scene.conflict()
    let list = try await decide("--list")
    #expect(list.status == 0)
    #expect(list.output.contains("edit 1: conflict, Account \(id) of ada@example.com"))
    #expect(list.output.contains(#"! Phone: device "device", server "office", base "+1 555 0100""#))
    #expect(
      list.output.contains(
        "to decide: attache decide \(scene.world.called) 1 followed by one of: --take device, --take server, --set FIELD=VALUE, --retry"
      ))
    let json = try JSONValue(parsing: Array(try await decide("--list", "--json").output.utf8))
    #expect(json[0]?["possible"] == ["device", "server", "set", "retry"])
    #expect(json[0]?["fields"]?[0]?["server"] == "office")
    #expect(try await decide("--list", "--verdict", "device-conflict").output == "no open edits\n")
  }

  @Test func `a decision is recorded for the system's user, shown, replaced and applied`()
    async throws
  {
    let id = try await scene.conflict()
    let dry = try await decide("1", "--set", "Phone=both", "--dry-run")
    #expect(dry.output.contains("reconcile: update accounts \(id)  →  updated"))
    #expect(try scene.states() == [])
    let done = try await decide("1", "--take", "device")
    #expect(done.status == 0)
    #expect(done.output.contains("edit 1: send the device's edit"))
    let name = ProcessEnvironment.userName()
    #expect(try await decide("--list").output.contains("decided by \(name) on 20"))
    scene.world.server.faults.add(.kind(.retrieve), times: 1000, .limitExceeded)
    scene.world.server.faults.add(.kind(.query), times: 1000, .limitExceeded)
    let late = try await decide("1", "--take", "device", "--now")
    #expect(late.status != 0 && late.status != 3)
    #expect(try scene.states() == ["device withdrawn", "device pending"])
    #expect(try scene.field("Phone", of: id) == "office")
    scene.world.server.faults.removeAll()
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "device")
  }

  @Test func `decisions apply by verdict, at once, and under another name`() async throws {
    _ = try await scene.conflict()
    let done = try await decide(
      "--verdict", "conflict", "--take", "server", "--now", "--by", "grace")
    #expect(done.status == 0)
    #expect(done.output.contains("1  discarded"))
    #expect(try scene.open() == [:])
    let run = try scene.withLedger { try $0.runs(limit: 1)[0].id }
    #expect(try scene.edits(of: run).first?.detail.decision?.by == "grace")
    let none = try await decide("--verdict", "conflict", "--take", "server")
    #expect(none.status == 0)
    #expect(none.output == "no open edit has the verdict conflict\n")
  }

  private static let words: [(word: String, verdict: Verdict)] = [
    ("conflict", .conflict), ("device-conflict", .deviceConflict), ("failed", .failed),
    ("unconfirmed", .unconfirmed), ("duplicate-created", .duplicateCreated),
    ("deleted-on-server", .deletedOnServer), ("merged-on-server", .mergedOnServer),
    ("not-visible", .notVisible), ("exceeds-user-access", .exceedsUserAccess),
    ("blocked", .blocked), ("not-attempted", .notAttempted), ("not-configured", .notConfigured),
  ]

  @Test func `each verdict that needs review selects its edits and no others`() async throws {
    #expect(Set(Self.words.map(\.verdict)) == Set(Verdict.allCases.filter { !$0.isSettled }))
    _ = try await scene.conflict()
    for (place, (word, verdict)) in Self.words.enumerated() {
      try turn(into: verdict)
      let list = try await decide("--list", "--verdict", word)
      #expect(list.output.hasPrefix("edit 1: \(verdict.rawValue), "), "\(word): \(list.output)")
      let other = Self.words[(place + 1) % Self.words.count].word
      #expect(try await decide("--list", "--verdict", other).output == "no open edits\n")
    }
    // A record is named, and an edit is discarded.
    try turn(into: .notAttempted)
    let refused = try await decide("1", "--match-record", "001000000000001")
    #expect(refused.status != 0 && refused.messages.contains("edit 1"), "\(refused.everything)")
    #expect(try await decide("1", "--discard").output.contains("edit 1: "))
    #expect(try await scene.night().verdicts == [.discarded: 1])
    #expect(try scene.open() == [:])
  }

  @Test func `an impossible decision is refused with the possible ones`() async throws {
    _ = try await scene.conflict()
    let wrong = "edit 1: "
    let drop =
      "--discard is not possible for an edit with the verdict conflict; possible: --take device, "
      + "--take server, --set FIELD=VALUE or --retry"
    for (words, status, message) in [
      (["1", "--discard"], 4, drop),
      (["1", "--discard"], 4, "no decision was recorded   [decide.refused]"),
      (["--verdict", "conflict", "--set", "Nme=x", "--dry-run"], 3, wrong),
      (["--verdict", "conflict", "--set", "Nme=x"], 3, wrong), (["1"], 2, ""),
      (["--take", "device"], 2, ""), (["1", "--take", "device", "--discard"], 2, ""),
      (["1", "--set", "Phone"], 2, ""), (["1", "--match-record", "xyz"], 2, ""),
      (["1", "--take", "office"], 2, ""), (["--list", "--now"], 2, ""),
      (["1", "--file", "x.json"], 2, ""), (["x", "--discard"], 2, ""),
    ] as [([String], Int32, String)] {
      let run = try await scene.world.program(["decide"], words)
      let isNamed = message.isEmpty || run.messages.contains(message)
      #expect(run.status == status && isNamed, "\(words): \(run.everything)")
    }
    #expect(try scene.states() == [])
  }

  @Test func `a file is applied completely, or all of its faults are reported`() async throws {
    let id = try await scene.conflict()
    let file = scene.world.directory.file("decisions.json")
    func decide(_ decisions: String, _ words: String...) async throws -> ProgramRun {
      let text = #"{"format": 1, "decisions": [\#(decisions)]}"#
      try DurableFile.write(Array(text.utf8), to: file)
      return try await scene.world.program(["decide", "--file", file], words)
    }
    let wrong = try await decide(#"{"edit": 1, "decision": "devcie"}, {"edit": 2}, {"edt": 3}"#)
    #expect(wrong.status == 4)
    #expect(wrong.messages.contains("\"devcie\" is not a decision"))
    #expect(wrong.messages.contains("decisions[1]"))
    let half = try await decide(
      #"{"edit": 1, "decision": "device"}, {"edit": 7, "decision": "discard"}"#)
    #expect(half.status == 4)
    #expect(half.messages.contains("edit 7: no edit has this number"))
    #expect(try scene.states() == [])
    let done = try await decide(
      #"{"edit": 1, "decision": "set", "values": {"Phone": "both"}, "shown": {"Phone": "office"}}"#,
      "--now", "--json")
    #expect(done.status == 0)
    let lines = try done.output.split(separator: "\n").map {
      try JSONValue(parsing: Array($0.utf8))
    }
    #expect(lines.first?["decided"]?[0]?["edit"] == 1)
    #expect(lines.last?["result"]?["verdicts"] == ["updated": 1])
    #expect(try scene.field("Phone", of: id) == "both")
  }

  @Test func `a masked value is not printed with its decision`() async throws {
    _ = try await scene.conflict()
    try scene.world.rewrite(
      #""report": { "mask": ["Email"] }"#, #""report": { "mask": ["Email", "Phone"] }"#)
    let file = scene.world.directory.file("decisions.json")
    let text = #"{"decisions": [{"edit": 1, "decision": "set", "values": {"Phone": "entered"}}]}"#
    try DurableFile.write(Array(text.utf8), to: file)
    let done = try await scene.world.program(["decide", "--file", file], ["--json"])
    #expect(done.status == 0, "\(done.everything)")
    #expect(!done.everything.contains("entered") && done.output.contains("•••"))
  }
}
