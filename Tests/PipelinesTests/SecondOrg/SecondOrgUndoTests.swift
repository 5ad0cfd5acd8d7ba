import JSON
import Ledger
import Pipelines
import Reports
import System
import TestSupport
import Testing

@Suite struct SecondOrgUndoTests {
  @Test(arguments: 1...CampaignSize.secondOrg.count)
  func `an undo restores the org's records as before the run`(_ seed: Int) async throws {
    let scene = try await SecondOrgScene(
      seed: seed,
      org: { data in
        if seed == 1 { return }
        data["mishaps"] = [
          "session": .array([0.2, 2]), "unavailable": .array([0.1, 2]), "lock": .array([0.3, 3]),
          "cut before": .array([0.1, 2]), "cut after": .array([0.1, 2]),
        ]
      })
    try await scene.night()
    let rosa = try scene.device("rosa", .ios, as: "rosa")
    let now = Clock.wallMilliseconds()
    func ids(_ soup: String, _ name: String, _ prefix: String) throws -> [String] {
      try rosa.elements(soup).filter { $0[name]?.string?.hasPrefix(prefix) == true }
        .compactMap { $0["Id"]?.string }.sorted()
    }
    let orders = try ids("workorders", "Subject", "Order").suffix(3)
    let contacts = try ids("contacts", "LastName", "Contact").prefix(2)
    let account = try ids("accounts", "Name", "Rosa's account")[0]
    for id in orders { try rosa.delete("workorders", id: id, now: now) }
    for id in contacts { try rosa.delete("contacts", id: id, now: now) }
    try rosa.edit("accounts", id: account, ["Phone": "+1 555 1"], now: now)
    let before = try await records(scene)
    try scene.handBack(rosa, as: "rosa.sqlite")
    #expect(try await scene.night().verdicts == [.deleted: 5, .updated: 1])
    #expect(try await records(scene) != before)

    let undoing = PipelineUndo(scene.pipeline, root: scene.directory.file("snapshots"))
    var settled: [Verdict: Int] = [:]
    var reasons: [String] = []
    for run in try scene.runs() {
      guard let plan = try? undoing.plan(run: run), !plan.edits.isEmpty else { continue }
      let options = undoing.runOptions(plan, by: "grace", isDryRun: false)
      let first = try await scene.run { change in
        let pause = change.retryPause
        change = options
        change.retryPause = pause
      }
      settled.merge(first.verdicts.filter(\.key.isSettled)) { $0 + $1 }
      reasons += try scene.reasons(first)
    }
    settled.merge(try await scene.night().verdicts) { $0 + $1 }
    #expect(settled == [.undone: 6], "\(reasons.joined(separator: "; "))")
    #expect(try await records(scene) == before)
    #expect(try await scene.differences() == [])
  }

  /// The values of the records that a run may change, without their dates.
  private func records(_ scene: SecondOrgScene) async throws -> [String: JSONObject] {
    var records: [String: JSONObject] = [:]
    for object in ["Account", "Contact", "WorkOrder"] {
      for var record in try await scene.org.records(object) {
        for name in ["LastModifiedDate", "SystemModstamp", "LastModifiedById"] {
          record[name] = nil
        }
        records[record["Id"]?.string ?? ""] = record
      }
    }
    return records
  }
}

extension SecondOrgScene {
  fileprivate func runs() throws -> [String] {
    let ledger = try data.openLedger()
    defer { ledger.close() }
    return try ledger.runs(limit: 100).map(\.id)
  }

  fileprivate func reasons(_ run: RunSummary) throws -> [String] {
    let ledger = try data.openLedger()
    defer { ledger.close() }
    return try ReportModel(state: ledger, run: run.run, called: "field").edits.all().map {
      "\($0.verdict): \($0.detail.message ?? "")"
    }
  }
}
