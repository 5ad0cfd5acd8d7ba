import Bundles
import Crypto
import JSON
import SQLite
import SmartStore
import Snapshots
import System
import TestSupport

/// The stores of a user over several generations, each with random changes.
final class DeltaScene {
  static let syncs = "syncs_soup"
  static let soups = [
    StoreConfig.Soup(
      soupName: "accounts",
      indexes: [
        IndexSpec(path: "Id", type: .string), IndexSpec(path: "Name", type: .fullText),
        IndexSpec(path: "Address.City", type: .json1), IndexSpec(path: "Phone", type: .fullText),
        IndexSpec(path: "Amount", type: .floating), IndexSpec(path: "Count", type: .integer),
        IndexSpec(path: "__local__", type: .string),
      ]),
    StoreConfig.Soup(soupName: "cases", indexes: [IndexSpec(path: "Id", type: .string)]),
    StoreConfig.Soup(
      soupName: "notes",
      indexes: [IndexSpec(path: "Text", type: .fullText), IndexSpec(path: "Id", type: .json1)]),
  ]

  let directory: TemporaryDirectory
  let platform: Platform
  var random: HistoryRandom
  /// The scopes and names of the stores.
  let places: [(scope: StoreScope, name: String)]
  /// The greatest `_soupLastModifiedDate` so far, which is later in each generation.
  var now: Int64 = Issued.now
  /// Whether the generations redeliver open edits.
  private let redelivers: Bool
  private var nextID = 0

  init(
    _ platform: Platform, seed: UInt64, stores: Int = 1, redelivers: Bool = false,
    in directory: TemporaryDirectory = TemporaryDirectory("deltas")
  ) throws {
    (self.directory, self.platform, self.redelivers) = (directory, platform, redelivers)
    random = HistoryRandom(seed)
    places = Array(
      [(StoreScope.user, "default"), (.global, "default"), (.user, "archive")].prefix(stores))
  }

  func entryPath(_ place: (scope: StoreScope, name: String)) -> String {
    StoreLocation(
      platform, storeName: place.name, user: place.scope == .user ? Issued.owner : nil
    ).path
  }

  /// The plain store of a generation.
  func file(_ generation: Int, _ path: String) -> String {
    directory.file("\(generation)/\(path)")
  }

  /// Makes a generation from the one before, with random changes, and returns its manifest.
  func generation(_ number: Int, rows: Int = 24) throws -> Manifest {
    var entries: [StoreEntry] = []
    now += 86_400_000
    for place in places {
      let path = entryPath(place)
      let target = file(number, path)
      try Files.makeDirectory(Files.parent(of: target) ?? "/")
      let isFirst = !Files.exists(file(number - 1, path))
      // A global store is often the one of the generation before.
      if !isFirst { try Files.copy(file(number - 1, path), to: target) }
      let store =
        isFirst
        ? try Store(creating: target, platform: platform) : try Store(opening: target)
      try store.connection.execute("PRAGMA synchronous = OFF")
      store.clock = { [now] in now }
      try store.transaction {
        if isFirst {
          for soup in Self.soups {
            try store.registerSoup(soup.soupName, indexSpecs: soup.indexes)
          }
          try store.registerSoup(
            Self.syncs,
            indexSpecs: ["type", "name", "status"].map { IndexSpec(path: $0, type: .json1) })
          for soup in Self.soups { try add(rows, to: soup.soupName, store) }
        } else {
          for soup in Self.soups where !random.chance(25) { try change(soup.soupName, store) }
        }
        try sync(store)
        try stamp(number, place.scope).write(into: store)
      }
      let counts = try Dictionary(
        uniqueKeysWithValues: Self.soups.map { ($0.soupName, try store.count(of: $0.soupName)) })
      try store.close()
      entries.append(
        try SnapshotDirectory.measure(
          target, scope: place.scope, storeName: place.name, path: path,
          stamp: stamp(number, place.scope), counts: counts))
    }
    return manifest(number, entries)
  }

  func stamp(_ generation: Int, _ scope: StoreScope) -> Provenance {
    Issued.stamp(
      platform, generation: generation,
      user: scope == .global ? Provenance.globalUser : Issued.user)
  }

  func manifest(_ generation: Int, _ entries: [StoreEntry]) -> Manifest {
    Manifest(
      org: Issued.org, user: Issued.user, pipeline: Issued.pipeline, generation: generation,
      platform: platform, stampID: stamp(generation, .user).stampID,
      configHash: Digest.sha256Hex([2]), stores: entries, created: now, expires: now + 86_400_000)
  }

  /// A side of a delta.
  func side(_ manifest: Manifest) -> DeltaWriter.Side {
    let root = directory.path
    return DeltaWriter.Side(manifest) { "\(root)/\(manifest.generation)/\($0.path)" }
  }

  // MARK: changes

  private static let words = ["red", "green", "été", "žluť", "日本", "O'Hara", "a-b", "10%", ""]

