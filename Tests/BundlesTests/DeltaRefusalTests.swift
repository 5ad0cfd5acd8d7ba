import Bundles
import Foundation
import SQLite
import SmartStore
import Snapshots
import System
import TestSupport
import Testing

/// A delta and one store: a store that it is not for is refused, and an interruption leaves the old
/// store.
@Suite struct DeltaRefusalTests {
  let directory = TemporaryDirectory("delta-refusals")
  let scene: DeltaScene
  let manifests: [Manifest]
  /// The delta from generation 2 to 3.
  let delta: StoreDelta.File

  init() throws {
    scene = try DeltaScene(.android, seed: 5, in: directory)
    manifests = try (1...4).map { [scene] in try scene.generation($0) }
    let path = manifests[0].stores[0].path
    let file = directory.file("delta")
    let outcome = try StoreDelta.write(
      from: scene.file(2, path), to: scene.file(3, path), as: file)
    guard case .written(let changes) = outcome else { throw Issued.Lost() }
    #expect(Set(changes.keys).isSuperset(of: ["accounts", DeltaScene.syncs]))
    delta = try StoreDelta.File(path: file)
  }

  private func issued(_ generation: Int) -> String {
    scene.file(generation, manifests[0].stores[0].path)
  }

  /// The reason for which a store is refused, whose content must stay; nil if it is not refused.
  private func refusal(
    _ generation: Int = 2, change: (Store) throws -> Void = { _ in }
  ) throws -> String? {
    let device = directory.file("device")
    for ending in ["", "-wal", "-shm"] { try Files.remove(device + ending) }
    try Files.copy(issued(generation), to: device)
    let store = try Store(opening: device)
    try change(store)
    let before = try DeltaScene.content(device)
    do {
      try StoreDelta.apply(delta, to: store, install: "i")
      return nil
    } catch let refusal as StoreDelta.Refusal {
      #expect(try DeltaScene.content(device) == before)
      return refusal.sentence
    }
  }

  @Test func `the delta of a store that stays as it is has no changes`() throws {
    let file = directory.file("equal")
    #expect(try StoreDelta.write(from: issued(2), to: issued(2), as: file) == .written([:]))
    let equal = try StoreDelta.File(path: file)
    #expect(equal.was == equal.now)
  }

  @Test func `a store of another generation is refused`() throws {
    #expect(try refusal() == nil)
    for generation in [1, 3, 4] {
      let reason = try refusal(generation)
      #expect(reason?.contains("does not have the generation") == true, "\(reason as Any)")
    }
    #expect(try refusal { try $0.clearSoup(Provenance.soupName) }?.contains("generation") == true)
    let user = try refusal {
      try Issued.stamp(.android, generation: 2, user: "005000000000002AAA").write(into: $0)
    }
    #expect(user?.contains("does not have the generation") == true)
  }

  /// What an app has done to a store, and what the refusal says.
  private static var refused: [(says: String, done: (Store) throws -> Void)] {
    let id = IndexSpec(path: "Id", type: .string)
    func alter(_ specs: IndexSpec...) -> (Store) throws -> Void {
      { try $0.alterSoup("cases", indexSpecs: specs, reIndexData: true) }
    }
    return [
      ("other indexes", alter(id, IndexSpec(path: "x", type: .json1))),
      ("other indexes", alter(IndexSpec(path: "Id", type: .integer))),
      ("lacks a soup", { try $0.removeSoup("cases") }),
      (
        "lacks a soup",
        {
          try $0.removeSoup("cases")
          try $0.registerSoup("cases", indexSpecs: [id])
        }
      ),
      (
        "interrupted",
        {
          try $0.connection.execute(
            "INSERT INTO long_operations_status (type, status) VALUES ('alterSoup', 'STARTING')")
        }
      ),
      (
        "was synced by its app",
        {
          let table = try $0.soup(DeltaScene.syncs).table
          try $0.connection.execute(
            "UPDATE \(table) SET soup = json_set(soup, '$.maxTimeStamp', 1893456000000)")
        }
      ),
    ]
  }

  @Test func `a store with other soups or indexes, or synced by its app, is refused`() throws {
    for (says, done) in Self.refused {
      let reason = try refusal(change: done)
      #expect(reason?.contains(says) == true, "\(says): \(reason as Any)")
    }
  }

