import HTTP
import JSON
import Ledger
import LocalOrg
import Pipelines
import Rehearsal
import Testing

@Suite struct UndeleteTests {
  let scene: UndoScene
  init() throws { scene = try UndoScene() }

  private var org: Org { scene.world.org }

  /// Ada deletes a contact, and it is sent; the contact and the run.
  private func deleted() async throws -> (id: String, run: String, phone: Device) {
    let phone = try await scene.phone()
    let id = try scene.world.ids("contacts", on: phone)[0]
    try phone.delete("contacts", id: id, now: org.now())
    let sent = try await scene.night(phone)
    #expect(sent.verdicts == [.deleted: 1])
    return (id, sent.run, phone)
  }

  /// A record of ada's.
  private func make(_ object: String, _ fields: JSONObject) throws -> String {
    try Self.make(object, fields, in: scene)
  }

  private static func make(
    _ object: String, _ fields: JSONObject, in scene: UndoScene
  ) throws -> String {
    let org = scene.world.org
    let made = org.create(object, fields, as: try scene.world.user("admin"))
    if let error = made.errors.first { throw error }
    let id = try #require(made.id)
    try org.transfer(id, to: "ada@example.com")
    return id
  }

  private var calls: Int { scene.world.server.log.entries.count { $0.kind == .soapUndelete } }
  private let bin = ": restore it from the recycle bin of the org"

  private func message(_ edit: Int64, in run: RunSummary) throws -> String? {
    try scene.edit(edit, in: run).detail.message
  }

  @Test func `a deleted record is restored, in the next bundle too, and stays`() async throws {
    let (id, run, phone) = try await deleted()
    let plan = try scene.undoing.plan(run: run)
    let planned = try await scene.carryOut(plan, isDryRun: true)
    #expect(planned.verdicts == [.undone: 1])
    #expect(planned.plan.contains { $0.contains("restore the record from the recycle bin") })
    #expect(calls == 0)
    #expect(try !scene.isThere(id, "Contact"))

    let undone = try await scene.undo(run)
    #expect(undone.verdicts == [.undone: 1])
    #expect(undone.findings == [] && undone.exitStatus == .done)
    #expect(calls == 1)
    #expect(try scene.isThere(id, "Contact"))
    #expect(try message(1, in: undone) == "the record was restored from the recycle bin")
    #expect(
      try scene.rows(of: "success.csv", in: undone).first?.hasSuffix("Item Undeleted") == true)
    #expect(try scene.undoing.plan(run: run).undone.map(\.edit) == [1])
    let story = try await scene.world.program(["explain"], [id])
    #expect(story.output.contains("undelete for edit 1 as ada@example.com: done"))
    #expect(story.output.contains("edit 1 has the verdict undone in run \(undone.run)"))

