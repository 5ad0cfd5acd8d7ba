import Foundation
import JSON
import SQLite
import SmartStore
import TestSupport
import Testing

struct ModelSoup {
  var specs: [IndexSpec]
  var elements: [Int64: JSONObject] = [:]
  var created: [Int64: Int64] = [:]
  var lastID: Int64 = 0
  /// The cells, by path and ID, that differ from the element: an alteration without reindexing
  /// leaves them.
  var stale: [String: [Int64: SQLiteValue]] = [:]
}

struct ModelMismatch: Error, CustomStringConvertible { let description: String }

struct ModelPlay {
  /// The minimum number of each operation.
  static let least = CampaignSize.model.count

  /// An index type and a kind of value.
  struct Pair: Hashable {
    let type: IndexType
    let kind: Int
  }

  /// Every kind of value, as JSON; the last one means no member.
  static let kinds = StoreCheckTests.values + [nil as String?]
  static let paths = ["a", "b.c", "d.e.f", "g", "h"]
  static let names = ["s1", "soup two", "S1"]
  let platform: Platform
  let directory = TemporaryDirectory()
  var random: SplitMix
  var store: Store
  var now: Int64 = 1_700_000_000_000
  var model: [String: ModelSoup] = [:]
  var counts: [ModelTests.Operation: Int]
  var cells: [IndexType: Int] = [:]
  /// Whether the last operation had nothing to work on.
  var isSkipped = false
  /// The elements that the last operation wrote: by soup and ID, the kind of the value at each
  /// path.
  var fresh: [String: [Int64: [String: Int]]] = [:]
  /// The number of comparisons of each kind of value with each index type.
  var met: [Pair: Int] = [:]
  /// The number of kills that left pages of an unfinished change in the file.
  var torn = 0
  /// An SQLite connection for conversions that the model does not know: `json_extract`, and column
  /// affinities.
  let scratch: Connection
  init(_ platform: Platform, seed: UInt64) throws {
    self.platform = platform
    random = SplitMix(state: seed)
    store = try Store(creating: directory.file("store.sqlite"), platform: platform)
    scratch = try Connection(":memory:", mode: .create)
    // There are thousands of commits, and the disk is not under test.
    try store.connection.execute("PRAGMA synchronous = OFF")
    counts = Dictionary(uniqueKeysWithValues: ModelTests.Operation.allCases.map { ($0, 0) })
  }

  // MARK: random values

  mutating func element() throws -> (object: JSONObject, kinds: [String: Int]) {
    var object: JSONObject = ["key": .string("k\(Int.random(in: 0..<9, using: &random))")]
    var kinds: [String: Int] = [:]
    for path in Self.paths {
      let kind = Int.random(in: 0..<Self.kinds.count, using: &random)
      kinds[path] = kind
      guard let text = Self.kinds[kind] else { continue }
      let names = path.split(separator: ".").map(String.init)
      let value = try JSONValue(parsing: text)
      object[names[0]] = Self.nested(value, names.dropFirst())
      // Sometimes the path leads through an array in which one element has no such member.
      guard names.count > 1, Int.random(in: 0..<4, using: &random) == 0 else { continue }
      kinds[path] = nil
      object[names[0]] = .array([Self.nested(value, names.dropFirst()), [:], Self.nested(1, names)])
    }
    return (object, kinds)
  }

  private static func nested(_ value: JSONValue, _ names: ArraySlice<String>) -> JSONValue {
    names.reversed().reduce(value) { .object([$1: $0]) }
  }

  private static func nested(_ value: JSONValue, _ names: [String]) -> JSONValue {
    nested(value, names.dropFirst())
  }

  mutating func specs() -> [IndexSpec] {
    var specs = [IndexSpec(path: "key", type: .string)]
    for path in Self.paths where Int.random(in: 0..<3, using: &random) > 0 {
      let type = IndexType.allCases[Int.random(in: 0..<IndexType.allCases.count, using: &random)]
      specs.append(IndexSpec(path: path, type: type))
    }
    return specs.shuffled(using: &random)
  }

  mutating func soup() -> String? { model.keys.sorted().randomElement(using: &random) }

  // MARK: operations

