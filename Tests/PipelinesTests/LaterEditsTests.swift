import Bundles
import JSON
import Ledger
import Pipelines
import Rehearsal
import System
import Testing

@Suite struct LaterEditsTests {
  let world: World
  init() throws { world = try World() }

  /// Why the user's first edit was not sent.
  enum Reason: String, CaseIterable { case conflict, notVisible, failed }

  /// An account that ada sees and does not own.
  private func sharedAccount(_ device: Device) throws -> String {
    let ada = try world.user("ada").id
    return try #require(
      try world.ids("accounts", on: device).first {
        try world.record("Account", $0)["OwnerId"]?.string != ada
      })
  }

  private func phone(_ id: String) throws -> String? {
    try world.record("Account", id)["Phone"]?.string
  }

  /// The device's own sync fetched the record: the user's next edit is based on that.
  private func refreshed(_ id: String) throws -> JSONObject {
    let record = try world.record("Account", id)
    return [
      "LastModifiedDate": record["LastModifiedDate"] ?? .null,
      "Website": record["Website"] ?? .null,
    ]
  }

  @discardableResult
  private func retry() async throws -> RunSummary {
    try DecisionScene(world).retry(
      [.conflict, .notVisible, .failed, .deviceConflict, .deletedOnServer])
    return try await world.run(.reconcile)
  }

  @Test(arguments: Reason.allCases)
  func `a retry overwrites nothing that the device has sent since`(_ reason: Reason) async throws {
    let device = try await world.primed("ada")
    let id = try sharedAccount(device)
    let long = String(repeating: "x", count: 300)
    try device.edit(
      "accounts", id: id,
      ["Phone": "+1 555 0001", "Website": .string(reason == .failed ? long : "https://a.example")],
      now: world.org.now())
    switch reason {
    case .conflict: try world.change(id, ["Website": "https://office.example"])
    case .notVisible: try world.org.unshare(id, from: "ada@example.com")
    case .failed: break
    }
    let first = try await world.run(device, as: "one.sqlite")
    let verdicts: [Reason: Verdict] = [
      .conflict: .conflict, .notVisible: .notVisible, .failed: .failed,
    ]
    #expect(first.verdicts == [verdicts[reason] ?? .created: 1])

    if reason == .notVisible { try world.org.share(id, with: "ada@example.com") }
    var later = reason == .failed ? ["Website": "https://b.example"] : try refreshed(id)
    later["Phone"] = "+1 555 0002"
    try device.edit("accounts", id: id, later, now: world.org.now() + 60_000)
    #expect(try await world.run(device, as: "two.sqlite").verdicts[.updated] == 1)
    #expect(try phone(id) == "+1 555 0002")

    #expect(try await retry().verdicts == [:])
    #expect(try phone(id) == "+1 555 0002")
    #expect(try world.editVerdicts() == ["superseded", "updated"])
  }

  /// A phone whose edit of an account was returned while its user did not see the account.
  private func hidden() async throws -> (Device, id: String, before: String?) {
    let device = try await world.primed("ada")
    let id = try sharedAccount(device)
    let before = try phone(id)
    try world.org.unshare(id, from: "ada@example.com")
    try world.handBack(device, as: "one.sqlite", edited: id, ["Phone": "+1 555 0001"])
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.notVisible: 1])
    try world.org.share(id, with: "ada@example.com")
    return (device, id, before)
  }

  @Test func `values entered in the org after a later edit survive a retry`() async throws {
    let (device, id, _) = try await hidden()
    try device.edit("accounts", id: id, ["Phone": "+1 555 0002"], now: world.org.now() + 60_000)
    try await world.run(device, as: "two.sqlite", .ingest, .reconcile)
    try world.change(id, ["Phone": "+1 555 9999"])
    try await retry()
    #expect(try phone(id) == "+1 555 9999")
  }

  @Test func `new edits of a restored phone count despite a known return number`() async throws {
    let device = try await world.primed("ada")
    let ids = try world.ids("accounts", on: device)
    try world.handBack(device, as: "one.sqlite", edited: ids[0], ["Phone": "+1 555 0001"])
    try await world.run(.ingest, .reconcile)
    let backup = world.directory.file("backup.sqlite")
    try Files.copy(device.storePath, to: backup)
    // The second return is lost in transit; the third arrives.
    try device.edit("accounts", id: ids[1], ["Phone": "+1 555 0002"], now: world.org.now() + 60_000)
    try device.handBack(to: world.directory.file("lost.sqlite"), now: world.org.now())
    try world.handBack(device, as: "three.sqlite")
    #expect(try await world.run(.ingest, .reconcile).verdicts[.updated] == 1)

    try Files.remove(device.storePath)
    try Files.copy(backup, to: device.storePath)
    try device.edit(
      "accounts", id: ids[2], ["Phone": "+1 555 0003"], now: world.org.now() + 120_000)
    let restored = try await world.run(device, as: "restored.sqlite", .ingest, .reconcile)
    #expect(restored.verdicts[.updated] == 1)
    #expect(try phone(ids[2]) == "+1 555 0003")
    // It continues: its next edit is of the same device.
    try device.edit(
      "accounts", id: ids[2], ["Phone": "+1 555 0004"], now: world.org.now() + 180_000)
    try world.handBack(device, as: "restored-again.sqlite")
    #expect(try await world.run(.ingest, .reconcile).verdicts[.updated] == 1)
    #expect(try phone(ids[2]) == "+1 555 0004")
  }

  @Test func `a phone restored to before an edit does not revert it`() async throws {
    let device = try await world.primed("ada")
    let ids = try world.ids("accounts", on: device)
    let backup = world.directory.file("backup.sqlite")
    try Files.copy(device.storePath, to: backup)
    try device.edit("accounts", id: ids[0], ["Phone": "+1 555 0001"], now: world.org.now() + 30_000)
    #expect(try await world.run(device, as: "one.sqlite", .ingest).edits.new == 1)
    try Files.remove(device.storePath)
    try Files.copy(backup, to: device.storePath)
    // Its first return is lost in transit; in the second one the row is as issued.
    try device.handBack(to: world.directory.file("lost.sqlite"), now: world.org.now())
    try device.edit("accounts", id: ids[1], ["Phone": "+1 555 0002"], now: world.org.now() + 60_000)
    try world.handBack(device, as: "two.sqlite")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 2])
    #expect(try phone(ids[0]) == "+1 555 0001")
    #expect(try phone(ids[1]) == "+1 555 0002")
  }

  @Test func `a restored phone's edit of a value sent since is a device conflict`() async throws {
    let (device, id) = try await world.primed("ada", first: "accounts")
    let backup = world.directory.file("backup.sqlite")
    try Files.copy(device.storePath, to: backup)
    try device.handBack(to: world.directory.file("lost.sqlite"), now: world.org.now())
    try world.handBack(device, as: "two.sqlite", edited: id, ["Phone": "+1 555 0002"])
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 1])
    try Files.remove(device.storePath)
    try Files.copy(backup, to: device.storePath)
    try device.edit("accounts", id: id, ["Phone": "+1 555 0003"], now: world.org.now() + 120_000)
    let restored = try await world.run(device, as: "restored.sqlite", .ingest, .reconcile)
    #expect(restored.verdicts == [.deviceConflict: 1])
    #expect(try phone(id) == "+1 555 0002")
  }

  @Test func `an open edit that is returned again stays one open edit`() async throws {
    let (device, id) = try await world.primed("ada", first: "accounts")
    try device.edit("accounts", id: id, ["Phone": "+1 555 0001"], now: world.org.now())
    try world.change(id, ["Phone": "+1 555 9999"])
    #expect(try await world.verdicts(device, as: "one.sqlite") == [.conflict: 1])
    let second = try await world.run(device, as: "two.sqlite")
    #expect(second.verdicts == [:])
    #expect(second.edits.found == 1)
    #expect(second.edits.new == 0)
    func open() throws -> [Verdict: Int] {
      try LedgerDatabase(path: world.data.state).unsettledEdits()
    }
    #expect(try open() == [.conflict: 1])
    // The bundle redelivers it, and includes both returns that had it.
    #expect(try BundleReader.inspect(world.bundle("ada")).includes.map(\.handback) == [2])
    // Saving the same values again retries the same edit.
    try device.edit("accounts", id: id, [:], now: world.org.now() + 60_000)
    #expect(try await world.verdicts(device, as: "three.sqlite") == [.conflict: 1])
    #expect(try world.editVerdicts().count == 1)
    // The user's next edit replaces it.
    var later = try refreshed(id)
    later["Phone"] = "+1 555 0002"
    try device.edit("accounts", id: id, later, now: world.org.now() + 120_000)
    #expect(try await world.verdicts(device, as: "four.sqlite") == [.superseded: 1, .updated: 1])
    #expect(try open() == [:])
    try await world.run()
    #expect(try BundleReader.inspect(world.bundle("ada")).includes.map(\.handback) == [4])
  }
}
