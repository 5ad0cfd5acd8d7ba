import JSON
import Ledger
import LocalOrg
import Pipelines
import Reconciliation
import Rehearsal
import System
import TestSupport
import Testing

/// Each way out that is offered for a verdict closes the edit, also where nobody walks it often.
@Suite struct DecisionWaysTests {
  // MARK: again, after its cause was mended

  /// A record that has moved is left by its date (`ThreeWayRule`), unless edits are merged field by field.
  private static func merging(_ text: String) -> String {
    text.replacing("\"reconcile\": {", with: "\"reconcile\": { \"mode\": \"mergeFields\", ")
  }

  @Test func `a conflict is over when the office takes its change back`() async throws {
    let scene = try DecisionScene(Self.merging)
    let id = try await scene.conflict()
    try scene.office(id, ["Phone": "+1 555 0100"])
    try await closes(scene, .again, [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "device")
  }

  @Test func `a conflict is over when the office enters what the device has`() async throws {
    let scene = try DecisionScene()
    let id = try await scene.conflict()
    try scene.office(id, ["Phone": "device"])
    try await closes(scene, .again, [.alreadyThere: 1])
  }

  @Test func `a clash is over for the one edit when the other is given up`() async throws {
    let scene = try DecisionScene()
    let id = try await scene.clash(ada: ["Description": "left"], ben: ["Description": "right"])
    try scene.decide(2, .server)
    #expect(try await scene.night().verdicts == [.dropped: 1])
    try await closes(scene, .again, [.updated: 1])
    #expect(try scene.field("Description", of: id) == "left")
    try await scene.expectClosed("ben")
  }

  @Test func `a refused edit and what waits for it go out when the rule is taken away`()
    async throws
  {
    let scene = try DecisionScene()
    try setRule(scene, "BEGINS(Name, 'Harbour')")
    let device = try await scene.phone()
    try makePair(scene, device)
    try await scene.handBack(device, leaves: [.failed: 1, .blocked: 1])
    try setRule(scene, "BEGINS(Name, 'nobody')")
    try scene.decide(2, .again)
    try await closes(scene, .again, [.created: 2])
    #expect(try scene.count("SELECT Id FROM Contact WHERE Account.Name = 'Harbour Crane'") == 1)
  }

  @Test(arguments: [Verdict.deletedOnServer, .mergedOnServer], [false, true])
  func `an edit of a record that is gone is sent, or asked about, when that was restored`(
    _ verdict: Verdict, _ merges: Bool
  ) async throws {
    let scene = try DecisionScene(merges ? Self.merging : { $0 })
    let device = try await scene.phone()
    let id = try scene.edited(device)
    if verdict == .deletedOnServer {
      try scene.delete(id)
    } else {
      try scene.world.org.merge(id, into: scene.account(device, 1))
    }
    try await scene.handBack(device, leaves: [verdict: 1])
    try scene.world.org.undelete(id)
    if !merges {
      // Its date has moved with that.
      try scene.decide(1, .again)
      #expect(try await scene.night().verdicts == [.conflict: 1])
    }
    try await closes(scene, merges ? .again : .device, [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "device")
  }

  @Test func `an edit of a hidden record is sent when that is shared again`() async throws {
    let scene = try DecisionScene()
    let (world, ada) = (scene.world, try await scene.phone())
    let ben = try world.device("ben")
    let shared = Set(try world.ids("accounts", on: ada)).intersection(
      try world.ids("accounts", on: ben))
    let id = try #require(shared.first)
    try ben.edit("accounts", id: id, ["Phone": "device"], now: world.org.now())
    try world.org.unshare(id, from: "ben@example.com")
    try await scene.handBack(ben, as: "ben", leaves: [.notVisible: 1])
    try world.org.share(id, with: "ben@example.com")
    try scene.decide(1, .again)
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "device")
    try await scene.expectClosed("ben")
  }

  @Test func `what a user was not issued is sent when the user is given it`() async throws {
    let scene = try DecisionScene {
      $0.replacing("\"reconcile\": {", with: "\"reconcile\": { \"sendAs\": \"integration\", ")
        .replacing("\"scope\": \"global\",", with: "\"scope\": \"global\", \"reconcile\": [],")
    }
    let device = try await scene.phone()
    let own = try scene.world.ids("accounts", on: device)
    let foreign = try #require(
      try scene.world.ids("accounts", on: try scene.world.device("cleo")).first {
        !own.contains($0)
      })
    try device.create(
      "contacts", type: "Contact", ["LastName": "Keel", "AccountId": .string(foreign)],
      localID: "local_1", now: scene.world.org.now())
    try await scene.handBack(device, leaves: [.notPermitted: 1])
    try scene.world.org.share(foreign, with: "ada@example.com")
    _ = try await scene.world.runAsWritten()
    try await closes(scene, .again, [.created: 1])
    #expect(
      try scene.count("SELECT Id FROM Contact WHERE AccountId = '\(foreign)' AND LastName = 'Keel'")
        == 1)
  }

  @Test func `an edit whose soup no sync up covered is sent when one is named`() async throws {
    let (named, all) = (
      "\"reconcile\": [\"syncUpContacts\"]",
      "\"reconcile\": [\"syncUpContacts\", \"syncUpAccounts\"]"
    )
    let scene = try DecisionScene {
      $0.replacing("usersyncs.json\"", with: "usersyncs.json\", \(named)")
    }
    let device = try await scene.phone()
    let id = try scene.edited(device)
    try await scene.handBack(device, leaves: [.notConfigured: 1])
    try scene.world.rewrite(named, all)
    try await closes(scene, .again, [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "device")
  }

  @Test func `what a guard held goes out when its limit is raised`() async throws {
    let limit = "\"maxChanges\": {\"perSnapshot\": 1}"
    let scene = try DecisionScene {
      $0.replacing("\"reconcile\": {", with: "\"reconcile\": { \(limit), ")
    }
    let device = try await scene.phone()
    for place in 0...1 {
      try device.edit(
        "accounts", id: scene.account(device, place), ["Phone": "device"],
        now: scene.world.org.now())
    }
    try await scene.handBack(device, leaves: [.held: 2])
    try scene.world.rewrite(limit, "\"maxChanges\": {\"perSnapshot\": 2}")
    try scene.decide(2, .again)
    try await closes(scene, .again, [.updated: 2])
    #expect(try scene.count("SELECT Id FROM Account WHERE Phone = 'device'") == 2)
  }

  @Test func `what was held for its user goes out when that one can log in again`() async throws {
    let scene = try DecisionScene()
    let device = try await scene.phone()
    let id = try scene.edited(device)
    try scene.world.org.setActive("ada@example.com", false)
    try await scene.handBack(device, leaves: [.held: 1])
    try scene.world.org.setActive("ada@example.com", true)
    try await closes(scene, .again, [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "device")
  }

  @Test func `a create in doubt is sent once more by the rules when its window is over`()
    async throws
  {
    let scene = try DecisionScene(Self.quiet)
    let device = try await scene.phone()
    try device.create(
      "contacts", type: "Contact", ["LastName": "Lovelace"], localID: "local_1",
      now: scene.world.org.now())
    scene.world.server.faults.add(.kind(.collectionCreate), .drop(afterCommit: false))
    try await scene.handBack(device, leaves: [.inDoubt: 1])
    try scene.world.org.moveClock(by: 86_400_000)
    try await closes(scene, .again, [.created: 1])
    #expect(try scene.count("SELECT Id FROM Contact WHERE LastName = 'Lovelace'") == 1)
  }

  /// What the office does with two records of one.
  enum Mend: CaseIterable { case deletesSecond, deletesFirst, mergesSecond, mergesFirst }

  @Test(arguments: Mend.allCases, [false, true])
  func `a record that was made twice is told until the office leaves one of the two`(
    _ mend: Mend, _ retries: Bool
  ) async throws {
    let scene = try DecisionScene(Self.quiet)
    let (world, device) = (scene.world, try await scene.phone())
    let (first, second, run) = try await madeTwice(scene, device)
    func again() async throws -> RunSummary {
      if !retries { try scene.decide(1, .again) }
      return try await world.run(.ingest, .reconcile) {
        if retries { $0.retry = .init(run: run, verdicts: [.createdTwice]) }
      }
    }
    // Nothing is mended.
    for _ in 0..<2 {
      let night = try await again()
      #expect(night.verdicts == [.createdTwice: 1])
      #expect(night.exitStatus == .needsAttention)
      let told = try scene.withLedger {
        try ReportModel(state: $0, run: night.run, called: "field").stillOpen.all()
      }
      let detail = try #require(told.first?.detail)
      #expect([detail.recordID, detail.otherID] == [first, second])
      #expect(detail.message?.contains("does not show that one of the two is deleted") == true)
    }
    let admin = try world.user("admin")
    switch mend {
    case .deletesSecond: #expect(world.org.delete("Contact", id: second, as: admin).errors.isEmpty)
    case .deletesFirst: #expect(world.org.delete("Contact", id: first, as: admin).errors.isEmpty)
    case .mergesSecond: try world.org.merge(second, into: first)
    case .mergesFirst: try world.org.merge(first, into: second)
    }
    let settled = try await again()
    #expect(settled.open == [:])
    let left = [.deletesSecond, .mergesSecond].contains(mend) ? first : second
    #expect(try scene.edits(of: settled.run).first?.detail.recordID == left)
    #expect(try scene.count("SELECT Id FROM Contact WHERE LastName = 'Lovelace'") == 1)
    // What the device enters next goes there.
    try device.edit(
      "contacts", id: "local_1", ["Title": "Countess"], now: world.org.now() + 60_000)
    try await scene.handBack(device, as: "two", leaves: [.updated: 1])
    #expect(try scene.field("Title", of: left, "Contact") == "Countess")
    try await scene.expectClosed(handback: 2)
  }

  private static func quiet(_ text: String) -> String {
    text.replacing("\"quietWindowSeconds\": 0", with: "\"quietWindowSeconds\": 900")
  }

  /// A new contact whose create was sent again before the first one arrived: both records, and the run that tells it.
  private func madeTwice(
    _ scene: DecisionScene, _ device: Device
  ) async throws -> (first: String, second: String, run: String) {
    let world = scene.world
    try device.create(
      "contacts", type: "Contact", ["LastName": "Lovelace"], localID: "local_1",
      now: world.org.now())
    world.server.faults.add(.kind(.collectionCreate), .deliverLate(seconds: 1_000_000))
    try await scene.handBack(device, leaves: [.inDoubt: 1])
    try world.org.moveClock(by: 1_000_000)
    #expect(try await scene.night().verdicts == [.created: 1])
    world.server.deliverHeld()
    let night = try await world.run(.ingest, .reconcile)
    #expect(night.verdicts == [.createdTwice: 1])
    let detail = try #require(try scene.edits(of: night.run).first?.detail)
    return (try #require(detail.recordID), try #require(detail.otherID), night.run)
  }

  // MARK: other values, other records

  @Test func `a refused create is settled with the record that the office made`() async throws {
    let scene = try DecisionScene()
    let id = try await refused(scene)
    try scene.decide(1, .record(id))
    let (verdicts, edits) = try await scene.night()
    #expect(verdicts == [.alreadyThere: 1, .created: 1])
    #expect(edits.first?.detail.recordID == id)
    #expect(try scene.field("Name", of: id) == "Office Crane")
    #expect(try scene.count("SELECT Id FROM Contact WHERE AccountId = '\(id)'") == 1)
    try await scene.expectClosed()
  }

  @Test func `a new record that waits for another is sent with one that is there`() async throws {
    let scene = try DecisionScene()
    let id = try await refused(scene)
    try scene.set(2, ["AccountId": id])
    #expect(try await scene.night().verdicts[.created] == 1)
    #expect(try scene.count("SELECT Id FROM Contact WHERE AccountId = '\(id)'") == 1)
    try await closes(scene, .drop, [.dropped: 1])
  }

  @Test func `a clash is settled with a value of neither device`() async throws {
    let scene = try DecisionScene()
    let id = try await scene.clash(ada: ["Description": "left"], ben: ["Description": "right"])
    try scene.set(1, ["Description": "middle"])
    try scene.decide(2, .server)
    #expect(try await scene.night().verdicts[.updated] == 1)
    #expect(try scene.field("Description", of: id) == "middle")
    try await scene.expectClosed("ada")
    try await scene.expectClosed("ben")
  }

  @Test(arguments: [Decision.device, .again])
  func `of two copies of a new record one is given up, and the other sent`(
    _ decision: Decision
  ) async throws {
    let scene = try DecisionScene()
    let (world, device) = (scene.world, try await scene.phone())
    // The field hears of nothing that happens on the day of the prime.
    try world.org.moveClock(by: 3_600_000)
    let backup = world.directory.file("backup")
    try device.create(
      "contacts", type: "Contact", ["LastName": "Lovelace"], localID: "local_1",
      now: world.org.now())
    try Files.copy(device.storePath, to: backup)
    try device.edit("contacts", id: "local_1", ["Title": "left"], now: world.org.now() + 1000)
    try world.handBack(device, as: "left.sqlite")
    try Files.remove(device.storePath)
    try Files.copy(backup, to: device.storePath)
    try device.edit("contacts", id: "local_1", ["Title": "right"], now: world.org.now() + 2000)
    try await scene.handBack(device, as: "right", leaves: [.clash: 2])
    try scene.decide(1, .drop)
    let given = try await scene.night().verdicts
    #expect(given == [.dropped: 1])
    try scene.decide(2, decision)
    let sent = try await scene.night().verdicts
    #expect(sent == [.created: 1])
    #expect(try scene.count("SELECT Id FROM Contact WHERE LastName = 'Lovelace'") == 1)
    try await scene.expectClosed()
  }

  // MARK: updates and deletions in doubt

  struct Doubt: Sendable, CustomTestStringConvertible {
    var deletes: Bool
    var arrives: Bool
    var decision: Decision
    var testDescription: String {
      "\(deletes ? "deletion" : "update"), \(arrives ? "arrived" : "lost"), \(decision.kind)"
    }

    static let all = [Decision.device, .again, .drop].flatMap { decision in
      [(false, false), (false, true), (true, false), (true, true)].map {
        Doubt(deletes: $0.0, arrives: $0.1, decision: decision)
      }
    }
  }

  /// Without conditions in the org itself, so that a late request goes through.
  private static func unconditional(_ text: String) -> String {
    text.replacing("\"reconcile\": {", with: "\"reconcile\": { \"strict\": false, ")
  }

  @Test(arguments: Doubt.all)
  func `an update or deletion in doubt is sent once more, or given up if it did not arrive`(
    _ doubt: Doubt
  ) async throws {
    let scene = try DecisionScene(Self.unconditional)
    let device = try await scene.phone()
    let id = try scene.account(device)
    let now = scene.world.org.now()
    if doubt.deletes {
      try device.delete("accounts", id: id, now: now)
    } else {
      try device.edit("accounts", id: id, ["Phone": "device"], now: now)
    }
    // Both attempts of the night, so that nobody knows at its end.
    let kind = doubt.deletes ? RequestKind.collectionDelete : .collectionUpdate
    scene.world.server.faults.add(.kind(kind), nth: 1, times: 2, .deliverLate(seconds: 1_000_000))
    try await scene.handBack(device, leaves: [.inDoubt: 1])
    if doubt.arrives { scene.world.server.deliverHeld() }
    try scene.decide(1, doubt.decision)
    let done = doubt.deletes ? Verdict.deleted : .updated
    let isGivenUp = doubt.decision == .drop && !doubt.arrives
    // What was discarded and did arrive stays open until it is decided again.
    let isLate = doubt.decision == .drop && doubt.arrives
    let verdict: Verdict = isLate ? .conflict : isGivenUp ? .dropped : done
    #expect(try await scene.night().verdicts == [verdict: 1])
    let phone = try? scene.field("Phone", of: id)
    #expect(phone == (isGivenUp ? "+1 555 0100" : doubt.deletes ? nil : "device"))
    if isLate {
      #expect(try await scene.night().verdicts == [:])
      #expect(try scene.open() == [.conflict: 1])
      try scene.decide(1, .server)
      _ = try await scene.night()
    }
    try await scene.expectClosed()
  }

  @Test(arguments: [Decision.device, .again])
  func `an update in doubt over which the office went is asked again`(
    _ decision: Decision
  ) async throws {
    let scene = try DecisionScene(Self.unconditional)
    let device = try await scene.phone()
    let id = try scene.edited(device)
    scene.world.server.faults.add(
      .kind(.collectionUpdate), nth: 1, times: 2, .drop(afterCommit: false))
    try await scene.handBack(device, leaves: [.inDoubt: 1])
    try scene.office(id, ["Phone": "office"])
    try scene.decide(1, decision)
    #expect(try await scene.night().verdicts == [.conflict: 1])
    #expect(try scene.field("Phone", of: id) == "office")
    try await closes(scene, .device, [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "device")
  }

  // MARK: helpers

  /// Decides about the first edit: the next night says `verdicts`, and all is closed.
  private func closes(
    _ scene: DecisionScene, _ decision: Decision, _ verdicts: [Verdict: Int],
    location: SourceLocation = #_sourceLocation
  ) async throws {
    try scene.decide(1, decision)
    let left = try await scene.night().verdicts
    #expect(left == verdicts, sourceLocation: location)
    try await scene.expectClosed(location: location)
  }

  private func setRule(_ scene: DecisionScene, _ condition: String) throws {
    let rules = """
      {"objects": {"Account": {"validationRules": [
        {"name": "Rule", "condition": "\(condition)", "message": "No.", "field": "Name"}]}}}
      """
    try scene.world.org.setUp(OrgSetup(parsing: Array(rules.utf8)))
  }

  /// A new customer, and a contact who works there.
  private func makePair(_ scene: DecisionScene, _ device: Device) throws {
    let now = scene.world.org.now()
    try device.create(
      "accounts", type: "Account", ["Name": "Harbour Crane"], localID: "local_1", now: now)
    try device.create(
      "contacts", type: "Contact", ["LastName": "Keel", "AccountId": "local_1"],
      localID: "local_2", now: now)
  }

  /// A new customer that the org refuses, and a contact who works there; the office's own record of the
  /// customer.
  private func refused(_ scene: DecisionScene) async throws -> String {
    try setRule(scene, "BEGINS(Name, 'Harbour')")
    let device = try await scene.phone()
    try makePair(scene, device)
    try await scene.handBack(device, leaves: [.failed: 1, .blocked: 1])
    let ada = try scene.world.user("ada")
    return try #require(scene.world.org.create("Account", ["Name": "Office Crane"], as: ada).id)
  }
}