  mutating func perform(_ operation: ModelTests.Operation) throws {
    now += 1
    let time = now
    fresh = [:]
    store.clock = { time }
    if operation == .register {
      let name = Self.names.first { model[$0] == nil } ?? Self.names[0]
      let specs = specs()
      try store.registerSoup(name, indexSpecs: specs)
      if model[name] == nil { model[name] = ModelSoup(specs: specs) }
      counts[operation, default: 0] += 1
      return
    }
    guard let name = soup() else { return }
    isSkipped = false
    switch operation {
    case .register: break
    case .insert: try insert(name)
    case .upsertByID: try upsertByID(name)
    case .upsertByKey: try upsertByKey(name)
    case .retrieve: try retrieve(name)
    case .removeByIDs, .removeByQuery, .clear: try remove(name, operation)
    case .alter: try alter(name, reIndexData: false)
    case .alterReIndexing: try alter(name, reIndexData: true)
    case .reIndex: try reIndex(name)
    case .removeSoup:
      try store.removeSoup(name)
      model[name] = nil
    case .queryAll, .queryExact, .queryRange, .queryLike, .queryMatch, .querySmart:
      try query(name, operation)
    case .reopen: try reopen()
    case .killInChange: try kill(inChangeOf: name)
    case .killInAlteration: try kill(inAlterationOf: name)
    }
    if !isSkipped { counts[operation, default: 0] += 1 }
  }

  private mutating func keep(
    _ object: JSONObject, _ kinds: [String: Int], as id: Int64, in name: String
  ) {
    var stored = object
    stored["_soupEntryId"] = JSONValue(id)
    stored["_soupLastModifiedDate"] = JSONValue(now)
    if model[name]?.elements[id] == nil { model[name]?.created[id] = now }
    model[name]?.elements[id] = stored
    for path in model[name]?.stale.keys.sorted() ?? [] { model[name]?.stale[path]?[id] = nil }
    fresh[name, default: [:]][id] = kinds
  }

  private mutating func insert(_ name: String) throws {
    let new = try (0..<Int.random(in: 1...3, using: &random)).map { _ in try element() }
    try store.upsert(new.map { .object($0.object) }, into: name)
    for (object, kinds) in new {
      model[name]?.lastID += 1
      keep(object, kinds, as: model[name]?.lastID ?? 0, in: name)
    }
  }

  private mutating func upsertByID(_ name: String) throws {
    guard let id = model[name]?.elements.keys.sorted().randomElement(using: &random) else {
      isSkipped = true
      return
    }
    var (object, kinds) = try element()
    object["_soupEntryId"] = JSONValue(id)
    try store.upsert([.object(object)], into: name)
    keep(object, kinds, as: id, in: name)
  }

  private mutating func upsertByKey(_ name: String) throws {
    let (object, kinds) = try element()
    let same = model[name]?.elements.filter { $0.value["key"] == object["key"] }.keys.sorted() ?? []
    if same.count > 1 {
      do {
        try store.upsert([.object(object)], into: name, externalIDPath: "key")
        throw ModelMismatch(description: "an ambiguous external ID was accepted")
      } catch StoreError.externalIDNotUnique {}
      return
    }
    try store.upsert([.object(object)], into: name, externalIDPath: "key")
    if same.isEmpty { model[name]?.lastID += 1 }
    keep(object, kinds, as: same.first ?? model[name]?.lastID ?? 0, in: name)
  }

  private mutating func retrieve(_ name: String) throws {
    let last = model[name]?.lastID ?? 0
    let ids = (0..<4).map { _ in Int64.random(in: 0...(last + 1), using: &random) }
    let found = try store.retrieve(ids, from: name).map { try JSONValue(parsing: $0) }
    let expected = ids.compactMap { model[name]?.elements[$0] }.map(JSONValue.object)
    try require(found == expected, "retrieve \(ids)")
  }

  private mutating func remove(_ name: String, _ operation: ModelTests.Operation) throws {
    let ids = model[name]?.elements.keys.sorted() ?? []
    var gone: [Int64] = []
    switch operation {
    case .removeByIDs:
      gone = ids.filter { _ in Int.random(in: 0..<8, using: &random) == 0 }
      try store.remove(gone + [(model[name]?.lastID ?? 0) + 5], from: name)
    case .removeByQuery:
      let key = "k\(Int.random(in: 0..<9, using: &random))"
      let size = Int.random(in: 1...2, using: &random)
      gone = Array(ids.filter { model[name]?.elements[$0]?["key"]?.string == key }.prefix(size))
      let query = QuerySpec(
        soupName: name, .exact(path: "key", matchKey: key), orderPath: "_soupEntryId",
        pageSize: size)
      try require(try store.remove(query, from: name) == gone.count, "remove by query")
    default:
      gone = ids
      try store.clearSoup(name)
    }
    for id in gone {
      model[name]?.elements[id] = nil
      model[name]?.created[id] = nil
      for path in model[name]?.stale.keys.sorted() ?? [] { model[name]?.stale[path]?[id] = nil }
    }
  }

  private mutating func alter(_ name: String, reIndexData: Bool) throws {
    let new = specs()
    try store.alterSoup(name, indexSpecs: new, reIndexData: reIndexData)
    try alterModel(name, new, reIndexData: reIndexData)
  }

