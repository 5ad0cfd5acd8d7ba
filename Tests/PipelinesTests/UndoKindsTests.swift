import JSON
import System
import Testing

@Suite struct UndoKindsTests {
  @Test func `an upsert is undone as a create or an update`() async throws {
    let scene = try UndoScene(syncs: {
      $0.replacing(
        #""createFieldlist": ["Name", "Phone", "Website","#,
        with:
          #""externalIdFieldName": "External_Id__c", "createFieldlist": ["Name", "Phone", "Website","#
      )
    })
    let phone = try await scene.phone()
    let admin = try scene.world.user("admin")
    let made = scene.world.org.create(
      "Account", ["Name": "Old", "Phone": "old", "External_Id__c": "E-1"], as: admin)
    let old = try #require(made.id)
    try scene.world.org.share(old, with: "ada@example.com")
    let now = scene.world.org.now()
    for (local, key) in [("local_1", "E-1"), ("local_2", "E-2")] {
      try phone.create(
        "accounts", type: "Account",
        ["Name": .string("New " + key), "Phone": "new", "External_Id__c": .string(key)],
        localID: local, now: now)
    }
    let sent = try await scene.night(phone)
    #expect(sent.verdicts == [.created: 1, .updated: 1])
    let new = try scene.id(of: "Account", where: "Name", is: "New E-2")
    #expect(try scene.field("Phone", of: old) == "new")
    let undone = try await scene.undo(sent.run)
    #expect(undone.verdicts == [.undone: 2])
    let rows = try scene.rows(of: "success.csv", in: undone)
    #expect(rows.first { $0.hasPrefix(old) }?.hasSuffix("Item Updated") == true)
    #expect(rows.first { $0.hasPrefix(new) }?.hasSuffix("Item Deleted") == true)
    #expect(try scene.field("Phone", of: old) == "old")
    #expect(try scene.field("Name", of: old) == "Old")
    #expect(try !scene.isThere(new))
    try await scene.scene.expectClosed()
  }

  @Test func `values that OVERWRITE replaced are restored, other users' too`() async throws {
    let scene = try UndoScene(syncs: { $0.replacing("LEAVE_IF_CHANGED", with: "OVERWRITE") })
    let (phone, id) = try await scene.primed()
    try phone.edit("accounts", id: id, ["Phone": "device"], now: scene.world.org.now())
    try scene.office(id, ["Phone": "office", "Website": "https://office.example"])
    let sent = try await scene.night(phone)
    #expect(sent.verdicts == [.updated: 1])
    #expect(try scene.field("Website", of: id) != "https://office.example")
    #expect(try await scene.undo(sent.run).verdicts == [.undone: 1])
    #expect(try scene.field("Phone", of: id) == "office")
    #expect(try scene.field("Website", of: id) == "https://office.example")
    try await scene.scene.expectClosed()
  }

  @Test func `a bundle packed before the undo overwrites nothing`() async throws {
    let scene = try UndoScene(syncs: { $0.replacing("LEAVE_IF_CHANGED", with: "OVERWRITE") })
    let (phone, id) = try await scene.primed()
    let before = try scene.field("Phone", of: id)
    try phone.edit("accounts", id: id, ["Phone": "device"], now: scene.world.org.now())
    let sent = try await scene.night(phone)
    let newest = try await scene.world.primed("ada", as: "newest")
    #expect(try newest.elements("accounts").first { $0["Id"]?.string == id }?["Phone"] == "device")
    #expect(try await scene.undo(sent.run).verdicts == [.undone: 1])
    let later = try await scene.night(
      newest, as: "later.sqlite", edited: id, ["Website": "https://later.example"])
    #expect(later.verdicts == [.updated: 1])
    #expect(try scene.field("Website", of: id) == "https://later.example")
    #expect(try scene.field("Phone", of: id) == before)
    #expect(try scene.edit(2, in: later).detail.fields.map(\.name) == ["Website"])
    // Later edits of its user are sent, and other users' changes are overwritten as before.
    try scene.office(id, ["Description": "office"])
    try newest.edit("accounts", id: id, ["Phone": "anew"], now: scene.world.org.now())
    #expect(try await scene.night(newest, as: "anew.sqlite").verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "anew")
    #expect(try scene.field("Description", of: id) != "office")
  }

