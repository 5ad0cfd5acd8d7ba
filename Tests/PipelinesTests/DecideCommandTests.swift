import JSON
import Ledger
import Pipelines
import Rehearsal
import System
import TestSupport
import Testing

/// `attache decide` as somebody types it.
@Suite struct DecideCommandTests {
  let scene: DecisionScene

  init() throws { scene = try DecisionScene() }

  private func decide(_ words: String...) async throws -> ProgramRun {
    try await scene.world.program(["decide"], words)
  }

  @Test func `what is open is listed with its values and what may be decided`() async throws {
    let id = try await scene.conflict()
    let list = try await decide("--list")
    #expect(list.status == 0)
    #expect(list.output.contains("edit 1: conflict, Account \(id) of ada@example.com"))
    #expect(list.output.contains("! Phone: device device, server office, base +1 555 0100"))
    #expect(
      list.output.contains(
        "attache decide \(scene.world.called) 1 --take device | --take server | --set FIELD=VALUE | --again"
      ))
    let json = try JSONValue(parsing: Array(try await decide("--list", "--json").output.utf8))
    #expect(json[0]?["possible"] == ["device", "server", "set", "again"])
    #expect(json[0]?["fields"]?[0]?["server"] == "office")
    #expect(try await decide("--list", "--clashes").output == "nothing is open\n")
  }

  @Test func `a decision is noted with the system's user, shown, and carried out by the next run`()
    async throws
  {
    _ = try await scene.conflict()
    let done = try await decide("1", "--take", "device")
    #expect(done.status == 0)
    #expect(done.output.contains("edit 1: send the device's edit"))
    let name = ProcessEnvironment.userName()
    #expect(try await decide("--list").output.contains("decided by \(name) on 20"))
    #expect(try await scene.night().verdicts == [.updated: 1])
  }

  @Test func `by verdict, at once, and by another name`() async throws {
    _ = try await scene.conflict()
    let done = try await decide("--conflicts", "--take", "server", "--now", "--by", "grace")
    #expect(done.status == 0)
    #expect(done.output.contains("1  dropped"))
    #expect(try scene.open() == [:])
    let run = try scene.withLedger { try $0.runs(limit: 1)[0].id }
    #expect(try scene.edits(of: run).first?.detail.decision?.by == "grace")
    let none = try await decide("--conflicts", "--take", "server")
    #expect(none.status == 0)
    #expect(none.output == "no edit is open that could be decided so\n")
  }

  /// The words that name edits by their verdicts.
  private static let words: [(word: String, verdict: Verdict)] = [
    ("conflicts", .conflict), ("clashes", .clash), ("failed", .failed), ("in-doubt", .inDoubt),
    ("created-twice", .createdTwice), ("deleted", .deletedOnServer),
    ("merged", .mergedOnServer), ("not-visible", .notVisible),
    ("not-permitted", .notPermitted), ("blocked", .blocked), ("held", .held),
    ("not-configured", .notConfigured),
  ]

  @Test func `each verdict that wants a person has a word, which names its edits and no others`()
    async throws
  {
    #expect(Set(Self.words.map(\.verdict)) == Set(Verdict.allCases.filter { !$0.isSettled }))
    _ = try await scene.conflict()
    for (place, (word, verdict)) in Self.words.enumerated() {
      try scene.withLedger { ledger in
        try ledger.connection.run("UPDATE edit SET verdict = \(verdict.rawValue)")
        try ledger.connection.run("UPDATE outcome SET verdict = \(verdict.rawValue)")
      }
      let list = try await decide("--list", "--" + word)
      #expect(list.output.hasPrefix("edit 1: \(verdict.rawValue), "), "\(word): \(list.output)")
      let other = Self.words[(place + 1) % Self.words.count].word
      #expect(try await decide("--list", "--" + other).output == "nothing is open\n")
    }
  }

  @Test func `a record is named, and an edit is given up, by the program`() async throws {
    _ = try await scene.conflict()
    try scene.withLedger { ledger in
      try ledger.connection.run("UPDATE edit SET verdict = 'held'")
      try ledger.connection.run("UPDATE outcome SET verdict = 'held'")
    }
    let refused = try await decide("1", "--record", "001000000000001")
    #expect(refused.status != 0 && refused.messages.contains("edit 1"), "\(refused.everything)")
    #expect(try await decide("1", "--drop").output.contains("edit 1: "))
    #expect(try await scene.night().verdicts == [.dropped: 1])
    #expect(try scene.open() == [:])
  }

  @Test func `a dry run shows the plan and leaves everything`() async throws {
    let id = try await scene.conflict()
    let dry = try await decide("1", "--set", "Phone=both", "--dry-run")
    #expect(dry.output.contains("reconcile: update accounts \(id)  →  updated"))
    #expect(try scene.states() == [])
    #expect(try scene.field("Phone", of: id) == "office")
  }

  @Test func `a dry run says what is refused, too`() async throws {
    _ = try await scene.conflict()
    for words in [["--set", "Nme=x", "--dry-run"], ["--set", "Nme=x"]] {
      let run = try await scene.world.program(["decide"], ["--conflicts"] + words)
      #expect(run.messages.contains("edit 1: "), "\(words): \(run.everything)")
      #expect(run.status == 3)
    }
    #expect(try scene.states() == [])
  }

  @Test func `what cannot be decided is refused with what can`() async throws {
    _ = try await scene.conflict()
    let drop = try await decide("1", "--drop")
    #expect(drop.status == 4)
    #expect(drop.messages.contains("nothing was decided   [decide.refused]"))
    #expect(
      drop.messages.contains(
        "--drop is not possible for an edit that is in conflict; possible: --take device, "
          + "--take server, --set FIELD=VALUE, --again"))
    for words in [
      ["1"], ["--take", "device"], ["1", "--take", "device", "--drop"], ["1", "--set", "Phone"],
      ["1", "--record", "xyz"], ["1", "--take", "office"], ["--list", "--now"],
      ["1", "--file", "x.json"], ["x", "--drop"],
    ] {
      let run = try await scene.world.program(["decide"], words)
      #expect(run.status == 2, "\(words): \(run.everything)")
    }
    #expect(try scene.states() == [])
  }

  @Test func `a file decides as a whole, or says all that is wrong with it`() async throws {
    let id = try await scene.conflict()
    let file = scene.world.directory.file("decisions.json")
    func write(_ text: String) throws { try DurableFile.write(Array(text.utf8), to: file) }
    try write(
      #"{"format": 1, "decisions": [{"edit": 1, "decision": "devcie"}, {"edit": 2}, {"edt": 3}]}"#)
    let wrong = try await decide("--file", file)
    #expect(wrong.status == 4)
    #expect(wrong.messages.contains("\"devcie\" is not a decision"))
    #expect(wrong.messages.contains("decisions[1]"))
    try write(
      #"{"format": 1, "decisions": [{"edit": 1, "decision": "device"}, {"edit": 7, "decision": "drop"}]}"#
    )
    let half = try await decide("--file", file)
    #expect(half.status == 4)
    #expect(half.messages.contains("edit 7: there is no edit of this number"))
    #expect(try scene.states() == [])
    try write(
      #"{"format": 1, "decisions": [{"edit": 1, "decision": "set", "values": {"Phone": "both"}, "shown": {"Phone": "office"}}]}"#
    )
    let done = try await decide("--file", file, "--now", "--json")
    #expect(done.status == 0)
    let lines = try done.output.split(separator: "\n").map {
      try JSONValue(parsing: Array($0.utf8))
    }
    #expect(lines.first?["decided"]?[0]?["edit"] == 1)
    #expect(lines.last?["result"]?["verdicts"] == ["updated": 1])
    #expect(try scene.field("Phone", of: id) == "both")
  }

  @Test func `a run that fails in the middle leaves the decision for the next`() async throws {
    let id = try await scene.conflict()
    scene.world.server.faults.add(.kind(.retrieve), times: 1000, .limitExceeded)
    scene.world.server.faults.add(.kind(.query), times: 1000, .limitExceeded)
    let late = try await decide("1", "--take", "device", "--now")
    #expect(late.status != 0 && late.status != 3)
    #expect(try scene.states() == ["device pending"])
    #expect(try scene.field("Phone", of: id) == "office")
    scene.world.server.faults.removeAll()
    #expect(try await scene.night().verdicts == [.updated: 1])
  }

  @Test func `a pipeline that never ran has nothing to decide`() async throws {
    let none = try await decide("1", "--drop")
    #expect(none.status == 4)
    #expect(none.messages.contains("decide.no-ledger"))
    #expect(try await decide("--list").output == "nothing is open\n")
  }
}