  /// The IDs of rows that are equal in both generations.
  private func equalRows(of table: String) throws -> [Int64] {
    let changed = try Connection(delta.path)
    defer { changed.close() }
    let connection = try Connection(issued(2))
    defer { connection.close() }
    let gone = Set(
      try changed.all("SELECT id FROM gone UNION SELECT id FROM \(raw: "r_\(table)")").map { $0[0] }
    )
    return try connection.all("SELECT id FROM \(raw: table)").map { $0[0] }
      .filter { !gone.contains($0) }.compactMap(\.integer)
  }

  @Test func `a store whose other rows were changed is refused`() throws {
    let id = try #require(try equalRows(of: "TABLE_1").first)
    let later = scene.now + 1
    func expectRefused(_ change: @escaping (Store) throws -> Void) throws {
      let reason = try refusal { store in
        store.clock = { later }
        try change(store)
      }
      #expect(
        reason?.contains("other rows in the soup \"accounts\"") == true, "\(reason as Any)")
    }
    // Edited and clean again, or removed.
    try expectRefused {
      try $0.upsert(["{\"_soupEntryId\":\(id),\"Id\":\"r\"}"], into: "accounts")
    }
    try expectRefused { try $0.remove([id], from: "accounts") }
    try expectRefused {
      try $0.connection.execute("UPDATE TABLE_1 SET lastModified = 7 WHERE id = \(id)")
    }
    try expectRefused { try $0.connection.execute("DELETE FROM TABLE_1_fts WHERE rowid = \(id)") }
  }

  @Test func `the documented statements are those that attache runs`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let page = String(decoding: try Files.read(root.path + "/docs/on-disk.md"), as: UTF8.self)
    let section = try #require(page.split(separator: "### Deltas").last)
      .split(separator: "### Paths of the stores")[0]
    // A soup with two full-text indexes stands for all.
    let documented = section.split(separator: "```sql\n").dropFirst()
      .flatMap { $0.split(separator: "```")[0].split(separator: ";\n") }
      .map {
        String($0).replacing("\n", with: " ").replacing("TABLE_n", with: "TABLE_1")
          .replacing("= n", with: "= 1").replacing("TABLE_s", with: "TABLE_5")
          .replacing("TABLE_y", with: "TABLE_4")
      }
    let soup = try #require(delta.soups.first)
    #expect(soup.isChanged && soup.words == ["TABLE_1_1", "TABLE_1_3"])
    let run =
      StoreDelta.conditions(delta.soups).map(\.query) + StoreDelta.statements(soup)
      + StoreDelta.sequences + [StoreDelta.results([soup])[0].query]
      + [try #require(StoreDelta.mark(delta.soups))]
    #expect(documented == run.map { $0.replacing("\n", with: " ") })
  }

  @Test func `killed at each statement, a store is the old one`() throws {
    let old = try DeltaScene.content(issued(2))
    let device = directory.file("device")
    let killed = directory.file("killed")
    try Files.copy(issued(2), to: device)
    let store = try Store(opening: device)
    // Pages go to the file before the commit, and the journal has to undo them.
    try store.connection.execute("PRAGMA cache_size = 2")
    let before = try Files.read(device)
    var (steps, torn) = (0, 0)
    let copies: (Int) throws -> Void = { _ in
      for ending in ["", "-journal"] {
        try Files.remove(killed + ending)
        if Files.exists(device + ending) { try Files.copy(device + ending, to: killed + ending) }
      }
      if try Files.read(killed) != before { torn += 1 }
      #expect(try DeltaScene.content(killed) == old, "step \(steps)")
      steps += 1
    }
    try StoreDelta.apply(delta, to: store, install: "i", step: copies)
    try store.close()
    #expect(torn > 0 && steps > 20)
    #expect(try DeltaScene.content(device) == DeltaScene.content(issued(3)))
  }

  @Test func `a failure at each statement leaves the old store`() throws {
    struct Stop: Error {}
    let old = try DeltaScene.content(issued(2))
    let device = directory.file("device")
    try Files.copy(issued(2), to: device)
    let store = try Store(opening: device)
    var last = 0
    while true {
      do {
        try StoreDelta.apply(
          delta, to: store, install: "i", step: { if $0 == last { throw Stop() } })
        break
      } catch is Stop {
        #expect(try DeltaScene.content(device) == old)
        last += 1
      }
    }
    #expect(last > 20)
    try store.close()
    #expect(try DeltaScene.content(device) == DeltaScene.content(issued(3)))
  }
}