  private mutating func alterModel(_ name: String, _ new: [IndexSpec], reIndexData: Bool) throws {
    guard let old = model[name] else { return }
    var stale: [String: [Int64: SQLiteValue]] = [:]
    for spec in new where spec.type != .json1 {
      let before = old.specs.first { $0.path == spec.path }
      if reIndexData, before != spec { continue }
      let isCopied = before.map { sqlType($0.type) == sqlType(spec.type) } ?? false
      for id in old.elements.keys {
        if isCopied, let before {
          // A copy keeps stale values, and conversions of the old type.
          stale[spec.path, default: [:]][id] =
            old.stale[spec.path]?[id] ?? cell(before, id, in: old)
        } else if before?.type == .json1, platform == .android {
          stale[spec.path, default: [:]][id] = try extracted(spec, id, name)
        } else {
          stale[spec.path, default: [:]][id] = .null
        }
      }
    }
    model[name]?.specs = new
    model[name]?.stale = stale
  }

  private func sqlType(_ type: IndexType) -> Int {
    switch type {
    case .string, .fullText: 0
    case .integer: 1
    case .floating: 2
    case .json1: 3
    }
  }

  /// The result of `json_extract` in a column of the type, from SQLite, not from the code under
  /// test.
  func extracted(_ spec: IndexSpec, _ id: Int64, _ name: String) throws -> SQLiteValue {
    let element = JSONValue.object(model[name]?.elements[id] ?? [:]).text
    return try cast("json_extract(?, '$.\(spec.path)')", [.text(element)], spec.type)
  }

  private func cast(
    _ expression: String, _ bindings: [SQLiteValue], _ type: IndexType
  ) throws -> SQLiteValue {
    let table = "t\(sqlType(type))"
    let column = ["TEXT", "INTEGER", "REAL", ""][sqlType(type)]
    try scratch.execute("CREATE TABLE IF NOT EXISTS \(table) (v \(column))")
    try scratch.run("DELETE FROM \(raw: table)")
    try scratch.run(SQL("INSERT INTO \(table) VALUES (\(expression))", bindings: bindings))
    return try scratch.all("SELECT v FROM \(raw: table)")[0][0]
  }

  private mutating func reIndex(_ name: String) throws {
    let path = Self.paths[Int.random(in: 0..<Self.paths.count, using: &random)]
    try store.reIndexSoup(name, paths: [path, "nothing"])
    model[name]?.stale[path] = nil
  }

  /// Closes the store, as an app that ends does, and opens it again.
  private mutating func reopen() throws {
    if Bool.random(using: &random) { try store.close() } else { store.connection.close() }
    store = try Store(opening: store.path)
    try store.connection.execute("PRAGMA synchronous = OFF")
  }

  private mutating func kill(inChangeOf name: String) throws {
    let isRemoved = Bool.random(using: &random)
    let new = try element().object
    try kill { store in
      try store.upsert([.object(new)], into: name)
      try store.clearSoup(name)
      if isRemoved { try store.removeSoup(name) }
    }
  }

  /// Kills in or between the steps of a device's alteration, which is resumed afterwards.
  private mutating func kill(inAlterationOf name: String) throws {
    let new = specs()
    let reIndexData = Bool.random(using: &random)
    let steps = SoupAlteration.Step.allCases.filter { $0 < .last(on: platform) }
    let done = steps.randomElement(using: &random) ?? .starting
    let later = steps.filter { $0 > done }.randomElement(using: &random) ?? done
    var alteration = SoupAlteration(
      platform: platform, old: try store.soup(name), specs: new, reIndexData: reIndexData)
    let row = try store.begin(alteration)
    try store.run(&alteration, row: row, through: done)
    try kill { [alteration] store in
      var rest = alteration
      try store.run(&rest, row: row, through: later)
    }
    try alterModel(name, new, reIndexData: reIndexData)
  }

  /// Opens the file that remains when the process ends before `change` is committed: with some of
  /// its pages, and the journal that restores them.
  private mutating func kill(_ change: (Store) throws -> Void) throws {
    // Pages are written to the file as soon as they are changed.
    try store.connection.execute("PRAGMA cache_size = 1; PRAGMA cache_spill = 1")
    let before = try read(store.path)
    try store.connection.execute("BEGIN IMMEDIATE")
    try change(store)
    var left: [String: [UInt8]] = [:]
    for suffix in ["", "-journal"] where FileManager.default.fileExists(atPath: store.path + suffix)
    { left[suffix] = try read(store.path + suffix) }
    if left[""] != before { torn += 1 }
    try store.connection.execute("ROLLBACK")
    store.connection.close()
    for (suffix, bytes) in left { try Data(bytes).write(to: URL(filePath: store.path + suffix)) }
    store = try Store(opening: store.path)
    try store.connection.execute("PRAGMA synchronous = OFF")
  }

