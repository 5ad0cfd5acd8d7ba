import JSON
import LocalOrg
import MobileSync
import SmartStore
import Synchronization
import Testing

/// What the SDK's TestSyncUpTarget does: takes changes without an org, or refuses them.
private final class TestTarget: CustomSyncUpTarget {
  enum Behavior: Sendable { case noFail, softFail, hardFail }
  struct Failure: Error {}

  let behavior: Behavior
  let date: Result<RecordModificationDate, Failure>
  private let state = Mutex<[String]>([])
  var calls: [String] { state.withLock { $0 } }

  init(
    _ behavior: Behavior,
    date: Result<RecordModificationDate, Failure> = .success(.unknown)
  ) {
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

  func updateOnServer(
    objectType: String, objectId: String, fields: String, org: SyncOrg
  ) async throws -> CustomSaveResult {
    try answer("update \(objectType) \(objectId)", nil)
  }

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

  /// Makes three local changes of a kind and answers their ids.
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

  // SDK: testCustomSyncUpWithLocallyUpdatedRecords (24)
  // SDK: testCustomSyncUpWithLocallyCreatedRecords (25)
  // SDK: testCustomSyncUpWithLocallyDeletedRecords (26)
  @Test(arguments: Platform.allCases, Operation.allCases)
  func `a program's own target is handed each change, and its answers are entered`(
    _ platform: Platform, _ operation: Operation
  ) async throws {
    let target = TestTarget(.noFail)
    let store = try await store(target, platform)
    let ids = try await change(store, operation)
    let before = store.org.server.log.count
    let end = try await up(store)
    // The org itself is asked nothing.
    #expect(store.org.server.log.count == before)
    #expect(
      end.story == [
        "RUNNING 0/-1", "RUNNING 0/3", "RUNNING 33/3", "RUNNING 66/3", "DONE 100/3",
      ])
    #expect(try await store.dirty().isEmpty)
    let elements = try await store.elements()
    switch operation {
    case .create:
      #expect(target.calls == ["A", "B", "C"].map { #"create Account {"Name":"\#($0)"}"# })
      #expect(elements.map { $0["Id"]?.string } == ["server_0", "server_1", "server_2"])
    case .update:
      #expect(target.calls == ids.map { "update Account \($0)" })
      #expect(elements.count == 5)
    case .delete:
      #expect(target.calls == ids.map { "delete Account \($0)" })
      #expect(elements.count == 2)
    }
    #expect(end.report.records.map(\.outcome) == [.sent, .sent, .sent])
  }

  // SDK: testSoftFailingCustomSyncUpWithLocallyUpdatedRecords (27)
  // SDK: testSoftFailingCustomSyncUpWithLocallyCreatedRecords (29)
  // SDK: testSoftFailingCustomSyncUpWithLocallyDeletedRecords (31)
  @Test(arguments: Platform.allCases, Operation.allCases)
  func `what a program's own target refuses stays, and the sync is done`(
    _ platform: Platform, _ operation: Operation
  ) async throws {
    let target = TestTarget(.softFail)
    let store = try await store(target, platform)
    let ids = try await change(store, operation)
    let end = try await up(store)
    #expect(end.state.status == .done)
    #expect(target.calls.isEmpty)
    let flags = [Operation.create: "lc", .update: "lu", .delete: "ld"][operation]
    for id in ids {
      #expect(try await store.flags(id) == flags)
      let error = try #require(try await store.element(id)?["__last_error__"]?.string)
      #expect(try JSONValue(parsing: error)[0]?["errorCode"] == "SOME_CODE")
      #expect(
        end.report.outcomes[id] == .failed(code: "SOME_CODE", message: "it is refused"))
    }
  }

  // SDK: testHardFailingCustomSyncUpWithLocallyUpdatedRecords (28)
  // SDK: testHardFailingCustomSyncUpWithLocallyCreatedRecords (30)
  // SDK: testHardFailingCustomSyncUpWithLocallyDeletedRecords (32)
  // SDK: testCustomSyncUpWithSyncUpFailure (36)
  @Test(arguments: Platform.allCases, Operation.allCases)
  func `what a program's own target throws fails the sync before the first record is done`(
    _ platform: Platform, _ operation: Operation
  ) async throws {
    let target = TestTarget(.hardFail)
    let store = try await store(target, platform)
    let ids = try await change(store, operation)
    let end = try await up(store)
    #expect(end.story == ["RUNNING 0/-1", "RUNNING 0/3", "FAILED 0/3"])
    #expect(try await store.dirty() == ids.sorted())
    #expect(target.calls.isEmpty)
  }

  // SDK: testCustomSyncUpWithLocallyUpdatedRecordsWithoutOverwrite (33)
  // SDK: testCustomSyncUpWithLocallyDeletedRecordsWithoutOverwrite (34)
  @Test(arguments: Platform.allCases, [Operation.update, .delete])
  func `under LEAVE_IF_CHANGED a program's own target is asked for dates`(
    _ platform: Platform, _ operation: Operation
  ) async throws {
    let target = TestTarget(.noFail, date: .success(.modified(Self.newer)))
    let store = try await store(target, platform)
    let ids = try await change(store, operation)
    let end = try await up(store, .leaveIfChanged)
    #expect(end.state.status == .done)
    #expect(target.calls.isEmpty)
    #expect(try await store.dirty() == ids.sorted())
    for id in ids { #expect(end.report.outcomes[id] == .left(.changedOnServer)) }
  }

  // SDK: testCustomSyncUpWithFetchModificationDateFailure (35)
  @Test(arguments: Platform.allCases, [Operation.update, .delete])
  func `a date that a program's own target cannot fetch leaves the record, and says so`(
    _ platform: Platform, _ operation: Operation
  ) async throws {
    let target = TestTarget(.noFail, date: .failure(TestTarget.Failure()))
    let store = try await store(target, platform)
    let ids = try await change(store, operation)
    let end = try await up(store, .leaveIfChanged)
    #expect(end.state.status == .done)
    #expect(target.calls.isEmpty)
    for id in ids { #expect(end.report.outcomes[id] == .left(.serverUnknown)) }
    #expect(end.report.warnings.count == 3)
  }

  @Test func `a program's own target makes anew only what it knows to be deleted`() async throws {
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