  @Test func `an undone new record is redelivered whole, and can be recreated`() async throws {
    let scene = try UndoScene({
      $0.replacing(
        #""unansweredWaitSeconds": 0"#,
        with: #""unansweredWaitSeconds": 0, "returnOpenEdits": true"#)
    })
    let phone = try await scene.phone()
    try phone.create(
      "contacts", type: "Contact", ["LastName": "Undone", "Title": "one", "MobilePhone": "2"],
      localID: "local_1", now: scene.world.org.now())
    let made = try await scene.night(phone, as: "one.sqlite")
    #expect(made.verdicts == [.created: 1])
    #expect(try await scene.undo(made.run).verdicts == [.undone: 1])
    try phone.edit("contacts", id: "local_1", ["Phone": "3"], now: scene.world.org.now() + 60_000)
    #expect(try await scene.night(phone, as: "two.sqlite").verdicts == [.deletedOnServer: 1])
    let newest = try await scene.world.primed("ada", as: "newest")
    let carried = try #require(
      try newest.elements("contacts").compactMap(\.object).first { $0["__local__"]?.bool == true })
    for (name, value) in ["LastName": "Undone", "Title": "one", "MobilePhone": "2", "Phone": "3"] {
      #expect(carried[name]?.string == value, "\(name)")
    }
    try scene.scene.decide(2, .device)
    #expect(try await scene.world.run(.ingest, .reconcile).verdicts == [.created: 1])
    let id = try scene.id(of: "Contact", where: "LastName", is: "Undone")
    #expect(try scene.field("Title", of: id, "Contact") == "one")
    #expect(try scene.field("Phone", of: id, "Contact") == "3")
  }

