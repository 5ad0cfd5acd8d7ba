import JSON
import MobileSync
import SmartStore
import Synchronization
import Testing

/// Like the SDK's TestSyncUpTarget: accepts changes without an org, or refuses them.
private final class TestTarget: CustomSyncUpTarget {
  enum Behavior: Sendable { case noFail, softFail, hardFail }
  struct Failure: Error {}

  let behavior: Behavior
  let date: Result<RecordModificationDate, Failure>
  private let state = Mutex<[String]>([])
  var calls: [String] { state.withLock { $0 } }
  init(_ behavior: Behavior, date: Result<RecordModificationDate, Failure> = .success(.unknown)) {
    self.behavior = behavior
    self.date = date
  }

  private func answer(_ call: String, _ id: String?) throws -> CustomSaveResult {
    switch behavior {
    case .noFail:
      state.withLock { $0.append(call) }
      return .saved(id: id)
    case .softFail: return .refused(code: "SOME_CODE", message: "it is refused")
    case .hardFail: throw Failure()
    }
  }

  func createOnServer(
    objectType: String, fields: String, org: SyncOrg
  ) async throws -> CustomSaveResult {
    let count = calls.count
    return try answer("create \(objectType) \(fields)", "server_\(count)")
  }

  func updateOnServer(objectType: String, objectId: String, fields: String, org: SyncOrg)
    async throws -> CustomSaveResult
  { try answer("update \(objectType) \(objectId)", nil) }

  func deleteOnServer(
    objectType: String, objectId: String, org: SyncOrg
  ) async throws -> CustomSaveResult {
    try answer("delete \(objectType) \(objectId)", nil)
  }

  func fetchLastModificationDate(
    objectType: String, objectId: String, org: SyncOrg
  ) async throws -> RecordModificationDate {
    try date.get()
  }
}

/// Rows 24–36 of the conformance table (SyncManagerTest, SyncManagerTests).
@Suite struct CustomSyncUpTests {
  private static let className = "com.example.TestSyncUpTarget"
  private static let newer = "2030-01-01T00:00:00.000+0000"

  enum Operation: String, Sendable, CaseIterable { case create, update, delete }

  private func store(_ target: TestTarget, _ platform: Platform) async throws -> ManagedStore {
    var targets = CustomTargets()
    targets.add(Self.className, syncUp: { _ in target })
    return try await ManagedStore(platform, customTargets: targets)
  }

  private func up(
    _ store: ManagedStore, _ mode: MergeMode = .overwrite
  ) async throws -> (state: SyncState, report: SyncReport, story: [String]) {
    let target = try SyncTarget(
      stored: ["androidImpl": .string(Self.className), "more": [1]], type: .syncUp)
    let run = try await store.manager.syncUp(
      target: target, options: SyncOptions(fieldlist: ["Name"], mergeMode: mode),
      soupName: ManagedStore.accounts)
    let story = await run.story
    return (await run.lastState, await run.report, story)
  }

  private func change(_ store: ManagedStore, _ operation: Operation) async throws -> [String] {
    if operation == .create { return try await store.createAccounts(["A", "B", "C"]) }
    let ids = Array(try await store.syncedAccounts(5)[..<3])
    if operation == .update {
      try await store.editAccounts(ids)
    } else {
      try await store.delete(ids)
    }
    return ids
  }

  /// A target's response to a change or, under LEAVE_IF_CHANGED, to the request for its date.
  private enum Answer: CaseIterable { case saved, refused, thrown, newer, noDate }

  private func target(_ answer: Answer) -> TestTarget {
    switch answer {
    case .saved: TestTarget(.noFail)
    case .refused: TestTarget(.softFail)
    case .thrown: TestTarget(.hardFail)
    case .newer: TestTarget(.noFail, date: .success(.modified(Self.newer)))
    case .noDate: TestTarget(.noFail, date: .failure(TestTarget.Failure()))
    }
  }

