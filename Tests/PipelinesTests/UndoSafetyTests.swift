import JSON
import Ledger
import Pipelines
import Testing

@Suite struct UndoSafetyTests {
  let scene: UndoScene
  init() throws { scene = try UndoScene() }

  /// Ada changes the phone of an account, and it is sent; the account, its former phone and the run.
  private func sent(
    as place: String? = nil
  ) async throws -> (id: String, before: JSONValue?, run: String) {
    let phone = try await scene.phone(as: place)
    let id = try scene.scene.account(phone)
    let before = try scene.field("Phone", of: id)
    try phone.edit("accounts", id: id, ["Phone": "device"], now: scene.world.org.now())
    let run = try await scene.night(phone)
    #expect(run.verdicts == [.updated: 1])
    return (id, before, run.run)
  }

  /// Ada creates an account, and it is sent; the account and the run.
  private func made() async throws -> (id: String, run: String) {
    let phone = try await scene.phone()
    try phone.create(
      "accounts", type: "Account", ["Name": "Quay"], localID: "local_1", now: scene.world.org.now())
    let run = try await scene.night(phone)
    #expect(run.verdicts == [.created: 1])
    return (try scene.id(of: "Account", where: "Name", is: "Quay"), run.run)
  }

  // MARK: what is kept

  @Test(arguments: [["Phone": "office"], ["Description": "office"]] as [JSONObject])
  func `a record that another user changed since is left as is`(_ fields: JSONObject) async throws {
    let (id, _, run) = try await sent()
    try scene.office(id, fields)
    let writes = scene.writes
    let undone = try await scene.undo(run)
    #expect(undone.verdicts == [.notUndone: 1])
    #expect(undone.exitStatus == .needsAttention)
    #expect(scene.writes == writes)
    let edit = try scene.edit(1, in: undone)
    #expect(edit.detail.message == "the record has been changed in the org")
    #expect(edit.detail.fields.first?.server == (fields["Phone"] ?? "device"))
    #expect(edit.detail.serverChange?.by == (try scene.world.user("admin").id))
    #expect(edit.detail.decision?.fate == .askedAgain)
    // It is resolved anyway: the next run has nothing to report.
    let next = try await scene.world.run()
    #expect(next.verdicts.isEmpty)
    #expect(next.findings == [])
  }