  private static func family() throws -> UndoScene {
    let target = #"""
      "target": {"iOSImpl":"SFParentChildrenSyncUpTarget",
        "androidImpl":"com.salesforce.androidsdk.mobilesync.target.ParentChildrenSyncUpTarget",
        "parent":{"sobjectType":"Account","soupName":"accounts"},
        "children":{"sobjectType":"Contact","sobjectTypePlural":"Contacts","soupName":"contacts",
          "parentIdFieldName":"AccountId"},
        "createFieldlist":["Name","Phone"],"updateFieldlist":["Name","Phone"],
        "childrenCreateFieldlist":["LastName"],"childrenUpdateFieldlist":["LastName"],
        "relationshipType":"MASTER_DETAIL"}
      """#
    return try UndoScene(syncs: { text in
      text.replacing(
        #""target": { "createFieldlist": ["Name", "Phone", "Website", "Industry", "Description", "BillingCity"] }"#,
        with: target)
    })
  }

  @Test func `details deleted with their master are listed and restored with it`() async throws {
    let scene = try Self.family()
    let admin = try scene.world.user("admin")
    let id = try #require(scene.world.org.create("Account", ["Name": "Mole"], as: admin).id)
    try scene.world.org.transfer(id, to: "ada@example.com")
    let kid = try #require(
      scene.world.org.create(
        "Contact", ["LastName": "Bollard", "AccountId": .string(id)], as: admin
      ).id)
    try scene.world.org.transfer(kid, to: "ada@example.com")
    let phone = try await scene.phone()
    for (soup, id) in [("accounts", id), ("contacts", kid)] {
      try phone.delete(soup, id: id, now: scene.world.org.now())
    }
    let sent = try await scene.night(phone)
    #expect(sent.verdicts == [.deleted: 2])
    #expect(try scene.undoing.plan(run: sent.run).edits == [1, 2])
    let planned = try await scene.carryOut(try scene.undoing.plan(run: sent.run), isDryRun: true)
    #expect(planned.verdicts == [.undone: 2])
    let undone = try await scene.undo(sent.run)
    #expect(undone.verdicts == [.undone: 2])
    // The org restores the detail with its master.
    #expect(scene.world.server.log.entries.count { $0.kind == .soapUndelete } == 1)
    #expect(try scene.edit(2, in: undone).detail.message == "the record was restored in the org")
    #expect(try scene.isThere(id))
    #expect(try scene.isThere(kid, "Contact"))
    try await scene.scene.expectClosed()
  }

  @Test func `the plan names the new detail that was never sent below its master`() async throws {
    let scene = try Self.family()
    let admin = try scene.world.user("admin")
    let mole = try #require(scene.world.org.create("Account", ["Name": "Mole"], as: admin).id)
    try scene.world.org.transfer(mole, to: "ada@example.com")
    let phone = try await scene.phone()
    try phone.create(
      "contacts", type: "Contact", ["LastName": "Keel", "AccountId": .string(mole)],
      localID: "local_1", now: scene.world.org.now())
    try phone.delete("accounts", id: mole, now: scene.world.org.now())
    let sent = try await scene.night(phone)
    #expect(sent.verdicts == [.deleted: 2])
    let made = try #require(try scene.scene.edits(of: sent.run).first { $0.operation == .create })
    let plan = try scene.undoing.plan(run: sent.run)
    #expect(plan.refused.map(\.edit) == [made.number])
    #expect(plan.refused.first?.reason.contains("was never sent") == true)
    #expect(plan.edits.count == 1)
    #expect(try await scene.undo(sent.run).verdicts == [.undone: 1])
    #expect(try scene.isThere(mole))
  }

  @Test func `a family is undone as it was sent: new child, parent's fields`() async throws {
    let scene = try Self.family()
    let (phone, id) = try await scene.primed()
    let before = try scene.field("Phone", of: id)
    let now = scene.world.org.now()
    try phone.edit("accounts", id: id, ["Phone": "device"], now: now)
    try phone.create(
      "contacts", type: "Contact", ["LastName": "Keel", "AccountId": .string(id)],
      localID: "local_1", now: now)
    try phone.create("accounts", type: "Account", ["Name": "Quay"], localID: "local_2", now: now)
    try phone.create(
      "contacts", type: "Contact", ["LastName": "Mast", "AccountId": "local_2"],
      localID: "local_3", now: now)
    let sent = try await scene.night(phone)
    #expect(sent.verdicts == [.created: 3, .updated: 1])
    let (keel, mast) = (
      try scene.id(of: "Contact", where: "LastName", is: "Keel"),
      try scene.id(of: "Contact", where: "LastName", is: "Mast")
    )
    let quay = try scene.id(of: "Account", where: "Name", is: "Quay")
    #expect(try await scene.undo(sent.run).verdicts == [.undone: 4])
    #expect(try scene.field("Phone", of: id) == before)
    #expect(try !scene.isThere(keel, "Contact"))
    #expect(try !scene.isThere(mast, "Contact"))
    #expect(try !scene.isThere(quay))
    try await scene.scene.expectClosed()
  }

  @Test func `the program shows a plan, and applies the confirmed one`() async throws {
    let scene = try UndoScene()
    let (phone, id) = try await scene.primed()
    let before = try #require(try scene.field("Phone", of: id)?.string)
    try phone.edit("accounts", id: id, ["Phone": "device"], now: scene.world.org.now())
    let sent = try await scene.night(phone)
    func undo(_ words: String...) async throws -> ProgramRun {
      try await scene.world.program(["reconcile", "undo"], [sent.run] + words)
    }
    let plan = try await undo()
    #expect(plan.status == 3)
    #expect(plan.output.contains("undo edit 1 (Account \(id)): reset Phone to \(before)"))
    let digest = try scene.undoing.plan(run: sent.run).digest
    let command = "attache reconcile undo \(scene.world.called) \(sent.run) --confirm \(digest)"
    #expect(
      plan.messages.contains("this is a plan, and nothing was undone; to apply it: \(command)"))
    #expect(try await undo("--dry-run").status == 0)
    let lines = try await undo("--json").output.split(separator: "\n")
    let told = try #require(try lines.map { try JSONValue(parsing: String($0)) }.last)
    #expect(told["type"] == "undo" && told["digest"] == .string(digest))
    #expect(try scene.field("Phone", of: id) == "device")
    #expect(try scene.scene.states() == [])

    let other = try await undo("--confirm", "0123456789abcdef")
    #expect(other.status == 4)
    #expect(other.messages.contains("[undo.other-plan]"))
    let done = try await undo("--confirm", digest, "--by", "hopper")
    #expect(done.status == 0)
    #expect(done.output.contains("1  undone"))
    #expect(try scene.field("Phone", of: id) == .string(before))
    let again = try await undo("--confirm", digest)
    #expect(again.status == 0)
    #expect(again.output.contains("edit 1: run "))
    #expect(again.output.contains("run \(sent.run) has nothing to undo"))
    let none = try JSONValue(parsing: try await undo("--json").output)
    #expect(none["type"] == "undo" && none["edits"]?.array == [])

    let report = scene.world.data.report(try scene.scene.withLedger { try $0.runs(limit: 1)[0].id })
    func text(_ file: String) throws -> String {
      String(decoding: try Files.read(report + "/" + file), as: UTF8.self)
    }
    #expect(try text("report.html").contains("<b>1</b> undone"))
    #expect(try text("records.csv").contains("undo: applied"))
    #expect(try text("success.csv").contains("\(before),Item Updated"))
    #expect(try await undo("99").messages.contains("edit 99: no edit has this number"))
    let mistyped = try await scene.world.program(["reconcile", "undo"], ["20260101T000000Z-99"])
    #expect(mistyped.status == 4)
    #expect(mistyped.messages.contains("there is no run \"20260101T000000Z-99\""))
  }
}