  // SDK: testCustomSyncUpWithLocallyUpdatedRecords (24)
  // SDK: testCustomSyncUpWithLocallyCreatedRecords (25)
  // SDK: testCustomSyncUpWithLocallyDeletedRecords (26)
  // SDK: testSoftFailingCustomSyncUpWithLocallyUpdatedRecords (27)
  // SDK: testHardFailingCustomSyncUpWithLocallyUpdatedRecords (28)
  // SDK: testSoftFailingCustomSyncUpWithLocallyCreatedRecords (29)
  // SDK: testHardFailingCustomSyncUpWithLocallyCreatedRecords (30)
  // SDK: testSoftFailingCustomSyncUpWithLocallyDeletedRecords (31)
  // SDK: testHardFailingCustomSyncUpWithLocallyDeletedRecords (32)
  // SDK: testCustomSyncUpWithLocallyUpdatedRecordsWithoutOverwrite (33)
  // SDK: testCustomSyncUpWithLocallyDeletedRecordsWithoutOverwrite (34)
  // SDK: testCustomSyncUpWithFetchModificationDateFailure (35)
  // SDK: testCustomSyncUpWithSyncUpFailure (36)
  @Test(arguments: Platform.allCases, Operation.allCases)
  func `a custom target gets each change, and its results are stored`(
    _ platform: Platform, _ operation: Operation
  ) async throws {
    for answer in Answer.allCases {
      let asksDates = answer == .newer || answer == .noDate
      // A create has no date.
      if asksDates, operation == .create { continue }
      let target = target(answer)
      let store = try await store(target, platform)
      let ids = try await change(store, operation)
      let before = store.org.server.log.count
      let end = try await up(store, asksDates ? .leaveIfChanged : .overwrite)
      // The org itself gets no request.
      #expect(store.org.server.log.count == before)
      #expect(
        end.story == ["RUNNING 0/-1", "RUNNING 0/3"]
          + (answer == .thrown ? ["FAILED 0/3"] : ["RUNNING 33/3", "RUNNING 66/3", "DONE 100/3"]))
      #expect(end.report.warnings.count == (answer == .noDate ? 3 : 0))
      #expect(target.calls.count == (answer == .saved ? 3 : 0))
      let outcome: SyncReport.Record.Outcome? =
        switch answer {
        case .saved: .sent
        case .refused: .failed(code: "SOME_CODE", message: "it is refused")
        case .newer: .left(.changedOnServer)
        case .noDate: .left(.serverUnknown)
        case .thrown: nil
        }
      #expect(end.report.records.map(\.outcome) == (outcome.map { [$0, $0, $0] } ?? []))
      let elements = try await store.elements()
      guard answer == .saved else {
        #expect(try await store.dirty() == ids.sorted())
        let flags = [Operation.create: "lc", .update: "lu", .delete: "ld"][operation]
        for id in ids {
          #expect(try await store.flags(id) == flags)
          let error = try await store.element(id)?["__last_error__"]?.string
          #expect((error != nil) == (answer == .refused))
          if let error { #expect(try JSONValue(parsing: error)[0]?["errorCode"] == "SOME_CODE") }
        }
        continue
      }
      #expect(try await store.dirty().isEmpty)
      switch operation {
      case .create:
        #expect(target.calls == ["A", "B", "C"].map { #"create Account {"Name":"\#($0)"}"# })
        #expect(elements.map { $0["Id"]?.string } == ["server_0", "server_1", "server_2"])
      case .update, .delete:
        #expect(target.calls == ids.map { "\(operation) Account \($0)" })
        #expect(elements.count == (operation == .update ? 5 : 2))
      }
    }
  }

  @Test func `a custom target recreates only records that it knows to be deleted`() async throws {
    final class Absent: CustomSyncUpTarget {
      let date: RecordModificationDate
      init(_ date: RecordModificationDate) { self.date = date }
      func createOnServer(
        objectType: String, fields: String, org: SyncOrg
      ) async throws -> CustomSaveResult { .saved(id: "anew") }
      func updateOnServer(
        objectType: String, objectId: String, fields: String, org: SyncOrg
      ) async throws -> CustomSaveResult { .notFound }
      func deleteOnServer(
        objectType: String, objectId: String, org: SyncOrg
      ) async throws -> CustomSaveResult { .notFound }
      func fetchLastModificationDate(
        objectType: String, objectId: String, org: SyncOrg
      ) async throws -> RecordModificationDate { date }
    }
    for date in [RecordModificationDate.deleted, .unknown] {
      var targets = CustomTargets()
      targets.add(Self.className, syncUp: { _ in Absent(date) })
      let store = try await ManagedStore(customTargets: targets)
      let ids = try await store.syncedAccounts(1)
      try await store.editAccounts(ids)
      let end = try await up(store)
      if date == .deleted {
        #expect(end.report.outcomes["anew"] == .recreated)
      } else {
        #expect(try await store.flags(ids[0]) == "lu")
        #expect(
          end.report.outcomes[ids[0]].map { if case .failed = $0 { true } else { false } } == true)
      }
    }
  }
}
