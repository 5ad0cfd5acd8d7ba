import JSON
import Ledger
import LocalOrg
import Pipelines
import Reconciliation
import Rehearsal
import TestSupport
import Testing

/// What becomes of a decision when a field that it is about leaves the field lists.
@Suite struct DecidedFieldsTests {
  private static let all = #"["Name", "Phone", "Website", "Description"], "mergeMode""#
  private static let rest = #"["Name", "Website", "Description"], "mergeMode""#

  private func list(_ old: String, _ new: String, _ world: World) throws {
    try world.rewrite(old, new, in: "demo/usersyncs.json")
  }

  /// A decision is asked again while its field is in no list, and carried out once it is in one again.
  private func expectAskedAgain(
    _ kind: String, sends value: String, _ decide: (DecisionScene) throws -> Void
  ) async throws {
    let scene = try DecisionScene()
    let id = try await scene.conflict()
    try decide(scene)
    try list(Self.all, Self.rest, scene.world)
    let writes = scene.world.server.log.writes.count
    let (verdicts, edits) = try await scene.night()
    #expect(verdicts == [.conflict: 1])
    #expect(try scene.field("Phone", of: id) == "office")
    #expect(scene.world.server.log.writes.count == writes)
    #expect(try scene.states() == [kind + " moved"])
    let told = try #require(edits.first { $0.number == 1 })
    #expect(told.detail.decision?.fate == .askedAgain)
    #expect(told.detail.message?.contains("no sync up sends Phone any more") == true)
    #expect(told.detail.fields.first { $0.name == "Phone" }?.server == "office")
    // Decided again without the field it is asked again.
    try scene.decide(1, .device)
    #expect(try await scene.night().verdicts == [.conflict: 1])
    try list(Self.rest, Self.all, scene.world)
    try decide(scene)
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id)?.string == value)
    try await scene.expectClosed()
  }

  @Test func `the device's side of a field that is not sent any more is asked again`() async throws
  {
    try await expectAskedAgain("device", sends: "device") { try $0.decide(1, .device) }
  }

  @Test func `a value for a field that is not sent any more is not sent`() async throws {
    try await expectAskedAgain("set", sends: "boss") { try $0.set(1, ["Phone": "boss"]) }
  }

  @Test func `who lets the rules decide without the field is done with it`() async throws {
    let scene = try DecisionScene()
    let id = try await scene.conflict()
    try scene.decide(1, .device)
    try list(Self.all, Self.rest, scene.world)
    _ = try await scene.night()
    try scene.decide(1, .again)
    #expect(try await scene.night().verdicts == [.filtered: 1])
    #expect(try scene.field("Phone", of: id) == "office")
  }

  @Test func `a mend on the device of a field that is not sent any more is asked again`()
    async throws
  {
    let scene = try CarriedScene()
    let (phone, id) = try await scene.carriedConflict()
    try phone.mend("accounts", id: id, ["Phone": "mended"], now: scene.later(30))
    try list(Self.all, Self.rest, scene.world)
    try scene.handBack(phone, as: "two.sqlite")
    let verdicts = try await scene.scene.night().verdicts
    #expect(verdicts[.conflict] == 1 && verdicts[.filtered] == nil && verdicts[.updated] == nil)
    #expect(try scene.scene.field("Phone", of: id) == "office")
    #expect(try scene.scene.states() == ["device moved"])
  }
}