  // MARK: comparison

  func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    guard condition else { throw ModelMismatch(description: message()) }
  }

  func cell(_ spec: IndexSpec, _ id: Int64, in soup: ModelSoup) -> SQLiteValue {
    if let stale = soup.stale[spec.path]?[id] { return stale }
    let value = ModelCell.projected(
      spec.path.split(separator: ".")[...], .object(soup.elements[id] ?? [:]))
    return ModelCell.expected(value, spec.type, platform)
  }

  mutating func compare() throws {
    try require(Set(try store.soupNames()) == Set(model.keys), "soup names")
    for (name, soup) in model {
      try require(try store.indexSpecs(of: name) == soup.specs, "specs of \(name)")
      let known = try store.soup(name)
      let columns = known.columns.map(\.name)
      let list = (["id", "created", "lastModified", "soup"] + columns).joined(separator: ", ")
      let sql = "SELECT \(list) FROM \(known.table) ORDER BY id"
      let rows = try store.connection.all(SQL(sql))
      try require(rows.map { $0[0].integer } == soup.elements.keys.sorted(), "ids of \(name)")
      for row in rows {
        guard let id = row[0].integer, let element = soup.elements[id] else { continue }
        try require(
          row[1].integer == soup.created[id]
            && row[2].integer == element["_soupLastModifiedDate"]?.int, "dates of \(id)")
        try require(
          try JSONValue(parsing: row[3].text ?? "") == .object(element), "element \(id) of \(name)")
        for (column, found) in zip(known.columns, row.dropFirst(4)) {
          let expected = cell(column.spec, id, in: soup)
          cells[column.spec.type, default: 0] += 1
          try require(
            ModelCell.isSame(expected, found),
            "\(name) \(id) \(column.spec): \(found) instead of \(expected)")
          if let kind = fresh[name]?[id]?[column.spec.path] {
            met[Pair(type: column.spec.type, kind: kind), default: 0] += 1
          }
        }
      }
      try compareExpressions(name, soup, known)
      guard known.hasFullText else { continue }
      let words = known.fullTextColumns.map(\.name).joined(separator: ", ")
      let there = "SELECT rowid, \(words) FROM \(known.fullTextTable) ORDER BY rowid"
      let here = "SELECT id, \(words) FROM \(known.table) ORDER BY id"
      let pairs = zip(try store.connection.all(SQL(there)), try store.connection.all(SQL(here)))
      for (left, right) in pairs {
        try require(
          zip(left, right).allSatisfy { ModelCell.isSame($0, $1) }, "words \(left) of \(right)")
      }
      let count = "SELECT count(*) FROM \(known.fullTextTable)"
      try require(
        try store.connection.integer(SQL(count)) == Int64(soup.elements.count), "rows of words")
    }
  }

  /// Compares the values of json1 indexes for new elements, read through the index.
  private mutating func compareExpressions(
    _ name: String, _ soup: ModelSoup, _ known: Soup
  ) throws {
    for (position, spec) in known.specs.enumerated() where spec.type == .json1 {
      for (id, kinds) in fresh[name] ?? [:] where soup.elements[id] != nil {
        let found = try store.connection.all(
          """
          SELECT \(raw: known.columnNames[position]) FROM \(raw: known.table)
          INDEXED BY \(raw: known.table)_\(raw: "\(position)")_idx
          WHERE \(raw: known.columnNames[position]) IS
            (SELECT \(raw: known.columnNames[position]) FROM \(raw: known.table) WHERE id = \(id))
            AND id = \(id)
          """)
        let expected = try extracted(spec, id, name)
        cells[spec.type, default: 0] += 1
        try require(
          found.count == 1 && found[0][0] == expected,
          "\(name) \(id) \(spec): \(found) instead of \(expected)")
        if let kind = kinds[spec.path] { met[Pair(type: .json1, kind: kind), default: 0] += 1 }
      }
    }
  }

  /// Closes the store and checks it; columns that no element fills are accepted where they are
  /// stale.
  mutating func finish() throws {
    for name in model.keys.sorted() {
      try store.reIndexSoup(name, paths: Self.paths)
      model[name]?.stale = [:]
    }
    try compare()
    let words = try store.connection.texts("PRAGMA integrity_check")
    try require(words == ["ok"], "\(words)")
    try store.close()
    let found = try StoreCheck(origin: .server, idPath: "none").violations(at: store.path)
    try require(found.isEmpty, "\(found)")
  }
}
