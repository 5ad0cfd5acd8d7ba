import Bundles
import JSON
import Ledger
import LocalOrg
import Pipelines
import Reconciliation
import Rehearsal
import System
import TestSupport
import Testing

/// A person ends what a run left: each verdict, each way out, over the whole pipeline.
@Suite struct DecisionsTests {
  // MARK: conflicts

  @Test func `a conflict decided for the device is sent over what was shown`() async throws {
    let scene = try DecisionScene()
    let id = try await scene.conflict(["Phone": "device", "Description": "mine"])
    try scene.decide(1, .device)
    let (verdicts, edits) = try await scene.night()
    #expect(verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "device")
    let note = try #require(edits.first?.detail.decision)
    #expect(note.kind == .device && note.by == "grace" && note.fate == .carriedOut)
    #expect(try scene.states() == ["device done"])
    try await scene.expectClosed()
  }

  @Test func `what only the office changed stays where the device's edit is sent`() async throws {
    let scene = try DecisionScene()
    let id = try await scene.conflict()
    try scene.office(id, ["Website": "https://office.example"])
    // The next report shows it.
    try scene.decide(1, .again)
    #expect(try await scene.night().verdicts == [.conflict: 1])
    try scene.decide(1, .device)
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "device")
    #expect(try scene.field("Website", of: id) == "https://office.example")
    try await scene.expectClosed()
  }

  @Test func `a conflict decided for the office is settled without a write`() async throws {
    let scene = try DecisionScene()
    let id = try await scene.conflict()
    try scene.decide(1, .server)
    let writes = scene.world.server.log.writes.count
    #expect(try await scene.night().verdicts == [.dropped: 1])
    #expect(scene.world.server.log.writes.count == writes)
    #expect(try scene.field("Phone", of: id) == "office")
    try await scene.expectClosed()
  }

  @Test func `a conflict is merged field by field`() async throws {
    let scene = try DecisionScene()
    let id = try await scene.conflict(["Phone": "device", "Description": "mine"])
    try scene.set(1, ["Phone": "both"])
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "both")
    #expect(try scene.field("Description", of: id) == "mine")
    try await scene.expectClosed()
  }

  @Test func `the device's value, entered where the org's field was emptied, is sent`() async throws
  {
    let scene = try DecisionScene()
    let id = try await scene.conflict()
    try scene.office(id, ["Phone": .null])
    try scene.decide(1, .again)
    #expect(try await scene.night().verdicts == [.conflict: 1])
    try scene.set(1, ["Phone": "device"], rest: .server)
    let (verdicts, edits) = try await scene.night()
    #expect(verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "device")
    #expect(edits.first?.detail.fields.map(\.entered) == [nil])
    try await scene.expectClosed()
  }

  @Test func `with the org's side for the rest only what was entered is sent`() async throws {
    let scene = try DecisionScene()
    let id = try await scene.conflict(["Phone": "device", "Description": "mine"])
    try scene.set(1, ["Description": ""], rest: .server)
    #expect(try await scene.night().verdicts[.conflict] == nil)
    #expect(try scene.field("Phone", of: id) == "office")
    #expect(try scene.field("Description", of: id)?.string == nil)
    try await scene.expectClosed()
  }

  @Test func `a field that both sides changed has to be named in a merge`() async throws {
    let scene = try DecisionScene()
    _ = try await scene.conflict(["Phone": "device", "Description": "mine"])
    let error = #expect(throws: PipelineError.self) { try scene.set(1, ["Description": "ours"]) }
    #expect(error?.reason?.contains("both sides changed Phone too") == true)
    let other = #expect(throws: PipelineError.self) { try scene.set(1, ["Rating": "Hot"]) }
    #expect(other?.reason?.contains("Rating is not sent by the sync up of accounts") == true)
    #expect(try scene.states() == [])
  }

  @Test func `values that moved since they were shown are asked again, and nothing is sent`()
    async throws
  {
    let scene = try DecisionScene()
    let id = try await scene.conflict()
    for decision in [Decision.device, .server, .set(["Phone": "both"], rest: .device)] {
      try scene.decide(1, decision)
      try scene.office(id, ["Phone": .string("office after \(decision.kind.rawValue)")])
      let writes = scene.world.server.log.writes.count
      let (verdicts, edits) = try await scene.night()
      #expect(verdicts == [.conflict: 1])
      #expect(scene.world.server.log.writes.count == writes)
      let edit = try #require(edits.first)
      #expect(edit.detail.fields.first?.server == .string("office after \(decision.kind.rawValue)"))
      #expect(edit.detail.message?.contains("grace decided") == true)
      #expect(edit.detail.decision?.fate == .askedAgain)
    }
    #expect(try scene.states() == ["device moved", "server moved", "set moved"])
    try scene.decide(1, .device)
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "device")
    try await scene.expectClosed()
  }

  @Test func `a field that moved and was never shown is not gone over`() async throws {
    let scene = try DecisionScene()
    let id = try await scene.conflict()
    _ = try scene.withLedger { ledger in
      // As a report without the value has it.
      try ledger.connection.run("UPDATE outcome SET detail = '{}' WHERE edit_id = 1")
    }
    try scene.decide(1, .device)
    #expect(try await scene.night().verdicts == [.conflict: 1])
    #expect(try scene.field("Phone", of: id) == "office")
  }

  @Test func `values that a file shows and the last report does not are refused with the new ones`()
    async throws
  {
    let scene = try DecisionScene()
    _ = try await scene.conflict()
    let error = #expect(throws: PipelineError.self) {
      try scene.decide(1, .device, shown: ["Phone": .cell("older")])
    }
    #expect(error?.reason?.contains("the last report has office") == true)
    try scene.decide(1, .device, shown: ["Phone": .value("office")])
    #expect(try await scene.night().verdicts == [.updated: 1])
  }

  @Test func `a deletion that collides with the office is decided either way`() async throws {
    for decision in [Decision.device, .server] {
      let scene = try DecisionScene()
      try await scene.world.run()
      let device = try scene.world.device("ada")
      let id = try scene.account(device)
      try device.delete("accounts", id: id, now: scene.world.org.now())
      try scene.office(id, ["Phone": "office"])
      try scene.world.handBack(device, as: "ada.sqlite")
      #expect(try await scene.night().verdicts == [.conflict: 1])
      #expect(throws: PipelineError.self) { try scene.set(1, ["Phone": "x"]) }
      try scene.decide(1, decision)
      #expect(try await scene.night().verdicts == [decision == .device ? .deleted : .dropped: 1])
      #expect((try? scene.field("Phone", of: id)) == (decision == .device ? nil : "office"))
      try await scene.expectClosed()
    }
  }

  // MARK: clashes

  @Test func `of a clash one device's edit is sent, and the other's given up`() async throws {
    let scene = try DecisionScene()
    let id = try await scene.clash(
      ada: ["Description": "left"], ben: ["Description": "right"])
    try scene.decide(1, .server)
    try scene.decide(2, .device)
    #expect(try await scene.night().verdicts == [.dropped: 1, .updated: 1])
    #expect(try scene.field("Description", of: id) == "right")
    try await scene.expectClosed("ada")
    try await scene.expectClosed("ben")
  }

  @Test func `the edits of a clash that touch different fields can both stand`() async throws {
    let scene = try DecisionScene()
    let id = try await scene.clash(
      ada: ["Description": "left"], ben: ["Website": "https://b.example"])
    try scene.decide(1, .device)
    try scene.decide(2, .device)
    #expect(try await scene.night().verdicts == [.updated: 2])
    #expect(try scene.field("Description", of: id) == "left")
    #expect(try scene.field("Website", of: id) == "https://b.example")
    try await scene.expectClosed("ada")
  }

  @Test func `two edits of a clash that set one field are not both sent`() async throws {
    let scene = try DecisionScene()
    let id = try await scene.clash(
      ada: ["Description": "left"], ben: ["Description": "right"])
    try scene.decide(1, .device)
    try scene.decide(2, .device)
    #expect(try await scene.night().verdicts == [.updated: 1, .conflict: 1])
    #expect(try scene.field("Description", of: id) == "left")
    try scene.decide(2, .set(["Description": "both"], rest: .device))
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Description", of: id) == "both")
    try await scene.expectClosed("ada")
  }

  // MARK: records that are gone

  /// Ada's edit of an account that is lost to her meanwhile.
  private func lost(
    _ scene: DecisionScene, _ verdict: Verdict, _ lose: (String, [String]) throws -> Void
  ) async throws -> String {
    try await scene.world.run()
    let device = try scene.world.device("ada")
    let ids = [try scene.account(device), try scene.account(device, 1)]
    try device.edit("accounts", id: ids[0], ["Phone": "device"], now: scene.world.org.now())
    try scene.world.handBack(device, as: "ada.sqlite")
    try lose(ids[0], ids)
    #expect(try await scene.night().verdicts == [verdict: 1])
    return ids[0]
  }

  private func delete(_ scene: DecisionScene, _ id: String) throws {
    let outcome = scene.world.org.delete("Account", id: id, as: try scene.world.user("admin"))
    #expect(outcome.errors.isEmpty)
  }

  @Test func `an edit of a deleted record makes it anew, or is given up`() async throws {
    for decision in [Decision.device, .server] {
      let scene = try DecisionScene()
      _ = try await lost(scene, .deletedOnServer) { id, _ in try delete(scene, id) }
      try scene.decide(1, decision)
      #expect(try await scene.night().verdicts == [decision == .device ? .created : .dropped: 1])
      let page = try scene.world.org.query(
        "SELECT Id FROM Account WHERE Phone = 'device'", as: try scene.world.user("admin"))
      #expect(try JSONValue(parsing: page.records).array?.count == (decision == .device ? 1 : 0))
      try await scene.expectClosed()
    }
  }

  @Test func `an edit of a record that was restored is tried again`() async throws {
    let scene = try DecisionScene()
    let id = try await lost(scene, .deletedOnServer) { id, _ in try delete(scene, id) }
    try scene.world.org.undelete(id)
    // To make it anew was decided about a deleted record: that it is back is shown first.
    try scene.decide(1, .device)
    let (verdicts, edits) = try await scene.night()
    #expect(verdicts == [.conflict: 1])
    #expect(edits.first?.detail.decision?.fate == .askedAgain)
    try scene.decide(1, .device)
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "device")
    try await scene.expectClosed()
  }

  @Test func `an edit of a merged record is closed`() async throws {
    let scene = try DecisionScene()
    _ = try await lost(scene, .mergedOnServer) { id, ids in
      try scene.world.org.merge(id, into: ids[1])
    }
    try scene.decide(1, .server)
    #expect(try await scene.night().verdicts == [.dropped: 1])
    try await scene.expectClosed()
  }

  @Test func `an edit of a merged record is sent into the one that remained, as that was shown`()
    async throws
  {
    let scene = try DecisionScene()
    var remaining = ""
    let id = try await lost(scene, .mergedOnServer) { id, ids in
      remaining = ids[1]
      try scene.world.org.merge(id, into: remaining)
    }
    let run = try scene.withLedger { try $0.runs(limit: 1)[0].id }
    let shown = try #require(try scene.edits(of: run).first?.detail)
    #expect(shown.otherID == remaining)
    #expect(shown.fields.first { $0.name == "Phone" }?.server == "+1 555 0100")
    let website = try scene.field("Website", of: remaining)
    try scene.decide(1, .device)
    try scene.office(remaining, ["Phone": "office"])
    let (verdicts, edits) = try await scene.night()
    #expect(verdicts == [.mergedOnServer: 1])
    #expect(edits.first?.detail.fields.first { $0.name == "Phone" }?.server == "office")
    #expect(edits.first?.detail.decision?.fate == .askedAgain)
    try scene.decide(1, .device)
    let done = try await scene.night()
    #expect(done.verdicts == [.updated: 1])
    #expect(done.edits.first?.detail.recordID == remaining)
    #expect(done.edits.first?.detail.otherID == id)
    #expect(try scene.field("Phone", of: remaining) == "device")
    #expect(try scene.field("Website", of: remaining) == website)
    try await scene.expectClosed()
  }

  @Test func `what was decided of one record that remained does not go into another`() async throws
  {
    let scene = try DecisionScene()
    var remaining = ""
    _ = try await lost(scene, .mergedOnServer) { id, ids in
      remaining = ids[1]
      try scene.world.org.merge(id, into: remaining)
    }
    try scene.set(1, ["Phone": "entered"])
    let ada = try scene.world.user("ada")
    let third = try #require(
      scene.world.org.create("Account", ["Name": "Third", "Phone": "+1 555 0100"], as: ada).id)
    try scene.world.org.merge(remaining, into: third)
    #expect(try await scene.night().verdicts == [.mergedOnServer: 1])
    #expect(try scene.field("Phone", of: third) == "+1 555 0100")
    try scene.set(1, ["Phone": "entered"])
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: third) == "entered")
    try await scene.expectClosed()
  }

  @Test func `an edit of a hidden record is asked about when it is shared again, or dropped`()
    async throws
  {
    for isShared in [true, false] {
      let scene = try DecisionScene()
      let id = try await lost(scene, .notVisible) { id, _ in
        try scene.world.org.transfer(id, to: "admin@example.com")
        for name in ["ada", "ben", "cleo"] {
          try scene.world.org.unshare(id, from: "\(name)@example.com")
        }
      }
      if isShared { try scene.world.org.share(id, with: "ada@example.com") }
      try scene.decide(1, isShared ? .again : .drop)
      // Its new owner has moved its date: the rules leave it.
      #expect(try await scene.night().verdicts == [isShared ? .conflict : .dropped: 1])
      if isShared {
        try scene.decide(1, .device)
        #expect(try await scene.night().verdicts == [.updated: 1])
      }
      #expect(try scene.field("Phone", of: id) == (isShared ? "device" : "+1 555 0100"))
      try await scene.expectClosed()
    }
  }
}
