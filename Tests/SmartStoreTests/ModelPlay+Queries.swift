import JSON
import SQLite
import SmartStore

extension ModelPlay {
  mutating func query(_ name: String, _ operation: ModelTests.Operation) throws {
    // Full-text searches use a soup with full-text indexes, if there is one.
    let wordy = model.keys.sorted().filter { key in
      model[key]?.specs.contains { $0.type == .fullText } ?? false
    }
    let name = operation == .queryMatch ? wordy.randomElement(using: &random) ?? name : name
    guard let soup = model[name] else { return }
    let ids = soup.elements.keys.sorted()
    func key(_ id: Int64) -> String { soup.elements[id]?["key"]?.string ?? "" }
    let low = "k\(Int.random(in: 0..<9, using: &random))"
    let high = "k\(Int.random(in: 0..<9, using: &random))"
    switch operation {
    case .queryAll: try ask(name, .all, ids)
    case .queryExact:
      try ask(name, .exact(path: "key", matchKey: low), ids.filter { key($0) == low })
    case .queryRange:
      try ask(
        name, .range(path: "key", beginKey: low, endKey: high),
        ids.filter { key($0) >= low && key($0) <= high })
    case .queryLike:
      try ask(
        name, .like(path: "key", likeKey: "%" + low.dropFirst()), ids.filter { key($0) == low })
    case .queryMatch:
      guard let spec = soup.specs.first(where: { $0.type == .fullText }) else {
        isSkipped = true
        return
      }
      try ask(
        name, .match(path: spec.path, matchKey: "text"),
        ids.filter { cell(spec, $0, in: soup) == .text("text") })
    default: try askSmart(name, soup, low)
    }
  }

  private mutating func ask(_ name: String, _ kind: QuerySpec.Kind, _ ids: [Int64]) throws {
    let isDown = Bool.random(using: &random)
    let size = Int.random(in: 1...9, using: &random)
    let expected = isDown ? ids.reversed() : ids
    var spec = QuerySpec(
      soupName: name, kind, orderPath: "_soupEntryId", order: isDown ? .descending : .ascending,
      pageSize: size)
    try require(try store.count(spec) == ids.count, "count of \(kind)")
    var found: [JSONValue] = []
    for page in 0...(ids.count / size) { found += try store.queryValues(spec, page: page) }
    let elements = expected.map { JSONValue.object(model[name]?.elements[$0] ?? [:]) }
    try require(found == elements, "rows of \(kind)")
    spec.selectPaths = ["_soupEntryId", "key"]
    spec.pageSize = 999
    let rows = expected.map { id -> JSONValue in
      [JSONValue(id), model[name]?.elements[id]?["key"] ?? .null]
    }
    try require(try store.queryValues(spec) == rows, "select paths of \(kind)")
  }

  private mutating func askSmart(_ name: String, _ soup: ModelSoup, _ key: String) throws {
    let path = Self.paths[Int.random(in: 0..<Self.paths.count, using: &random)]
    let sql =
      "select {\(name):_soupEntryId}, {\(name):\(path)} from {\(name)} where {\(name):key} = ? "
      + "order by {\(name):_soupEntryId}"
    let spec = QuerySpec(smartSQL: sql, arguments: [key], pageSize: 999)
    let ids = soup.elements.keys.sorted().filter { soup.elements[$0]?["key"]?.string == key }
    let rows = try store.queryValues(spec)
    try require(rows.map { $0[0]?.int } == ids, "ids of Smart SQL")
    guard let index = soup.specs.first(where: { $0.path == path }) else { return }
    for (id, row) in zip(ids, rows) {
      let expected =
        index.type == .json1 ? try extracted(index, id, name) : cell(index, id, in: soup)
      let found: SQLiteValue =
        switch row[1] {
        case .string(let text)?: .text(text)
        case .number(let literal)?:
          Int64(literal).map { .integer($0) } ?? .real(Double(literal) ?? .nan)
        default: .null
        }
      // JSON has no infinity, so such a column is null in a row.
      let isInfinite = expected == .real(.infinity) || expected == .real(-.infinity)
      try require(
        ModelCell.isSame(expected, found) || isInfinite,
        "Smart SQL \(index) of \(id): \(found) instead of \(expected)")
    }
  }
}
