import JSON
import LocalOrg
import MobileSync
import Salesforce
import SmartStore
import System
import TestSupport
import Testing

/// An org in which users share accounts, and a pool for their primes.
struct PoolScene {
  enum Kind: CaseIterable { case briefcase, soql }

  let org: SyncedOrg
  let users: [String]
  let directory = TemporaryDirectory("pool")

  /// Creates an org in which the users share some accounts, besides one of each user's own.
  init(users count: Int, sharing shared: Int = 0) throws {
    org = try SyncedOrg()
    users = (0..<count).map { "u\($0)@example.com" }
    for user in users { try org.org.addUser(user, lastName: user, profile: "Field Technician") }
    try org.org.addBriefcase(
      "all", rules: [BriefcaseRule("Account", limit: 5000)], users: users)
    if shared > 0 { _ = try makeAccounts(shared: shared) }
  }

  /// Accounts that all users may read, and one of each user's own.
  func makeAccounts(shared count: Int) throws -> [String] {
    let ids = try org.org.transaction {
      try (0..<count).map {
        try org.make("Account", ["Name": .string("Account \($0)"), "Phone": .string("\($0)")])
      }
    }
    for user in users { try org.org.share(ids, with: user) }
    for user in users {
      try org.make("Account", ["Name": .string("of \(user)")], as: org.org.user(named: user))
    }
    return ids
  }

  /// Makes at most a page of accounts that all users may read, and others of each user's own;
  /// returns the number that a user may read.
  func makeManyAccounts(shared: Int, own: Int) throws -> Int {
    try org.org.seedBulk(object: "Account", count: shared, owner: org.admin.username)
    let page = try org.org.query("SELECT Id FROM Account", as: org.admin)
    let ids = try JSONValue(parsing: page.records).array?.compactMap { $0["Id"]?.string } ?? []
    try org.org.transaction { for user in users { try org.org.share(ids, with: user) } }
    for user in users { try org.org.seedBulk(object: "Account", count: own, owner: user) }
    return ids.count + own
  }

  func setUp(_ text: String) throws { try org.org.setUp(OrgSetup(parsing: Array(text.utf8))) }

  /// A pool of a run that starts after the last change.
  func pool(_ mode: RecordPool.Mode = .always) throws -> RecordPool {
    try org.org.moveClock(by: 1000)
    return try RecordPool(mode, in: directory.path, now: org.org.now())
  }

  /// A snapshot of a user whose session has the user's description of the object, unless it is late.
  func snapshot(
    _ user: Int, _ kind: Kind, _ fields: [String] = ["Name", "Phone"], pool: RecordPool? = nil,
    isLate: Bool = false
  ) async throws -> Snapshot {
    let info = BriefcaseObjectInfo(
      soupName: "accounts", sobjectType: "Account", fieldlist: fields)
    let query = "SELECT Id, \(fields.joined(separator: ", ")) FROM Account"
    let sync: SyncDefinition =
      switch kind {
      case .briefcase: .briefcase("down", [info])
      case .soql: .soql("down", query, into: "accounts")
      }
    let snapshot = Snapshot(
      org, as: users[user], soups: [.sample("accounts", "Name")], syncs: [sync])
    let session = try await org.session(users[user]).keepingObjects
    if !isLate { try await session.learn(["Account"]) }
    snapshot.session = session
    snapshot.pool = pool
    return snapshot
  }

  func primed(
    _ user: Int, _ kind: Kind, _ fields: [String] = ["Name", "Phone"], pool: RecordPool? = nil,
    isLate: Bool = false
  ) async throws -> Snapshot {
    try await snapshot(user, kind, fields, pool: pool, isLate: isLate).primed()
  }

  /// The rows of each user who fetches all records.
  func rows(_ kind: Kind, _ fields: [String] = ["Name", "Phone"]) async throws -> [[[String]]] {
    var rows: [[[String]]] = []
    for user in users.indices {
      rows.append(try await primed(user, kind, fields).rows())
    }
    return rows
  }
}
