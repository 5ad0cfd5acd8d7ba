import JSON
import Ledger
import TestSupport
import Testing

@Suite struct SecondOrgBulkTests {
  /// A pipeline whose queries and edits use jobs wherever they can, with a number of additional
  /// visits.
  private func scene(
    seed: Int, visits: Int = 300, org change: @escaping SecondOrg.Change = { _ in }
  ) async throws -> SecondOrgScene {
    try await SecondOrgScene(
      seed: seed,
      file: { text in
        text.replacing("\"bulkAbove\": 10000000", with: "\"bulkAbove\": 10").replacing(
          "\"reconcile\": {",
          with: #""reconcile": { "bulkAbove": 1, "maxChanges": { "deletes": "100%" },"#)
      },
      org: { data in
        var many = data["many"]?.array ?? []
        many.append([
          "object": "Site_Visit__c", "owner": "rosa@foreign.example", "count": JSONValue(visits),
          "values": [
            "Name": "Yard #, \"north\"\nand Zoë's", "Serial__c": "more-#",
            "Visit_Date__c": "2026-03-01", "Distance__c": 1.5e9, "Account__c": "@tiny",
          ],
        ])
        data["many"] = .array(many)
        change(&data)
      })
  }

  private static let mishaps: JSONValue = {
    func rate(_ often: Double, _ most: Int) -> JSONValue {
      .array([JSONValue(often), JSONValue(most)])
    }
    return [
      "session": rate(0.1, 2), "page 200": rate(0.04, 3), "page 503": rate(0.04, 3),
      "unavailable": rate(0.04, 2), "error 500": rate(0.03, 2), "cut before": rate(0.03, 2),
      "cut after": rate(0.04, 2), "lock": rate(0.1, 3), "forgotten": rate(0.1, 1),
    ]
  }()

  @Test(arguments: 1...max(2, CampaignSize.secondOrgJobs.count))
  func `stores are the org's records, and each job's edit is there once`(_ seed: Int) async throws {
    let scene = try await scene(seed: seed) { data in if seed > 1 { data["mishaps"] = Self.mishaps }
    }
    #expect(try await scene.night().last.findings == [], "\(scene.skipped)")
    #expect(try await scene.differences() == [])
    let work = try await BulkWork(scene)
    let night = try await scene.night()
    #expect(night.verdicts == BulkWork.verdicts)
    #expect(try await work.faults() == [])
    #expect(try await scene.differences() == [])
    let log = try await scene.org.log()
    #expect(log.contains { $0.path.contains("/jobs/query/") && $0.path.contains("/results") })
    // Accounts changed and created, contacts created, visits created and changed, orders deleted.
    #expect(log.count { $0.method == "PUT" && $0.status == 201 } >= (seed == 1 ? 6 : 1))
    #expect(try await scene.night().last.snapshots.filter(\.changed).map(\.username) == [])
  }

  @Test(arguments: 1...2)
  func `a long result is read to its end, whatever its page list says`(_ seed: Int) async throws {
    let scene = try await scene(seed: seed, visits: 5300) { data in data["bulkPageSize"] = 700 }
    #expect(try await scene.night().last.findings == [], "\(scene.skipped)")
    #expect(try await scene.differences() == [])
    #expect(try await scene.org.log().contains { $0.path.contains("/resultPages") })
  }

  // MARK: faults

  private static let queryRequests: [(method: String, path: String)] = [
    ("POST", "/jobs/query"), ("GET", "/jobs/query/7"), ("GET", "/results"),
  ]

  private static let ingestRequests: [(method: String, path: String)] = [
    ("POST", "/jobs/ingest"), ("PUT", "/batches"), ("PATCH", "/jobs/ingest/"),
    ("GET", "/jobs/ingest/7"), ("GET", "/successfulResults"), ("GET", "/failedResults"),
  ]

  /// Faults that cost a job its answer first, then the others.
  private static let faults = {
    let first = ["cut after", "session", "page 200", "error 500", "redirect"]
    let all = SecondOrgFaultTests.faults
    return
      (first.compactMap { kind in all.first { $0.kind == kind } }
      + all.filter { !first.contains($0.kind) }).prefix(CampaignSize.secondOrgJobFaults.count)
  }()

  @Test(arguments: faults)
  func `a temporary fault of a job costs nothing`(_ fault: SecondOrgFaultTests.Fault) async throws {
    let place = Self.faults.firstIndex { $0.kind == fault.kind } ?? 0
    let (query, ingest) = (
      Self.queryRequests[place % Self.queryRequests.count],
      Self.ingestRequests[place % Self.ingestRequests.count]
    )
    let scene = try await scene(seed: 3)
    try await scene.org.order([
      "kind": .string(fault.kind), "method": .string(query.method), "path": .string(query.path),
    ])
    _ = try? await scene.night()
    #expect(try await scene.night().last.findings == [], "\(query): \(scene.skipped)")
    #expect(try await scene.differences() == [], "\(query)")
    let work = try await BulkWork(scene)
    try await scene.org.order([
      "kind": .string(fault.kind), "method": .string(ingest.method), "path": .string(ingest.path),
    ])
    var verdicts: [Verdict: Int] = [:]
    for _ in 0..<3 {
      guard let night = try? await scene.night() else { continue }
      verdicts.merge(night.verdicts.filter(\.key.isSettled)) { $0 + $1 }
    }
    #expect(verdicts == BulkWork.verdicts.filter(\.key.isSettled), "\(ingest)")
    #expect(try await work.faults() == [], "\(ingest)")
    #expect(try await scene.differences() == [], "\(ingest)")
  }

  @Test(arguments: ["page 200", "error 500", "cut before", "forgotten"])
  func `results that never arrive do not fail the run`(_ kind: String) async throws {
    let scene = try await scene(seed: 2)
    try await scene.org.order(
      ["kind": .string(kind), "path": "/results", "times": 100_000],
      ["kind": .string(kind), "path": "/successfulResults", "times": 100_000],
      ["kind": .string(kind), "path": "/failedResults", "times": 100_000])
    let first = try await scene.run()
    #expect(first.findings == [], "\(scene.skipped)")
    #expect(first.warnings.contains { $0.contains("so all records are read by pages") })
    #expect(try await scene.differences() == [])
    let work = try await BulkWork(scene)
    let second = try await scene.run()
    #expect(second.findings == [.unsettledEdits], "\(second.warnings)")
    // Edits sent in requests are resolved; a forgotten job leaves no edit unconfirmed.
    #expect(second.verdicts[.conflict] == 1)
    #expect((second.verdicts[.unconfirmed] == nil) == (kind == "forgotten"), "\(second.verdicts)")
    #expect(second.snapshots.count == 3)
    try await scene.org.order()
    _ = try await scene.night()
    #expect(try await work.faults() == [])
    #expect(try await scene.differences() == [])
  }
}