    // Its device returns the deletion again: that is not new.
    #expect(try await scene.night(phone, as: "again.sqlite").verdicts == [.superseded: 1])
    let writes = scene.writes
    try await scene.scene.expectClosed(handback: 2)
    #expect(scene.writes == writes)
    #expect(try scene.isThere(id, "Contact"))
    let fresh = try scene.world.device("ada", as: "later")
    #expect(try scene.world.ids("contacts", on: fresh).contains(id))
    #expect(try await scene.night(phone, as: "last.sqlite").verdicts == [.superseded: 1])
    #expect(try scene.isThere(id, "Contact"))
  }

  @Test(arguments: ["LEAVE_IF_CHANGED", "OVERWRITE"], [true, false])
  func `saving a deleted row again is not a new edit`(_ mode: String, _ isByUndo: Bool) async throws
  {
    let scene = try UndoScene(syncs: {
      let fields =
        #""options": { "fieldlist": ["FirstName", "LastName", "Title", "Phone", "MobilePhone"], "#
      return $0.replacing(
        fields + #""mergeMode": "LEAVE_IF_CHANGED" }"#,
        with: fields + #" "mergeMode": "\#(mode)" }"#)
    })
    let phone = try await scene.phone()
    let id = try scene.world.ids("contacts", on: phone)[0]
    func save(_ name: String) async throws -> RunSummary {
      try phone.delete("contacts", id: id, now: scene.world.org.now() + 60_000)
      return try await scene.night(phone, as: name + ".sqlite")
    }
    let sent = try await save("first")
    #expect(sent.verdicts == [.deleted: 1])
    if !isByUndo { try scene.world.org.undelete(id) }
    #expect(try await scene.undo(sent.run).verdicts == [.undone: 1])
    let writes = scene.writes
    let again = try await save("again")
    #expect(again.verdicts == [.unchanged: 1])
    #expect(try scene.edit(2, in: again).detail.message?.contains("was undone") == true)
    try phone.edit("contacts", id: id, ["Title": "unseen"], now: scene.world.org.now())
    #expect(try await save("edited").verdicts == [.unchanged: 1])
    #expect(try scene.isThere(id, "Contact") && scene.writes == writes)
    // A device that reverted the deletion, and one that got the record since, may delete it.
    try phone.clean("contacts", id: id, now: scene.world.org.now())
    try await scene.night(phone, as: "clean.sqlite")
    // A record left by our own undo was not changed by another user.
    let isOurs = mode == "OVERWRITE" || isByUndo
    let left: [Verdict: Int] = isOurs ? [.deleted: 1] : [.conflict: 1]
    #expect(try await save("last").verdicts == left)
  }

  @Test func `a device that was given the record after the undo deletes it`() async throws {
    let (id, run, _) = try await deleted()
    #expect(try await scene.undo(run).verdicts == [.undone: 1])
    let later = try await scene.world.primed("ada", as: "later")
    try later.delete("contacts", id: id, now: org.now())
    #expect(try await scene.night(later, as: "later.sqlite").verdicts == [.deleted: 1])
    #expect(try !scene.isThere(id, "Contact"))
  }

  @Test func `a record already restored needs nothing, and keeps later changes`() async throws {
    let (id, run, _) = try await deleted()
    try org.undelete(id)
    try scene.office(id, ["Title": "Chief"], "Contact")
    #expect(try await scene.undo(run).verdicts == [.undone: 1])
    #expect(calls == 0)
    #expect(try scene.field("Title", of: id, "Contact") == "Chief")
    try await scene.scene.expectClosed()
  }

  @Test func `a record deleted again, by anyone, is left alone`() async throws {
    for name in ["admin", "ada"] {
      let scene = try UndoScene()
      let phone = try await scene.phone()
      let id = try scene.world.ids("contacts", on: phone)[0]
      try phone.delete("contacts", id: id, now: scene.world.org.now())
      let run = try await scene.night(phone).run
      try scene.world.org.moveClock(by: 600_000)
      try scene.world.org.undelete(id)
      let user = try scene.world.user(name)
      #expect(scene.world.org.delete("Contact", id: id, as: user).errors.isEmpty)
      let undone = try await scene.undo(run)
      #expect(undone.verdicts == [.notUndone: 1])
      #expect(undone.exitStatus == .needsAttention)
      let edit = try scene.edit(1, in: undone)
      #expect(edit.detail.message?.hasPrefix("the record was deleted again: restore it") == true)
      #expect(edit.detail.serverChange?.by == user.id)
      #expect(try !scene.isThere(id, "Contact"))
    }
  }

  @Test func `a purged or merged record is left alone, with instructions`() async throws {
    let (id, run, _) = try await deleted()
    try org.purge(id)
    let undone = try await scene.undo(run)
    #expect(undone.verdicts == [.notUndone: 1])
    #expect(undone.findings == [.notUndone])
    #expect(
      try message(1, in: undone) == "it is not visible in the recycle bin, and may have been purged"
        + bin)
    #expect(calls == 0)

    let account = try make("Account", ["Name": "Quay"])
    let contacts = try ["A", "B"].map {
      try make("Contact", ["LastName": .string($0), "AccountId": .string(account)])
    }
    let phone = try await scene.world.primed("ada", as: "other")
    try phone.delete("contacts", id: contacts[0], now: org.now())
    let second = try await scene.night(phone, as: "other.sqlite")
    try org.undelete(contacts[0])
    try org.merge(contacts[0], into: contacts[1])
    let merged = try await scene.undo(second.run)
    #expect(merged.verdicts == [.notUndone: 1])
    let words = "the record has been merged into \(contacts[1])"
    #expect(try message(2, in: merged) == words + bin)
  }

  @Test func `more records than one call takes are restored in two`() async throws {
    let scene = try UndoScene({
      $0.replacing(
        #""unansweredWaitSeconds": 0"#,
        with: #""unansweredWaitSeconds": 0, "maxChanges": { "deletes": "100%" }"#)
    })
    func make(_ object: String, _ fields: JSONObject) throws -> String {
      try Self.make(object, fields, in: scene)
    }
    let account = try make("Account", ["Name": "Quay"])
    let ids = try (0..<230).map {
      try make("Contact", ["LastName": .string("Hand \($0)"), "AccountId": .string(account)])
    }
    let phone = try await scene.phone()
    for id in ids { try phone.delete("contacts", id: id, now: scene.world.org.now()) }
    let sent = try await scene.night(phone)
    #expect(sent.verdicts == [.deleted: 230])
    let undone = try await scene.undo(sent.run)
    #expect(undone.verdicts == [.undone: 230])
    #expect(scene.world.server.log.entries.count { $0.kind == .soapUndelete } == 2)
    for id in ids { #expect(try scene.isThere(id, "Contact")) }
    try await scene.scene.expectClosed()
  }

  @Test func `a master deleted by its device after the detail is restored first`() async throws {
    let account = try make("Account", ["Name": "Quay"])
    let kid = try make("Contact", ["LastName": "Kid", "AccountId": .string(account)])
    let phone = try await scene.phone()
    try phone.delete("contacts", id: kid, now: org.now())
    try phone.delete("accounts", id: account, now: org.now())
    let sent = try await scene.night(phone)
    #expect(sent.verdicts == [.deleted: 2])
    let undone = try await scene.undo(sent.run)
    #expect(undone.verdicts == [.undone: 2])
    #expect(calls == 2)
    #expect(try scene.isThere(account))
    #expect(try scene.isThere(kid, "Contact"))
    try await scene.scene.expectClosed()
  }

  // MARK: interruptions, lost answers, refusals

  @Test(arguments: [true, false])
  func `after a lost answer, nothing is restored twice`(afterCommit: Bool) async throws {
    let (id, run, _) = try await deleted()
    scene.world.server.faults.add(.kind(.soapUndelete), .drop(afterCommit: afterCommit))
    let undone = try await scene.undo(run)
    #expect(undone.verdicts == [.undone: 1])
    #expect(calls == (afterCommit ? 1 : 2))
    #expect(try scene.isThere(id, "Contact"))
    try await scene.scene.expectClosed()
  }

  @Test func `a call that arrives late counts when it has arrived arrived`() async throws {
    let (id, run, _) = try await deleted()
    scene.world.server.faults.add(.kind(.soapUndelete), times: 2, .deliverLate(seconds: 1_000_000))
    #expect(try await scene.undo(run).verdicts == [.unconfirmed: 1])
    #expect(try !scene.isThere(id, "Contact"))
    scene.world.server.deliverHeld()
    #expect(try scene.isThere(id, "Contact"))
    #expect(try await scene.world.run(.ingest, .reconcile).verdicts == [.undone: 1])
    try await scene.scene.expectClosed()
  }

  @Test func `an interrupted undo is resumed by the same command or the next run`() async throws {
    for isNightly in [true, false] {
      let scene = try UndoScene()
      let phone = try await scene.phone()
      let id = try scene.world.ids("contacts", on: phone)[0]
      try phone.delete("contacts", id: id, now: scene.world.org.now())
      let run = try await scene.night(phone).run
      try await scene.undoDying(run, over: .kind(.soapUndelete), edits: 1, isNightly: isNightly)
      #expect(try scene.isThere(id, "Contact"))
      try await scene.scene.expectClosed()
    }
  }

  @Test func `an org without the call leaves the record; a later undo restores it`() async throws {
    let (id, run, _) = try await deleted()
    let missing = ServerResponse.json(404, #"[{"errorCode":"NOT_FOUND","message":"no such call"}]"#)
    let faults: [(Faults.Action, String)] = [
      (.respond(missing), "no such call"),
      (.status(500, code: "API_DISABLED_FOR_ORG", message: "API is off"), "API is off"),
      (
        .status(500, code: "INVALID_SESSION_ID", message: "no"),
        "SOAP does not accept the session: no"
      ),
    ]
    for (fault, words) in faults {
      scene.world.server.faults.removeAll()
      scene.world.server.faults.add(.kind(.soapUndelete), times: 9, fault)
      let undone = try await scene.undo(run)
      #expect(undone.verdicts == [.notUndone: 1])
      #expect(undone.exitStatus == .needsAttention)
      #expect(try message(1, in: undone) == words + bin)
      #expect(try scene.rows(of: "error.csv", in: undone).count == 1)
      #expect(try !scene.isThere(id, "Contact"))
    }
    scene.world.server.faults.removeAll()
    #expect(try await scene.undo(run).verdicts == [.undone: 1])
    #expect(try scene.isThere(id, "Contact"))
  }

  @Test func `a limit keeps the undo waiting, and the next run continues it`() async throws {
    let (id, run, _) = try await deleted()
    scene.world.server.faults.add(.kind(.soapUndelete), .limitExceeded)
    let held = try await scene.undo(run)
    #expect(held.verdicts == [.notAttempted: 1])
    #expect(held.exitStatus == .tryLater)
    #expect(try await scene.world.run(.ingest, .reconcile).verdicts == [.undone: 1])
    #expect(try scene.isThere(id, "Contact"))
  }

  @Test func `a user without the right is reported with the org's message`() async throws {
    let (id, run, _) = try await deleted()
    // It belongs to another user now: a user who cannot delete it cannot restore it.
    scene.world.server.faults.add(
      .kind(.soapUndelete), times: 9,
      .refusePart(0, code: "INSUFFICIENT_ACCESS_OR_READONLY", message: "no access"))
    let refused = try await scene.undo(run)
    #expect(refused.verdicts == [.notUndone: 1])
    #expect(try message(1, in: refused) == "no access" + bin)
    #expect(try scene.edit(1, in: refused).detail.code == "INSUFFICIENT_ACCESS_OR_READONLY")
    scene.world.server.faults.removeAll()
    scene.world.server.faults.add(.kind(.soapUndelete), .refusePart(0, code: "UNABLE_TO_LOCK_ROW"))
    #expect(try await scene.undo(run).verdicts == [.undone: 1])
    #expect(try scene.isThere(id, "Contact"))
  }

  @Test func `an edit of a record deleted by a later run is undone after that undo`() async throws {
    let phone = try await scene.phone()
    let id = try scene.world.ids("contacts", on: phone)[0]
    let before = try scene.field("Title", of: id, "Contact")
    try phone.edit("contacts", id: id, ["Title": "device"], now: org.now())
    let first = try await scene.night(phone, as: "one.sqlite")
    #expect(first.verdicts == [.updated: 1])
    try phone.delete("contacts", id: id, now: org.now())
    let second = try await scene.night(phone, as: "two.sqlite")
    #expect(second.verdicts == [.deleted: 1])
    #expect(try await scene.undo(second.run).verdicts == [.undone: 1])
    #expect(try scene.field("Title", of: id, "Contact") == "device")
    let plan = try scene.undoing.plan(run: first.run)
    #expect(try await scene.carryOut(plan, isDryRun: true).verdicts == [.undone: 1])
    #expect(try await scene.undo(first.run).verdicts == [.undone: 1])
    #expect(try scene.field("Title", of: id, "Contact") == before)
  }
}