  @Test func `a new record that another user changed or built on is left`() async throws {
    let (id, run) = try await made()
    let admin = try scene.world.user("admin")
    let contact = try #require(
      scene.world.org.create("Contact", ["LastName": "Keel", "AccountId": .string(id)], as: admin)
        .id)
    let built = try await scene.undo(run)
    #expect(built.verdicts == [.notUndone: 1])
    let words = try scene.edit(1, in: built).detail.message
    #expect(words == "other records refer to it: Contact \(contact)")
    #expect(try scene.isThere(id))
    #expect(scene.world.org.delete("Contact", id: contact, as: admin).errors.isEmpty)
    try scene.office(id, ["Phone": "office"])
    #expect(try await scene.undo(run).verdicts == [.notUndone: 1])
    #expect(try scene.isThere(id))
  }

  @Test func `a deleted or reverted record needs nothing`() async throws {
    let (id, run) = try await made()
    let admin = try scene.world.user("admin")
    #expect(scene.world.org.delete("Account", id: id, as: admin).errors.isEmpty)
    let writes = scene.writes
    let undone = try await scene.undo(run)
    #expect(undone.verdicts == [.undone: 1])
    #expect(try scene.rows(of: "success.csv", in: undone) == [])
    let (account, before, changed) = try await sent(as: "other")
    try scene.office(account, ["Phone": before ?? .null])
    #expect(try await scene.undo(changed).verdicts == [.undone: 1])
    #expect(scene.writes == writes + 1)
  }

  @Test func `a field whose former value is unknown stays, and is named`() async throws {
    let (phone, id) = try await scene.primed()
    let before = try scene.world.record("Account", id)
    try phone.edit(
      "accounts", id: id, ["Phone": "device", "Website": "https://device.example"],
      now: scene.world.org.now())
    let run = try await scene.night(phone).run
    // As with a write whose sender could not read that field.
    try scene.scene.withLedger {
      try $0.connection.run("UPDATE operation SET seen = json_remove(seen, '$.Website')")
    }
    let undone = try await scene.undo(run)
    #expect(undone.verdicts == [.partlyUndone: 1])
    #expect(undone.findings == [.notUndone])
    #expect(undone.exitStatus == .needsAttention)
    #expect(try scene.field("Phone", of: id) == before["Phone"])
    #expect(try scene.field("Website", of: id) == "https://device.example")
    let edit = try scene.edit(1, in: undone)
    #expect(
      edit.detail.message == "the former values of Website are unknown, so the sent ones stay")
    #expect(edit.detail.decision?.fate == .carriedOut)
    for file in ["success.csv", "error.csv"] {
      let rows = try scene.rows(of: file, in: undone)
      #expect(rows.count == 1 && rows[0].hasPrefix(id), "\(file)")
    }
    // It is resolved: the next run has nothing to report, and sends nothing.
    let writes = scene.writes
    try await scene.scene.expectClosed()
    #expect(scene.writes == writes)
    #expect(try scene.undoing.plan(run: run).edits == [])
  }

  // MARK: interruptions and lost answers

  @Test(arguments: [true, false])
  func `a lost answer is looked up, and nothing is sent twice`(afterCommit: Bool) async throws {
    let (id, before, run) = try await sent()
    let writes = scene.writes
    scene.world.server.faults.add(.writes, .drop(afterCommit: afterCommit))
    var verdicts = try await scene.undo(run).verdicts
    if verdicts == [.unconfirmed: 1] {
      scene.world.server.faults.removeAll()
      verdicts = try await scene.world.run(.ingest, .reconcile).verdicts
    }
    #expect(verdicts == [.undone: 1])
    #expect(try scene.field("Phone", of: id) == before)
    #expect(scene.writes == writes + (afterCommit ? 1 : 2))
    try await scene.scene.expectClosed()
  }

  @Test func `a later value that the device sent itself after a lost write stays`() async throws {
    let (phone, id) = try await scene.primed()
    let edited: JSONObject = ["Phone": "device", "Website": "https://device.example"]
    try phone.edit("accounts", id: id, edited, now: scene.world.org.now())
    let ada = try scene.world.user("ada")
    let own: JSONObject = ["Phone": "device", "Website": "https://later.example"]
    scene.world.server.faults.add(
      .writes, .mutate { org in _ = org.update("Account", id: id, own, as: ada) })
    scene.world.server.faults.add(.writes, .drop(afterCommit: false))
    let run = try await scene.night(phone)
    #expect(run.verdicts == [.updated: 1])
    let writes = scene.writes
    let undone = try await scene.undo(run.run)
    #expect(undone.verdicts == [.notUndone: 1])
    #expect(scene.writes == writes)
    for (name, value) in own { #expect(try scene.field(name, of: id) == value) }
    let edit = try scene.edit(1, in: undone)
    #expect(
      edit.detail.message == "no answer came back, and its sender may have changed the record")
    #expect(edit.detail.serverChange?.by == ada.id)
  }

  @Test func `an interrupted undo is resumed by the same command or the next run`() async throws {
    for isNightly in [true, false] {
      let scene = try UndoScene()
      let phone = try await scene.phone()
      let ids = [try scene.scene.account(phone), try scene.scene.account(phone, 1)]
      let before = try ids.map { try scene.field("Phone", of: $0) }
      for id in ids {
        try phone.edit("accounts", id: id, ["Phone": "device"], now: scene.world.org.now())
      }
      let run = try await scene.night(phone).run
      try await scene.undoDying(run, over: .writes, edits: 2, isNightly: isNightly)
      #expect(try ids.map { try scene.field("Phone", of: $0) } == before)
      try await scene.scene.expectClosed()
    }
  }

  @Test func `an undo that the org refuses is reported with the org's message`() async throws {
    let (id, _, run) = try await sent()
    scene.world.server.faults.add(
      .writes, times: 9, .refusePart(0, code: "FIELD_CUSTOM_VALIDATION_EXCEPTION"))
    let undone = try await scene.undo(run)
    #expect(undone.verdicts == [.notUndone: 1])
    #expect(try scene.edit(1, in: undone).detail.code == "FIELD_CUSTOM_VALIDATION_EXCEPTION")
    // The org still has the sent values.
    #expect(try scene.edit(1, in: undone).detail.fields.map(\.server) == ["device"])
    scene.world.server.faults.removeAll()
    #expect(try scene.field("Phone", of: id) == "device")
    #expect(try await scene.undo(run).verdicts == [.undone: 1])
  }

  @Test func `a user who cannot log in keeps the undo waiting`() async throws {
    let (id, before, run) = try await sent()
    try await scene.undoLater(run)
    #expect(try scene.scene.states() == ["undo pending"])
    #expect(try await scene.world.run(.ingest, .reconcile).verdicts == [.undone: 1])
    #expect(try scene.field("Phone", of: id) == before)
    try await scene.scene.expectClosed()
  }

  @Test func `a new record changed by another user between edits is kept`() async throws {
    let (id, first) = try await made()
    try scene.office(id, ["Website": "https://office.example"])
    let phone = try await scene.world.primed("ada", as: "newest")
    let second = try await scene.night(phone, as: "later.sqlite", edited: id, ["Phone": "later"])
    #expect(second.verdicts == [.updated: 1])
    #expect(try await scene.undo(second.run).verdicts == [.undone: 1])
    #expect(try await scene.undo(first).verdicts == [.notUndone: 1])
    #expect(try scene.isThere(id))
    #expect(try scene.field("Website", of: id) == "https://office.example")
  }

  @Test func `a new record that no one else touched is deleted after its edits`() async throws {
    let (id, first) = try await made()
    let phone = try await scene.world.primed("ada", as: "newest")
    let second = try await scene.night(phone, as: "later.sqlite", edited: id, ["Phone": "later"])
    #expect(try await scene.undo(second.run).verdicts == [.undone: 1])
    #expect(try await scene.undo(first).verdicts == [.undone: 1])
    #expect(try !scene.isThere(id))
  }

  @Test func `a return of the next day does not cancel a waiting undo`() async throws {
    let (phone, id) = try await scene.primed()
    let before = try scene.field("Website", of: id)
    let run = try await scene.night(
      phone, as: "one.sqlite", edited: id, ["Website": "https://device.example"])
    try await scene.undoLater(run.run)
    let next = try await scene.night(phone, as: "two.sqlite", edited: id, ["Phone": "later"])
    #expect(next.verdicts[.undone] == 1)
    #expect(next.verdicts[.superseded] == nil)
    _ = try await scene.world.run(.ingest, .reconcile)
    #expect(try scene.field("Website", of: id) == before)
  }

  @Test func `discarding a waiting undo keeps its edit, and says so`() async throws {
    let (id, _, run) = try await sent()
    try await scene.undoLater(run)
    let ledger = try scene.world.data.openLedger()
    for decision in [Decision.retry, .device] {
      let refusal = #expect(throws: DecisionRefusal.self) {
        try ledger.decide([PendingDecision(1, decision)], by: "grace")
      }
      #expect(refusal.map { "\($0)".contains("--discard") } == true)
    }
    try ledger.decide([PendingDecision(1, .discard)], by: "grace")
    ledger.close()
    #expect(try await scene.world.run(.ingest, .reconcile).verdicts == [.notUndone: 1])
    #expect(try scene.field("Phone", of: id) == "device")
  }

  // MARK: refusals

  @Test func `an unknown name and a run without undo get one-sentence messages`() async throws {
    let (_, _, run) = try await sent()
    func refusal(_ run: String, _ edits: [Int64] = []) -> PipelineError? {
      #expect(throws: PipelineError.self) { try scene.undoing.plan(run: run, edits: edits) }
    }
    #expect(refusal("20260101T000000Z-99")?.code == "undo.no-run")
    #expect(refusal(run, [1, 99])?.reason == "edit 99: no edit has this number")
    #expect(try await refusal(scene.undo(run).run)?.code == "undo.of-undo")

    let phone = try scene.world.device("ben")
    let id = try scene.world.ids("accounts", on: phone)[0]
    try phone.edit("accounts", id: id, ["Phone": "device"], now: scene.world.org.now())
    try scene.office(id, ["Phone": "office"])
    let conflict = try await scene.night(phone, as: "ben.sqlite")
    #expect(conflict.verdicts == [.conflict: 1])
    #expect(
      refusal(conflict.run, [2])?.reason
        == "edit 2: run \(conflict.run) did not change the org for it "
        + "(its verdict is now conflict)")
    #expect(try scene.undoing.plan(run: conflict.run).edits == [])
  }

  @Test func `an unconfirmed edit is not undone before it is resolved`() async throws {
    let scene = try UndoScene({
      $0.replacing(#""unansweredWaitSeconds": 0"#, with: #""unansweredWaitSeconds": 90000"#)
    })
    let phone = try await scene.phone()
    try phone.create(
      "contacts", type: "Contact", ["LastName": "Keel"], localID: "local_1",
      now: scene.world.org.now())
    scene.world.server.faults.add(.writes, .drop(afterCommit: true))
    let lost = try await scene.night(phone)
    #expect(lost.verdicts == [.unconfirmed: 1])
    let plan = try scene.undoing.plan(run: lost.run)
    #expect(plan.edits == [])
    #expect(plan.refused.first?.reason.contains("it is unconfirmed") == true)
    try scene.world.org.moveClock(by: 100_000_000)
    let found = try await scene.world.run(.ingest, .reconcile)
    #expect(found.verdicts == [.created: 1])
    // By the run that sent it, or by the one that found it.
    #expect(try scene.undoing.plan(run: lost.run).edits == [1])
    #expect(try await scene.undo(found.run).verdicts == [.undone: 1])
    try await scene.scene.expectClosed()
  }
}
