import Foundation
import JSON
import LocalOrg
import MobileSync
import Salesforce
import SmartStore
import Snapshots
import System
import TestSupport
import Testing

/// Stores with records of other users' requests, compared with those of users who fetch all.
@Suite struct PooledPrimeTests {
  typealias Kind = PoolScene.Kind

  /// The records of each user's sample.
  private static let sample = 20

  @Test(arguments: Kind.allCases)
  func `each record is fetched once, and the stores are the same`(_ kind: Kind) async throws {
    let scene = try PoolScene(users: 4, sharing: 60)
    let direct = try await scene.rows(kind)
    let pool = try scene.pool()
    var snapshots: [Snapshot] = []
    let before = scene.org.server.log.count
    for user in scene.users.indices {
      let snapshot = try await scene.snapshot(user, kind, pool: pool)
      let outcome = try await snapshot.prime()
      #expect(outcome.soups.map(\.fetched) == [61])
      #expect(try snapshot.rows() == direct[user])
      snapshots.append(snapshot)
    }
    #expect(pool.counts.used == 4 * 61)
    #expect(pool.counts.fetched == 60 + 4 + 3 * Self.sample)
    #expect(scene.org.server.log.totals(after: before).records == pool.counts.fetched)
    #expect(pool.unlike.isEmpty && pool.misledReaders.isEmpty)
    // Nothing has changed since.
    for snapshot in snapshots { #expect(try await !snapshot.prime().changed) }
    #expect(try Files.list(scene.directory.path).isEmpty)
  }

  @Test func `a briefcase needs no request more than without a pool`() async throws {
    let scene = try PoolScene(users: 3, sharing: 60)
    func retrieves(_ pool: RecordPool?) async throws -> Int {
      let before = scene.org.requests(.retrieve)
      for user in scene.users.indices {
        try await scene.snapshot(user, .briefcase, pool: pool).prime()
      }
      return scene.org.requests(.retrieve) - before
    }
    let direct = try await retrieves(nil)
    #expect(direct == 3)
    #expect(try await retrieves(scene.pool()) == direct)
  }

  @Test(arguments: Kind.allCases)
  func `users with mostly the same records cost little more than the distinct ones`(
    _ kind: Kind
  ) async throws {
    let (own, users) = (60, 5)
    let scene = try PoolScene(users: users)
    let count = try scene.makeManyAccounts(shared: 2000, own: own)
    func totals(_ pool: RecordPool?) async throws -> RequestLog.Totals {
      let wide = WideCalls()
      var snapshots: [Snapshot] = []
      for user in scene.users.indices {
        let snapshot = try await scene.snapshot(user, kind, pool: pool)
        snapshot.wide = wide
        snapshots.append(snapshot)
      }
      let before = scene.org.server.log.count
      for snapshot in snapshots {
        #expect(try await snapshot.prime().soups.map(\.total) == [count])
      }
      return scene.org.server.log.totals(after: before)
    }
    let (direct, pooled) = (try await totals(nil), try await totals(scene.pool()))
    #expect(direct.records == users * count)
    #expect(pooled.records == count + (users - 1) * (own + Self.sample))
    #expect(pooled.ids == users * count)
    // The IDs of a briefcase are listed anyway. Those of a query are one call more for each user,
    // once the ranges are known.
    let more = kind == .briefcase ? 0 : users + 2
    #expect(pooled.calls <= direct.calls + more, "\(pooled.calls), \(direct.calls)")
    #expect(kind == .soql || pooled.bytes < direct.bytes)
  }

  @Test(arguments: Kind.allCases)
  func `users at the same time fetch each record once`(_ kind: Kind) async throws {
    let scene = try PoolScene(users: 6, sharing: 100)
    let direct = try await scene.rows(kind)
    let pool = try scene.pool()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for user in scene.users.indices {
        group.addTask {
          let rows = try await scene.primed(user, kind, pool: pool).rows()
          #expect(rows == direct[user])
        }
      }
      try await group.waitForAll()
    }
    #expect(pool.counts.used == 6 * 101)
    #expect(pool.counts.fetched <= 100 + 6 + 6 * Self.sample)
  }

