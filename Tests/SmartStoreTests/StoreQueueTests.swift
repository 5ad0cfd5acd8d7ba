import SmartStore
import System
import TestSupport
import Testing

/// One file, several tasks and several users.
///
/// Another queue acquires the same lock as another process would, since the lock belongs to the
/// open file and not to the process.
@Suite struct StoreQueueTests {
  struct Account: Codable, Hashable, Sendable {
    var Id: String
    var Name: String
    var Employees: Int?
  }

  private let directory = TemporaryDirectory("queue")
  private var path: String { directory.file("store.sqlite") }
  private static let all = QuerySpec(soupName: "accounts", .all, orderPath: "Id", pageSize: 1_000)

  private func queue(waitSeconds: Int = 30) async throws -> StoreQueue {
    let queue = try StoreQueue(path, creating: .android, waitSeconds: waitSeconds)
    try await queue.write { store in
      try store.registerSoup(
        "accounts", indexSpecs: ["Id", "Name"].map { IndexSpec(path: $0, type: .string) })
    }
    return queue
  }

  @Test func `values of a type are written and read back`() async throws {
    let queue = try await queue()
    let written = [
      Account(Id: "001A", Name: "Åse / \"Søn\" 👩‍👩‍👧", Employees: 9_007_199_254_740_993),
      Account(Id: "001B", Name: "", Employees: nil),
    ]
    let ids = try await queue.write { try $0.upsert(written, into: "accounts") }
    #expect(ids == [1, 2])
    #expect(try await queue.read { try $0.query(Account.self, Self.all) } == written)
    // By external ID: the second one is replaced, not duplicated.
    let changed = Account(Id: "001B", Name: "B", Employees: 1)
    let id = try await queue.write {
      try $0.upsert(changed, into: "accounts", externalIDPath: "Id")
    }
    #expect(id == 2)
    #expect(try await queue.read { try $0.query(Account.self, Self.all) } == [written[0], changed])
    try await queue.close()
  }

  @Test
  func `a non-object and another type are rejected with position, without values`() async throws {
    let queue = try await queue()
    let text = await #expect(throws: StoreError.self) {
      try await queue.write { try $0.upsert([1, 2], into: "accounts") }
    }
    #expect(text?.description.contains("element 0 for soup \"accounts\"") == true)
    try await queue.write {
      _ = try $0.upsert([#"{"Id":"1","Name":"secret"}"#, #"{"Id":"2"}"#], into: "accounts")
    }
    let error = await #expect(throws: StoreError.self) {
      try await queue.read { try $0.query(Account.self, Self.all) }
    }
    #expect(error?.description.contains("element 1") == true)
    #expect(error?.description.contains("Name") == true)
    #expect(error?.description.contains("secret") == false)
    try await queue.close()
  }

  @Test func `a write is all or nothing, and a read changes nothing`() async throws {
    struct Stop: Error {}
    let queue = try await queue()
    await #expect(throws: Stop.self) {
      try await queue.write { store in
        try store.upsert(Account(Id: "1", Name: "A"), into: "accounts")
        throw Stop()
      }
    }
    await #expect(throws: StoreError.self) {
      try await queue.read { try $0.upsert(Account(Id: "1", Name: "A"), into: "accounts") }
    }
    #expect(try await queue.read { try $0.count(of: "accounts") } == 0)
    try await queue.close()
    await #expect(throws: StoreError.closed(path: path)) {
      try await queue.read { try $0.count(of: "accounts") }
    }
  }

  @Test func `hundreds of tasks on two queues of one file lose no write`() async throws {
    let first = try await queue()
    let second = try StoreQueue(path, waitSeconds: 30)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        let queue = number.isMultiple(of: 2) ? first : second
        group.addTask {
          // A read and a write in one piece: no other work comes between them.
          try await queue.write { store in
            let last = try store.query(Account.self, Self.all).last?.Employees ?? 0
            try store.upsert(
              Account(Id: String(format: "%04d", last + 1), Name: "n", Employees: last + 1),
              into: "accounts")
          }
        }
      }
      try await group.waitForAll()
    }
    let numbers = try await second.read { try $0.query(Account.self, Self.all).map(\.Employees) }
    #expect(numbers == (1...200).map(Optional.init))
    try await first.close()
    try await second.close()
  }

  @Test func `a store that another process writes is waited for, then in use`() async throws {
    let queue = try await queue(waitSeconds: 0)
    let lock = try FileLock(path + ".lock", note: "a test")
    let error = await #expect(throws: StoreError.self) {
      try await queue.read { try $0.count(of: "accounts") }
    }
    #expect(error?.description.contains("has been in use by process") == true)
    lock.close()
    #expect(try await queue.read { try $0.count(of: "accounts") } == 0)
    // Readers do not exclude each other.
    let reader = try FileLock(path + ".lock", exclusive: false, note: nil)
    #expect(try await queue.read { try $0.count(of: "accounts") } == 0)
    await #expect(throws: StoreError.self) {
      try await queue.write { try $0.clearSoup("accounts") }
    }
    reader.close()
    try await queue.close()
  }

  @Test func `changes of a soup are sent to its observers, also those of others`() async throws {
    let queue = try await queue()
    try await queue.write { store in
      try store.registerSoup("cases", indexSpecs: [IndexSpec(path: "Id", type: .string)])
    }
    var changes = await queue.changes(of: "accounts").makeAsyncIterator()
    try await queue.write { _ = try $0.upsert([#"{"Id":"5"}"#], into: "cases") }
    try await queue.write { _ = try $0.upsert(Account(Id: "1", Name: "A"), into: "accounts") }
    #expect(await changes.next() == SoupChange(soup: "accounts", isFromElsewhere: false))
    // Another user of the file alters the soup: this queue reads the soup's description again.
    let other = try StoreQueue(path)
    try await other.write { store in
      try store.alterSoup(
        "accounts", indexSpecs: ["Id", "Employees"].map { IndexSpec(path: $0, type: .string) },
        reIndexData: true)
    }
    let paths = try await queue.read { try $0.indexSpecs(of: "accounts").map(\.path) }
    #expect(paths == ["Id", "Employees"])
    #expect(await changes.next() == SoupChange(soup: "accounts", isFromElsewhere: true))
    try await queue.write { try $0.clearSoup("accounts") }
    #expect(await changes.next() == SoupChange(soup: "accounts", isFromElsewhere: false))
    try await queue.close()
    #expect(await changes.next() == nil)
    try await other.close()
  }
}
