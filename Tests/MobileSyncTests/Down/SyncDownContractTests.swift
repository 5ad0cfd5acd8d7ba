import JSON
import LocalOrg
import SmartStore
import System
import Testing

@testable import MobileSync

/// What every kind of sync down does, whether it fills a live store or the files of a snapshot.
@Suite struct SyncDownContractTests {
  private static let every: [(DownKind, DownSink)] = DownKind.allCases.flatMap { kind in
    DownSink.allCases.map { (kind, $0) }
  }

  @Test(arguments: every)
  func `a first run brings all, an unmoved org writes nothing, a change arrives alone`(
    _ kind: DownKind, _ sink: DownSink
  ) async throws {
    // What the overlap brings again to a live store a refresh completes again.
    let overlap = kind == .refresh && sink == .store ? 0 : 300
    let world = try await DownWorld(kind, sink, settings: SyncSettings(overlapSeconds: overlap))
    let ids = try world.org.makeAccounts(5, name: "Acme")
    try await world.sync()
    #expect(try await world.names().keys.sorted() == ids.sorted())
    #expect(try await world.sync().written == 0)
    try world.org.update("Account", ids[1], ["Name": "Acme new"])
    let added = try world.org.makeAccounts(1, name: "Acme later")
    // A refresh writes what the sync before it has put there once more.
    #expect(try await world.sync().written >= 2)
    let names = try await world.names()
    #expect(names[ids[1]] == "Acme new")
    #expect(names[added[0]] == "Acme later 0")
    #expect(names.count == 6)
    #expect(try await world.sync().written == 0)
  }

  @Test(arguments: DownKind.allCases)
  func `both sinks go on from an overlap before the last date`(_ kind: DownKind) async throws {
    for sink in DownSink.allCases {
      let world = try await DownWorld(kind, sink, settings: SyncSettings(overlapSeconds: 7))
      let ids = try world.org.makeAccounts(3, name: "Acme")
      try await world.sync()
      let latest = try #require(
        try world.org.values("Account", ["LastModifiedDate"], of: ids[2])?["LastModifiedDate"]?
          .string)
      #expect(try await world.cursor() == Dates.milliseconds(iso8601: latest).map { $0 - 7000 })
    }
  }

  @Test(arguments: every)
  func `a deleted record goes, one that was changed locally stays, and the guard holds`(
    _ kind: DownKind, _ sink: DownSink
  ) async throws {
    let world = try await DownWorld(kind, sink, .leaveIfChanged)
    let ids = try world.org.makeAccounts(14, name: "Acme")
    try await world.sync()
    try await world.edit(ids[0], "mine")
    for id in ids[0...1] { try world.org.delete(id) }
    #expect(try await world.sync(listing: true).ghosts == 1)
    #expect(try await world.names().keys.sorted() == ([ids[0]] + ids[2...]).sorted())
    #expect(try await world.dirty() == [ids[0]])
    for id in ids[2...12] { try world.org.delete(id) }
    let refused = try await world.sync(listing: true)
    #expect(refused.isRefused)
    #expect(refused.ghosts == 0)
    #expect(try await world.names().count == 13)
  }

  @Test(arguments: every)
  func `LEAVE_IF_CHANGED leaves a local change, OVERWRITE takes it back`(
    _ kind: DownKind, _ sink: DownSink
  ) async throws {
    for mode in MergeMode.allCases {
      let world = try await DownWorld(kind, sink, mode)
      let ids = try world.org.makeAccounts(3, name: "Acme")
      try await world.sync()
      try await world.edit(ids[0], "mine")
      for id in ids { try world.org.update("Account", id, ["Name": "Acme theirs"]) }
      try await world.sync()
      let isLeft = mode == .leaveIfChanged
      #expect(try await world.names()[ids[0]] == (isLeft ? "mine" : "Acme theirs"))
      #expect(try await world.names()[ids[1]] == "Acme theirs")
      #expect(try await world.dirty() == (isLeft ? [ids[0]] : []))
    }
  }

  @Test(arguments: DownKind.allCases)
  func `what was left arrives when the local change is taken back`(_ kind: DownKind) async throws {
    let world = try await DownWorld(kind, .store, .leaveIfChanged)
    let ids = try world.org.makeAccounts(3, name: "Acme")
    try await world.sync()
    try await world.edit(ids[0], "mine")
    try world.org.update("Account", ids[0], ["Name": "Acme theirs"])
    try world.org.update("Account", ids[1], ["Name": "Acme newer"])
    try await world.sync()
    try await world.sync()
    #expect(try await world.names()[ids[0]] == "mine")
    try await world.edit(ids[0], "Acme 0", isLocal: false)
    try await world.sync()
    #expect(try await world.names()[ids[0]] == "Acme theirs")
    // It is asked for once.
    let before = world.org.requests(.query) + world.org.requests(.retrieve)
    try await world.sync()
    let asked = world.org.requests(.query) + world.org.requests(.retrieve) - before
    try await world.sync()
    #expect(world.org.requests(.query) + world.org.requests(.retrieve) - before == 2 * asked)
  }

  @Test(arguments: [DownKind.soql, .parentChildren], DownSink.allCases)
  func `what came to match without being modified arrives when all ids are listed`(
    _ kind: DownKind, _ sink: DownSink
  ) async throws {
    let target =
      kind == .soql
      ? SyncTarget.soql(
        SoqlTarget(query: "SELECT Id, Name FROM Account WHERE Parent.BillingCity = 'Oslo'"))
      : .parentChildren(.accounts(filter: "Parent.BillingCity = 'Oslo'"))
    let world = try await DownWorld(kind, sink, target: target)
    let owners = try ["Oslo", "Rome"].map {
      try world.org.make("Account", ["Name": .string($0), "BillingCity": .string($0)])
    }
    for owner in owners.reversed() {
      try world.org.make("Account", ["Name": "Acme", "ParentId": .string(owner)])
    }
    try await world.sync()
    #expect(try await world.names().count == 1)
    try world.org.update("Account", owners[1], ["BillingCity": "Oslo"])
    try await world.sync()
    #expect(try await world.names().count == 1)
    try await world.sync(listing: true)
    #expect(try await world.names().count == 2)
    #expect(try await world.sync(listing: true).written == 0)
  }
}