  @Test(arguments: Kind.allCases, [false, true])
  func `the values of a field that depends on the user, or reads what one cannot see, are own`(
    _ kind: Kind, _ isLate: Bool
  ) async throws {
    let scene = try PoolScene(users: 3)
    try scene.setUp(
      #"""
      {"objects": {"Account": {"fields": {
         "Seen__c": {"type": "string", "formula": "$User.LastName & Name"},
         "Both__c": {"type": "string", "formula": "Phone & Fax"},
         "Secret__c": {"type": "encryptedstring", "length": 20}}}},
       "permissionSets": [{"name": "Secrets", "users": ["u1@example.com"],
         "viewEncryptedData": true}],
       "profiles": [{"name": "Blind", "users": ["u2@example.com"],
         "objects": {"Account": {"fields": {"Fax": "none"}}}}]}
      """#)
    let ids = try scene.makeAccounts(shared: 40)
    for id in ids { try scene.org.update("Account", id, ["Secret__c": "secret", "Fax": "1"]) }
    for (fields, sharers) in [
      (["Seen__c"], 0), (["Secret__c"], 0), (["Name", "Both__c"], 1), (["Name", "Seen__c"], 2),
      (["Seen__c", "Name", "Phone", "Secret__c"], 2),
    ] {
      let direct = try await scene.rows(kind, fields)
      let pool = try scene.pool()
      for user in scene.users.indices {
        #expect(
          try await scene.primed(user, kind, fields, pool: pool, isLate: isLate && pool.hasShelves)
            .rows() == direct[user], "\(fields), \(user)")
      }
      // The third user cannot see a field that one of the formulas reads.
      let spared = sharers * (40 - Self.sample)
      #expect(pool.counts.used - pool.counts.fetched == spared, "\(fields)")
      #expect(pool.unlike.isEmpty)
    }
  }

  /// Fields of which one is the user's own, and its formula.
  private static let own = (["Name", "Tag__c", "Phone"], formula("$User.LastName & '/' & Phone"))

  @Test(arguments: Kind.allCases)
  func `an own value belongs to the same state as the rest of its record`(_ kind: Kind) async throws
  {
    for nth in kind == .soql ? 1...2 : 2...2 {
      let scene = try PoolScene(users: 2)
      let ids = try scene.makeAccounts(shared: 60)
      try scene.setUp(Self.own.1)
      let (pool, admin) = (try scene.pool(), scene.org.admin)
      try await scene.snapshot(0, kind, Self.own.0, pool: pool).prime()
      // The briefcase's first request is for the sample, the second for own values; the first query
      // lists the records with them.
      scene.org.server.faults.add(
        .init(kind: kind == .soql ? .query : .retrieve, user: scene.users[1]), nth: nth,
        .mutate { org in
          for id in ids.prefix(40) {
            _ = org.update("Account", id: id, ["Phone": "new"], as: admin)
          }
        })
      let second = try await scene.primed(1, kind, Self.own.0, pool: pool)
      var tags: Set<String> = []
      for element in try second.elements("accounts", .ios) {
        let (tag, phone) = (element["Tag__c"]?.string, element["Phone"]?.string ?? "")
        #expect(tag == "\(scene.users[1])/\(phone)")
        tags.insert(tag ?? "")
      }
      #expect(tags.count > 20 && pool.unlike.isEmpty)
    }
  }

  /// The second request for own values fails in different ways.
  @Test(arguments: [true, false])
  func `a user without own values fetches those records, or fails alone`(
    _ isNull: Bool
  ) async throws {
    let scene = try PoolScene(users: 3)
    let ids = try scene.makeAccounts(shared: 60)
    try scene.setUp(Self.own.1)
    let direct = try await scene.rows(.briefcase, Self.own.0)
    let pool = try scene.pool()
    for id in ids.prefix(isNull ? 10 : 1) {
      scene.org.server.faults.add(
        .init(kind: .retrieve, user: scene.users[1]), nth: 2,
        isNull ? .nullEntry(id: id) : .expireSession)
    }
    for user in scene.users.indices {
      let snapshot = try await scene.snapshot(user, .briefcase, Self.own.0, pool: pool)
      if user == 1, !isNull {
        await #expect(throws: SyncError.self) { try await snapshot.prime() }
        #expect(snapshot.files.isEmpty)
      } else {
        #expect(try await snapshot.prime().soups.map(\.unreadable) == [[]])
        #expect(try snapshot.rows() == direct[user])
      }
    }
    #expect(scene.org.server.faults.fired > 0 && pool.unlike.isEmpty)
  }

  @Test(arguments: [(Kind.briefcase, 0), (.briefcase, 1), (.briefcase, 2), (.soql, 0), (.soql, 1)])
  func `a part of a call for own values that fails is requested separately`(
    _ kind: Kind, _ part: Int
  ) async throws {
    let scene = try PoolScene(users: 3)
    let own = 20
    let count = try scene.makeManyAccounts(shared: 2000, own: own)
    try scene.setUp(Self.own.1)
    let direct = try await scene.rows(kind, Self.own.0)
    let (pool, wide) = (try scene.pool(), WideCalls())
    var calls: [Int] = []
    for user in scene.users.indices {
      let snapshot = try await scene.snapshot(user, kind, Self.own.0, pool: pool)
      snapshot.wide = wide
      // The call has the sample and the values of a briefcase, or the list of a query with them.
      if user == 1 {
        scene.org.server.faults.add(
          .kind(.composite), .refusePart(part, status: 400, code: "QUERY_TIMEOUT"))
      }
      let before = scene.org.server.log.count
      try await snapshot.prime()
      calls.append(scene.org.server.log.totals(after: before).calls)
      #expect(try snapshot.rows() == direct[user])
    }
    #expect(scene.org.server.faults.fired == 1)
    // What has changed in a query is listed after all ranges, so it is listed again.
    #expect(calls[1] == calls[2] + (kind == .soql ? 2 : 1), "\(calls)")
    #expect(pool.counts.used - pool.counts.fetched == 2 * (count - own - Self.sample))
    #expect(pool.unlike.isEmpty)
  }

  @Test(arguments: Kind.allCases, [true, false])
  func `if an own value of the sample differs, no one keeps records, unless it may move`(
    _ kind: Kind, _ mayMove: Bool
  ) async throws {
    let scene = try PoolScene(users: 3, sharing: 60)
    try scene.setUp(Self.formula("$User.LastName & " + (mayMove ? "TEXT(LEN(Name))" : "Name")))
    let pool = try scene.pool()
    try await scene.snapshot(0, kind, Self.own.0, pool: pool).prime()
    // Between the request for the own values and that for the sample.
    scene.org.server.faults.add(
      .init(kind: kind == .soql ? .query : .retrieve, user: scene.users[1]), nth: 2,
      .mutate { try $0.setUp(OrgSetup(parsing: Array(Self.formula("'x' & $User.LastName").utf8))) })
    try await scene.snapshot(1, kind, Self.own.0, pool: pool).prime()
    #expect(pool.unlike.map(\.field) == (mayMove ? [] : ["Tag__c"]))
    #expect(pool.counts.used - pool.counts.fetched == (mayMove ? 60 - Self.sample : 0))
  }

  @Test(arguments: [true, false])
  func `own values that need more calls than the records do are not fetched next to them`(
    _ mayCombine: Bool
  ) async throws {
    #expect(RecordPool.calls([20, 8980]) == 2 && RecordPool.calls([9000]) == 1)
    #expect(RecordPool.calls([20, 4000]) == 1 && RecordPool.calls([1, 0, 1], width: 1) == 2)
    let scene = try PoolScene(users: 3, sharing: 60)
    try scene.setUp(Self.own.1)
    let direct = try await scene.rows(.briefcase, Self.own.0)
    let (pool, wide) = (try scene.pool(.auto), WideCalls())
    if !mayCombine {
      for _ in 0..<2 {
        wide.width(PrimeInput.key("userstore", "down"), .records).noteFailure(of: 2)
      }
    }
    let before = scene.org.server.log.count
    for user in scene.users.indices {
      let snapshot = try await scene.snapshot(user, .briefcase, Self.own.0, pool: pool)
      snapshot.wide = wide
      try await snapshot.prime()
      #expect(try snapshot.rows() == direct[user])
    }
    // A description, a list and the records.
    #expect(scene.org.server.log.totals(after: before).calls == 3 * 3)
    #expect(pool.counts.used - pool.counts.fetched == (mayCombine ? 2 * (60 - Self.sample) : 0))
  }

  private static func formula(_ text: String) -> String {
    #"{"objects": {"Account": {"fields": {"Tag__c": {"type": "string", "formula": "\#(text)"}}}}}"#
  }

  @Test(arguments: Kind.allCases)
  func `if a record of the sample differs, no one keeps records of the class`(
    _ kind: Kind
  ) async throws {
    let scene = try PoolScene(users: 4, sharing: 60)
    let (fields, user) = (["Name", "Tag__c"], "$User.LastName & Name")
    try scene.setUp(Self.formula("UPPER(Name)"))
    let pool = try scene.pool()
    var snapshots: [Snapshot] = []
    for user in scene.users.indices {
      snapshots.append(try await scene.snapshot(user, kind, fields, pool: pool))
    }
    try await snapshots[0].prime()
    try await snapshots[1].prime()
    // The descriptions are those of before.
    try scene.setUp(Self.formula(user))
    try await snapshots[2].prime()
    #expect(pool.unlike.map(\.object) == ["Account"] && pool.unlike.map(\.field) == ["Tag__c"])
    // The first user has no record of another.
    let misled = try #require(scene.org.org.user(named: scene.users[1])).id
    #expect(pool.misledReaders == [misled])
    try await snapshots[3].prime()
    let direct = try await scene.rows(kind, fields)
    for user in 2...3 { #expect(try snapshots[user].rows() == direct[user]) }
    #expect(pool.unlike.count == 1)
  }

  /// Primes two users: the first has claimed the records, and the second has listed them, when
  /// `fault` happens to the first user's request; the second user's request is processed afterwards.
  private func primeTogether(
    _ scene: PoolScene, _ kind: Kind, _ pool: RecordPool, _ fault: Faults.Action
  ) async throws -> (first: Snapshot, second: Snapshot, error: SyncError?) {
    nonisolated(unsafe) let first = try await scene.snapshot(0, kind, pool: pool)
    nonisolated(unsafe) let second = try await scene.snapshot(1, kind, pool: pool)
    // The first query is the list.
    let (request, nth): (LocalOrg.RequestKind, Int) =
      kind == .briefcase ? (.retrieve, 1) : (.query, 2)
    let gates = scene.users.prefix(2).map { user in
      let gate = RequestGate()
      gate.close(scene.org, .init(kind: request, user: user), nth: nth)
      return gate
    }
    scene.org.server.faults.add(.init(kind: request, user: scene.users[0]), nth: nth, fault)
    let one = Task { try await first.prime() }
    await gates[0].reached()
    let other = Task { try await second.prime() }
    await gates[1].reached()
    gates[0].open()
    let result = await one.result
    gates[1].open()
    _ = try await other.value
    do {
      _ = try result.get()
      return (first, second, nil)
    } catch {
      return (first, second, try #require(error as? SyncError))
    }
  }

  @Test(arguments: Kind.allCases)
  func `a record that changes after it was listed is fetched by each user`(
    _ kind: Kind
  ) async throws {
    let scene = try PoolScene(users: 2)
    let ids = try scene.makeAccounts(shared: 60)
    let (pool, admin) = (try scene.pool(), scene.org.admin)
    let (first, second, error) = try await primeTogether(
      scene, kind, pool,
      .mutate { org in
        for id in ids.prefix(40) { _ = org.update("Account", id: id, ["Phone": "new"], as: admin) }
      })
    #expect(error == nil)
    // Of the others' records the second user has at most those that did not change.
    #expect(pool.counts.fetched >= 61 + 1 + 40)
    #expect(pool.unlike.isEmpty)
    let direct = try await scene.rows(kind)
    #expect(try first.rows() == direct[0])
    #expect(try second.rows() == direct[1])
  }

  @Test(arguments: Kind.allCases)
  func `records that change twice in a second are fetched by each user`(
    _ kind: Kind
  ) async throws {
    let scene = try PoolScene(users: 2)
    let ids = try scene.makeAccounts(shared: 60)
    let (pool, org) = (try scene.pool(), scene.org)
    try org.org.setClockStep(0)
    for id in ids.prefix(40) { try org.update("Account", id, ["Phone": "first"]) }
    try await scene.snapshot(0, kind, pool: pool).prime()
    for id in ids.prefix(40) { try org.update("Account", id, ["Phone": "second"]) }
    let second = try await scene.primed(1, kind, pool: pool)
    #expect(try await second.rows() == scene.rows(kind)[1])
    #expect(pool.unlike.isEmpty)
  }

  @Test(arguments: Kind.allCases)
  func `if a user's prime fails, the others fetch its records`(_ kind: Kind) async throws {
    let scene = try PoolScene(users: 3, sharing: 60)
    let direct = try await scene.rows(kind)
    let pool = try scene.pool()
    let (first, second, error) = try await primeTogether(scene, kind, pool, .expireSession)
    #expect(error?.cause?.kind == .authentication)
    #expect(first.files.isEmpty)
    #expect(try second.rows() == direct[1])
    #expect(try await scene.primed(2, kind, pool: pool).rows() == direct[2])
    #expect(pool.counts.fetched == 61 + 1 + Self.sample)
  }

  @Test func `a record that one user cannot read is fetched by the next`() async throws {
    let scene = try PoolScene(users: 3)
    let ids = try scene.makeAccounts(shared: 60)
    let direct = try await scene.rows(.briefcase)
    let pool = try scene.pool()
    scene.org.server.faults.add(
      .init(kind: .retrieve, user: scene.users[0]), .nullEntry(id: ids[7]))
    let first = try await scene.snapshot(0, .briefcase, pool: pool)
    #expect(try await first.prime().soups.map(\.unreadable) == [[ids[7]]])
    for user in 1...2 {
      let snapshot = try await scene.snapshot(user, .briefcase, pool: pool)
      #expect(try await snapshot.prime().soups.map(\.unreadable) == [[]])
      #expect(try snapshot.rows() == direct[user])
    }
    #expect(pool.unlike.isEmpty)
  }

  @Test func `a user whom the org does not return a listed record gets none of others`()
    async throws
  {
    let scene = try PoolScene(users: 3)
    let ids = try scene.makeAccounts(shared: 60)
    let pool = try scene.pool()
    try await scene.snapshot(0, .briefcase, pool: pool).prime()
    // Whatever the sample is, some of these are in it.
    for id in ids.dropFirst(10) {
      scene.org.server.faults.add(
        .init(kind: .retrieve, user: scene.users[1]), times: 9, .nullEntry(id: id))
    }
    let second = try await scene.snapshot(1, .briefcase, pool: pool)
    #expect(try await second.prime().soups.map(\.unreadable.count) == [50])
    #expect(try second.rows().map(\.count) == [11, 11])
    let third = try await scene.snapshot(2, .briefcase, pool: pool)
    #expect(try await third.prime().soups.map(\.total) == [61])
    #expect(pool.unlike.isEmpty && pool.misledReaders.isEmpty)
  }

  @Test(arguments: Kind.allCases, [false, true])
  func `only formulas need a description of each user, who fetches all records without it`(
    _ kind: Kind, _ hasFormula: Bool
  ) async throws {
    let scene = try PoolScene(users: 3, sharing: 60)
    try scene.setUp(Self.formula("UPPER(Name)"))
    let fields = ["Name", hasFormula ? "Tag__c" : "Phone"]
    let direct = try await scene.rows(kind, fields)
    let pool = try scene.pool()
    for request: LocalOrg.RequestKind in [.composite, .describe] {
      scene.org.server.faults.add(
        .init(kind: request, user: scene.users[1]), times: 9,
        .status(403, code: "INSUFFICIENT_ACCESS"))
    }
    for user in scene.users.indices {
      #expect(
        try await scene.primed(user, kind, fields, pool: pool, isLate: user > 0).rows()
          == direct[user])
    }
    let sharers = hasFormula ? 1 : 2
    #expect(pool.counts.used - pool.counts.fetched == sharers * (60 - Self.sample))
    #expect(pool.unlike.isEmpty)
  }

  /// The path by which this process may open the pool's file.
  private static func poolFile(of scene: PoolScene) throws -> String {
    try #require(
      FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").map { "/proc/self/fd/\($0)" }
        .first {
          let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: $0)) ?? ""
          return target.hasPrefix(scene.directory.path) && target.hasSuffix("(deleted)")
        })
  }

  @Test(arguments: Kind.allCases)
  func `the file of the pool has no value of a user's own`(_ kind: Kind) async throws {
    let scene = try PoolScene(users: 2, sharing: 60)
    try scene.setUp(Self.own.1)
    let pool = try scene.pool()
    for user in scene.users.indices {
      let snapshot = try await scene.primed(user, kind, Self.own.0, pool: pool)
      #expect(
        try snapshot.elements("accounts").allSatisfy {
          $0["Tag__c"]?.string?.hasPrefix(scene.users[user] + "/") == true
        })
    }
    let bytes = try Data(contentsOf: URL(filePath: Self.poolFile(of: scene)))
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains("\"Account 7\"") && text.contains("\"Tag__c\":null"))
    for user in scene.users { #expect(!text.contains("\(user)/")) }
  }

  @Test(arguments: Kind.allCases, [false, true])
  func `damaged records of the pool are fetched again`(
    _ kind: Kind, _ isCut: Bool
  ) async throws {
    let scene = try PoolScene(users: 3, sharing: 60)
    let direct = try await scene.rows(kind)
    let pool = try scene.pool()
    try await scene.snapshot(0, kind, pool: pool).prime()
    let handle = try FileHandle(forWritingTo: URL(filePath: Self.poolFile(of: scene)))
    let size = try handle.seekToEnd()
    if isCut {
      try handle.truncate(atOffset: size / 2)
    } else {
      try handle.seek(toOffset: size / 2)
      try handle.write(contentsOf: Data("zzzz".utf8))
    }
    try handle.close()
    for user in 1...2 {
      #expect(try await scene.primed(user, kind, pool: pool).rows() == direct[user])
    }
    #expect(pool.unlike.isEmpty && pool.counts.used > pool.counts.fetched)
  }

  @Test(arguments: Kind.allCases)
  func `a user who cannot read a field gets nothing, described or not`(_ kind: Kind) async throws {
    let scene = try PoolScene(users: 3, sharing: 60)
    try scene.setUp(
      #"""
      {"profiles": [{"name": "Blind", "users": ["u1@example.com"],
         "objects": {"Account": {"fields": {"Fax": "none"}}}}]}
      """#)
    let pool = try scene.pool()
    for (user, isLate) in [(0, false), (1, true), (1, false), (2, true)] {
      let snapshot = try await scene.snapshot(
        user, kind, ["Name", "Fax"], pool: pool, isLate: isLate)
      if user == 1 {
        await #expect(throws: SyncError.self) { try await snapshot.prime() }
        #expect(snapshot.files.isEmpty)
      } else {
        #expect(try await snapshot.prime().soups.map(\.total) == [61])
      }
    }
    #expect(pool.counts.used - pool.counts.fetched == 60 - Self.sample && pool.unlike.isEmpty)
  }

  @Test func `a failed rule of one user's briefcase leaves the others as they are`() async throws {
    let scene = try PoolScene(users: 3, sharing: 60)
    let direct = try await scene.rows(.briefcase)
    let pool = try scene.pool()
    scene.org.server.faults.add(
      .init(kind: .priming, user: scene.users[1]),
      .ruleError(ruleID: "0bR000000000001", object: "Account"))
    for user in scene.users.indices {
      let snapshot = try await scene.snapshot(user, .briefcase, pool: pool)
      let outcome = try await snapshot.prime()
      #expect(outcome.hadRuleErrors == (user == 1))
      #expect(try user == 1 || snapshot.rows() == direct[user])
    }
    #expect(pool.counts.used - pool.counts.fetched == 60 - Self.sample)
  }

  @Test func `a cancelled prime leaves its records to the others`() async throws {
    let scene = try PoolScene(users: 2, sharing: 60)
    let direct = try await scene.rows(.briefcase)
    let pool = try scene.pool()
    let cancelled = try await scene.snapshot(0, .briefcase, pool: pool)
    try await cancelled.cancelPrime(of: scene.org, at: .retrieve, nth: 1)
    #expect(cancelled.files.isEmpty)
    #expect(try await scene.primed(1, .briefcase, pool: pool).rows() == direct[1])
  }

  @Test func `a user without records, and one whom the org refuses, get none`() async throws {
    let scene = try PoolScene(users: 3)
    for number in 0..<40 {
      let id = try scene.org.make("Account", ["Name": .string("Account \(number)")])
      for user in scene.users.prefix(2) { try scene.org.org.share(id, with: user) }
    }
    let pool = try scene.pool()
    try await scene.snapshot(0, .briefcase, pool: pool).prime()
    let none = try await scene.snapshot(2, .briefcase, pool: pool)
    #expect(try await none.prime().soups.map(\.total) == [0])
    scene.org.server.faults.add(
      .init(kind: .retrieve, user: scene.users[1]),
      .status(403, code: "INSUFFICIENT_ACCESS"))
    let refused = try await scene.snapshot(1, .briefcase, pool: pool)
    await #expect(throws: SyncError.self) { try await refused.prime() }
    #expect(refused.files.isEmpty)
  }

  @Test(arguments: Kind.allCases, 0..<4 as Range<UInt64>)
  func `no store has a record or a value that its user cannot read`(
    _ kind: Kind, _ seed: UInt64
  ) async throws {
    var random = HistoryRandom(seed)
    let scene = try PoolScene(users: 5)
    try scene.setUp(Self.rights(&random))
    var ids: [String] = []
    for number in 0..<30 + random.below(30) {
      let id = try scene.org.make(
        "Account",
        ["Name": .string("Account \(number)"), "Phone": .string("\(number)"), "Fax": "9"])
      if random.chance(50) { try scene.org.org.transfer(id, to: random.pick(scene.users)) }
      ids.append(id)
      for user in scene.users where random.chance(70) { try scene.org.org.share(id, with: user) }
    }
    let fields = ["Name", "Phone", "Both__c"]
    for run in 0..<2 {
      let pool = try scene.pool()
      for user in scene.users.indices.shuffled(using: &random) {
        let snapshot = try await scene.primed(user, kind, fields, pool: pool)
        let direct = try await scene.primed(user, kind, fields)
        #expect(try snapshot.rows() == direct.rows(), "run \(run), user \(user)")
      }
      #expect(pool.unlike.isEmpty)
      try scene.setUp(Self.rights(&random))
      for id in ids.shuffled(using: &random).prefix(20) {
        if random.chance(50) {
          try scene.org.org.unshare(id, from: random.pick(scene.users))
        } else {
          try scene.org.update("Account", id, ["Phone": .string("x\(random.below(100))")])
        }
      }
    }
  }

  /// A setup that hides fields and records from some users at random.
  private static func rights(_ random: inout HistoryRandom) -> String {
    let formula = random.pick(["Phone & Fax", "$User.LastName & Phone", "UPPER(Name)"])
    let blind = (0..<5).filter { $0 == 0 || random.chance(30) }
      .map { "\"u\($0)@example.com\"" }
    return #"""
      {"objects": {"Account": {
         "fields": {"Both__c": {"type": "string", "formula": "\#(formula)"}},
         "restrictionRules": [{"name": "Some", "userCriteria": "$Profile.Name = 'Field Technician'",
           "recordFilter": "LEFT(Phone, 1) <> '\#(random.below(4))'"}]}},
       "profiles": [{"name": "Blind", "users": [\#(blind.joined(separator: ", "))],
         "objects": {"Account": {"fields": {"Fax": "none"}}}}]}
      """#
  }
}
