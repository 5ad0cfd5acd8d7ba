import JSON
import System
import Testing

@Suite struct ReturnsCommandTests {
  let world: World
  init() throws {
    world = try World {
      $0.replacing(#""settleSeconds": 0 }"#, with: #""settleSeconds": 3600, "accept": ["store"] }"#)
    }
  }

  private var inbox: String { world.data.inbox("inbox") }

  private func list(_ more: String...) async throws -> [String: JSONValue] {
    let run = try await world.program(["returns", "list"], ["--json"] + more)
    #expect(run.status == 0, "\(run.everything)")
    return (try JSONValue(parsing: run.output).array ?? []).reduce(into: [:]) {
      $0[$1["name"]?.string ?? ""] = $1
    }
  }

  private func put(_ name: String, hoursAgo: Int64) throws {
    try DurableFile.write(Array("no store".utf8), to: inbox + "/" + name)
    try Files.setModificationTime(
      of: inbox + "/" + name,
      nanoseconds: (Clock.wallMilliseconds() - hoursAgo * 3_600_000) * 1_000_000)
  }

  @Test func `each return is listed with location, age and reason`() async throws {
    let (device, account) = try await world.primed("ada", first: "accounts")
    try device.edit("accounts", id: account, ["Phone": "8"], now: world.org.now())
    try device.handBack(to: world.directory.file("ada.sqlite"), now: world.org.now())
    try put("holiday.jpg", hoursAgo: 2)
    try await world.run(.ingest) { $0.files = [world.directory.file("ada.sqlite")] }
    try await world.run(.ingest, .reconcile)
    try put("still.sqlite", hoursAgo: 2)
    try put("new.sqlite", hoursAgo: 0)
    try put("big.sqlite.part", hoursAgo: 2)
    try Files.makeDirectory(inbox + "/folder")
    let now = try await list()
    #expect(now["still.sqlite"]?["state"] == "waiting")
    #expect(now["new.sqlite"]?["state"] == "arriving")
    #expect(now["new.sqlite"]?["reason"]?.string?.contains("3600 seconds") == true)
    #expect(now["big.sqlite.part"]?["state"] == "arriving")
    #expect(now["folder"]?["state"] == "left")
    #expect(now["folder"]?["reason"]?.string?.contains("a directory") == true)
    #expect(now["holiday.jpg"]?["state"] == "quarantined")
    #expect(now["holiday.jpg"]?["code"] == "return.not-a-database")
    #expect(now["holiday.jpg"]?["since"]?.string != nil && now["ada.sqlite"] == nil)
    let all = try await list("--all")
    #expect(all["ada.sqlite"]?["state"] == "done")
    #expect(all["ada.sqlite"]?["user"] == "ada@example.com")
    let shown = try await world.program(["returns", "show"], ["ada.sqlite"])
    #expect(shown.status == 0)
    for words in ["done: ada.sqlite (", "generation 1, ios", "edit 1: updated"] {
      #expect(shown.output.contains(words), "\(words) in \(shown.output)")
    }
    #expect(try await world.program(["returns", "show"], ["nothing"]).status == 4)
    let text = try await world.program(["returns", "list"])
    #expect(text.output.contains("still arriving: big.sqlite.part since "))
  }

  @Test func `a released return is validated again, and ingested if that is fixed`() async throws {
    let (device, account) = try await world.primed("ada", first: "accounts")
    try device.edit("accounts", id: account, ["Phone": "8"], now: world.org.now())
    try device.handBack(to: world.directory.file("ada.sqlite"), now: world.org.now())
    try world.rewrite(#"["store"]"#, #"["bundle"]"#)
    _ = try await world.runAsWritten([.ingest, .reconcile]) {
      $0.files = [world.directory.file("ada.sqlite")]
    }
    #expect(try await list()["ada.sqlite"]?["code"] == "return.not-accepted")
    #expect(try await world.program(["returns", "release"], ["ada.sqlite"]).status == 0)
    #expect(try await list()["ada.sqlite"]?["state"] == "taken")
    let early = try await world.program(["returns", "discard"], ["ada.sqlite"])
    #expect(early.status == 4 && early.messages.contains("if it is refused again"))
    #expect(try await world.runAsWritten([.ingest, .reconcile]).returns.quarantined == 1)
    try world.rewrite(#"["bundle"]"#, #"["store"]"#)
    let digest = try #require(try await list()["ada.sqlite"]?["sha256"]?.string)
    #expect(
      try await world.program(["returns", "release"], [String(digest.prefix(8))]).status == 0)
    let mended = try await world.runAsWritten([.ingest, .reconcile])
    #expect(mended.verdicts == [.updated: 1] && mended.exitStatus == .done)
    #expect(try await list().isEmpty)
    #expect(try await world.program(["returns", "release"], ["ada.sqlite"]).status == 4)
  }

  @Test func `a word that names no return is refused with what to name`() async throws {
    let none = try await world.program(["returns", "show"], ["nothing"])
    #expect(none.messages.contains("none has arrived yet"), "\(none.everything)")
    try await world.run()
    try put("holiday.jpg", hoursAgo: 2)
    _ = try await world.run()
    let digest = try #require(try await list()["holiday.jpg"]?["sha256"]?.string)
    // The word, and what the fix of each command contains.
    let listed = "attache returns list \(world.called) shows"
    for (word, part) in [
      (String(digest.prefix(3)), "needs at least 4 characters"), ("nothing", listed),
    ] {
      for command in ["show", "release", "discard"] {
        let run = try await world.program(["returns", command], [word])
        #expect(run.status == 4 && run.messages.contains(part), "\(command) \(run.everything)")
        #expect(!run.messages.contains("--all"), "\(run.everything)")
      }
    }
    #expect(try await world.program(["returns", "discard"], ["holiday.jpg"]).status == 0)
    let gone = try await world.program(["returns", "show"], ["nothing"])
    #expect(
      gone.messages.contains("attache returns list \(world.called) --all shows"),
      "\(gone.everything)")
    let again = try await world.program(["returns", "discard"], ["holiday.jpg"])
    #expect(again.status == 4 && again.messages.contains("its state: discarded"))
    #expect(again.messages.contains("no return is in quarantine"), "\(again.everything)")
  }

  @Test func `a discarded return is removed, and the operator is recorded`() async throws {
    try await world.run()
    try put("holiday.jpg", hoursAgo: 2)
    #expect(try await world.run().exitStatus == .needsAttention)
    let wrong = try await world.program(["returns", "discard"], ["holiday.jpg", "nothing"])
    #expect(
      wrong.status == 4 && wrong.messages.contains("there is no return nothing in quarantine"))
    #expect(try await list()["holiday.jpg"] != nil)
    let run = try await world.program(["returns", "discard"], ["holiday.jpg", "--by", "grace"])
    #expect(run.status == 0, "\(run.everything)")
    #expect(try await list().isEmpty)
    let gone = try #require(try await list("--all")["holiday.jpg"])
    #expect(gone["state"] == "discarded" && gone["by"] == "grace")
    #expect(gone["code"] == "return.not-a-database" && gone["since"]?.string != nil)
    #expect(try await world.run().exitStatus == .done)
  }
}
