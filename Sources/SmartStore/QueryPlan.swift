import SQLite
import System

/// A query without its values: translated, checked to be read-only, and prepared once for all
/// queries of the same shape.
final class QueryPlan {
  /// The kind of result.
  enum Asking: Hashable {
    case rows, count
  }

  /// The part of a query that determines its plan: everything except values, page and page size.
  struct Shape: Hashable {
    private enum Form: Hashable {
      case all
      case exact(String)
      case range(String, from: Bool, to: Bool)
      case like(String)
      case match(String?, String)
      case smart(String)
    }

    private let asking: Asking
    private let soupName: String
    private let form: Form
    private let selectPaths: [String]
    private let orderPath: String?
    private let order: QuerySpec.Order

    init(_ asking: Asking, _ spec: QuerySpec) {
      self.asking = asking
      soupName = spec.soupName
      selectPaths = spec.selectPaths
      orderPath = spec.orderPath
      order = spec.order
      form =
        switch spec.kind {
        case .all: .all
        case .exact(let path, _): .exact(path)
        case .range(let path, let begin, let end): .range(path, from: begin != nil, to: end != nil)
        case .like(let path, _): .like(path)
        case .match(let path, let key): .match(path, key)
        case .smart(let text, _): .smart(text)
        }
    }
  }

  private let statement: Statement
  private let asking: Asking
  /// The query from which the plan was made; its values are not used.
  private let model: QuerySpec
  /// The number of parameters for the query's values; those of the page follow.
  private let valueCount: Int32

  /// Prepares `sql`, which was checked to be read-only.
  init(_ asking: Asking, _ spec: QuerySpec, _ sql: String, on connection: Connection) throws {
    self.asking = asking
    model = spec
    switch asking {
    case .count:
      statement = try connection.prepare(sql)
      valueCount = statement.parameterCount
    case .rows:
      statement = try connection.prepare("SELECT * FROM (\(sql)) LIMIT ?,?")
      valueCount = statement.parameterCount - 2
    }
  }

  /// Whether the plan fits a query, determined without creating the query's shape.
  func serves(_ asking: Asking, _ spec: QuerySpec) -> Bool {
    guard asking == self.asking, spec.soupName == model.soupName, spec.order == model.order,
      spec.orderPath == model.orderPath, spec.selectPaths == model.selectPaths
    else { return false }
    return switch (spec.kind, model.kind) {
    case (.all, .all): true
    case (.exact(let path, _), .exact(let known, _)): path == known
    case (.like(let path, _), .like(let known, _)): path == known
    case (.smart(let text, _), .smart(let known, _)): text == known
    case (.range, .range), (.match, .match): Shape(asking, spec) == Shape(asking, model)
    default: false
    }
  }

  /// Calls `body` with each row of a page.
  func forEachRow(
    _ spec: QuerySpec, page: Int, _ body: (Statement) throws -> Void
  ) throws {
    defer { release() }
    try bind(spec)
    try statement.bind(valueCount + 1, spec.pageSize * page)
    try statement.bind(valueCount + 2, spec.pageSize)
    while try statement.step() { try body(statement) }
  }

  /// The result of a count.
  func number(_ spec: QuerySpec) throws -> Int {
    defer { release() }
    try bind(spec)
    return try statement.step() ? Int(statement.columnInteger(0)) : 0
  }

  private func release() {
    statement.reset()
    statement.clearBindings()
  }

  private func bind(_ spec: QuerySpec) throws {
    var given: Int32 = 0
    func put(_ value: String?) throws {
      given += 1
      if given <= valueCount { try statement.bind(given, value) }
    }
    switch spec.kind {
    case .all, .match: break
    case .exact(_, let key): try put(key)
    case .range(_, let begin, let end):
      if let begin { try put(begin) }
      if let end { try put(end) }
    case .like(_, let key): try put(key)
    case .smart(_, let arguments): for argument in arguments { try put(argument) }
    }
    guard given == valueCount else {
      throw StoreError.invalidQuery(
        "the query has \(CountText.of(Int(valueCount), "question mark")) and got "
          + "\(CountText.of(Int(given), "value")); give one value for each")
    }
  }
}