  private func element(_ id: String) -> JSONObject {
    var element: JSONObject = ["Id": .string(id), "attributes": ["type": "Account"]]
    func text() -> JSONValue {
      switch random.below(8) {
      case 0: .null
      case 1: .number(String(random.below(1000)))
      default:
        .string((0..<random.below(4)).map { _ in random.pick(Self.words) }.joined(separator: " "))
      }
    }
    for name in ["Name", "Phone", "Text"] where !random.chance(10) { element[name] = text() }
    if random.chance(80) { element["Address"] = ["City": text()] }
    element["Amount"] = random.pick(
      [.number("1.50"), .number("2"), .number("1e3"), .null] as [JSONValue])
    element["Count"] = random.pick(
      [.number("7"), .number("-1"), .string("12"), .bool(true)] as [JSONValue])
    // An open edit that the generation redelivers.
    let isOpen = redelivers && random.chance(10)
    element["__local__"] = .bool(isOpen)
    element["__locally_updated__"] = .bool(isOpen)
    if isOpen { element["__last_error__"] = .string("Not sent: \(random.pick(Self.words))") }
    if random.chance(5) {
      element["Long"] = .string(String(repeating: "long ", count: 500 + random.below(2000)))
    }
    return element
  }

  private func add(_ count: Int, to soup: String, _ store: Store) throws {
    for _ in 0..<count {
      nextID += 1
      try store.upsert([.object(element("a\(nextID)"))], into: soup)
    }
  }

  /// Adds, changes, removes, or removes all elements of a soup.
  private func change(_ soup: String, _ store: Store) throws {
    let table = try store.soup(soup).table
    if random.chance(4) { try store.clearSoup(soup) }
    let ids = try store.connection.all("SELECT id, soup FROM \(raw: table) ORDER BY id")
      .compactMap { row in row[0].integer }
    for id in ids {
      if random.chance(8) {
        try store.remove([id], from: soup)
      } else if random.chance(15) {
        var changed = element("r\(id)")
        changed[StoreField.soupEntryID] = .number(String(id))
        try store.upsert([.object(changed)], into: soup)
      }
    }
    try add(random.below(5), to: soup, store)
  }

  private func sync(_ store: Store) throws {
    let held = try store.connection.integer(
      "SELECT id FROM \(raw: try store.soup(Self.syncs).table)")
    var state: JSONObject = [
      "type": "syncDown", "name": "accounts", "status": "DONE",
      "maxTimeStamp": .number(String(now)),
    ]
    state[StoreField.soupEntryID] = held.map { .number(String($0)) }
    try store.upsert([.object(state)], into: Self.syncs)
  }

  // MARK: comparison

  /// The content of a store: every table with its IDs, without what an app writes into the stamp.
  static func content(_ file: String) throws -> [String: [[SQLiteValue]]] {
    let connection = try Connection(file)
    defer { connection.close() }
    var content: [String: [[SQLiteValue]]] = [:]
    for table in try connection.texts("SELECT name FROM sqlite_schema WHERE type = 'table'")
    where !table.contains("_fts_") {
      let id: SQL = "SELECT rowid, * FROM \(raw: table) ORDER BY 1"
      content[table] = try connection.all(id)
    }
    let order: SQL = "SELECT name, seq FROM sqlite_sequence ORDER BY name"
    content["sqlite_sequence"] = try connection.all(order)
    content["soup_index_map"] = try connection.all("SELECT * FROM soup_index_map")
    let number = try connection.integer(
      "SELECT id FROM soup_attrs WHERE soupName = \(Provenance.soupName)")
    if let number {
      let stamp: SQL = """
        SELECT id, json_remove(soup, '$.install', '$.handback'), created, lastModified
        FROM \(raw: "TABLE_\(number)")
        """
      content["TABLE_\(number)"] = try connection.all(stamp)
    }
    return content
  }

  /// Edits the accounts of a device's store that a delta changes.
  static func edit(_ store: Store, changedBy delta: StoreDelta.File) throws {
    for soup in delta.soups where soup.isChanged && soup.name == "accounts" {
      let connection = try Connection(delta.path)
      let rows = try connection.all("SELECT id FROM \(raw: "r_\(soup.table)")")
      connection.close()
      for id in rows.compactMap({ $0[0].integer }) {
        let held: SQL = "SELECT 1 FROM \(raw: soup.table) WHERE id = \(id)"
        guard try store.connection.first(held) != nil else { continue }
        let edited: JSONObject = [
          "_soupEntryId": .number(String(id)), "Id": "edited", "Name": "edited word",
          "__local__": true, "__locally_updated__": true,
        ]
        try store.upsert([.object(edited)], into: soup.name)
      }
    }
  }

  /// The violations in a store, among them wrong indexes and wrong full-text tables.
  static func faults(_ file: String) throws -> [String] {
    let connection = try Connection(file)
    defer { connection.close() }
    for table in try connection.texts(
      "SELECT name FROM sqlite_schema WHERE name LIKE 'TABLE%fts'")
    {
      try connection.execute("INSERT INTO \(table)(\(table)) VALUES ('integrity-check')")
    }
    let whole = try connection.texts("PRAGMA integrity_check")
    return (whole == ["ok"] ? [] : whole)
      + (try StoreCheck(origin: .server).violations(at: file).map(\.description))
  }
}
