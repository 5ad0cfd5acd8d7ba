import JSON
import SQLite
import SmartStore
import System

/// Queries of a store with two large soups, compared with their SQL.
///
/// The floor is SQLite at its best: a separate connection with the same settings, one statement
/// that is prepared before the clock starts, and each value of each row copied out, because a
/// caller keeps the results.
struct QueryBench {
  /// The limit of a query's time, as a multiple of its SQL.
  static let limit = 1.2
  /// How often each arm is run, in turn; the best result counts.
  ///
  /// There are many short turns, so that some are not disturbed by other work of the machine.
  private static let turns = 80

  private let options: BenchOptions

  init(_ options: BenchOptions) { self.options = options }

  /// One query, with its values in one turn.
  private struct Question {
    let name: String
    /// One query spec for each execution in a turn.
    let specs: [QuerySpec]
    let isCount: Bool
  }

  /// Creates the store, runs the queries and returns the times.
  func measure() throws -> QueryReport {
    try Files.makeDirectory(options.directory, intermediate: true)
    let path = "\(options.directory)/queries.db"
    defer { try? Files.remove(path) }
    if Files.exists(path) { try Files.remove(path) }
    try QuerySoups(records: options.records).write(to: path)
    let store = try Store(opening: path, readOnly: true)
    let plain = try Connection(path, mode: .readOnly)
    defer { plain.close() }
    var report = QueryReport(records: options.records, limit: Self.limit, answers: [])
    for question in questions {
      report.answers.append(try answer(question, store, plain))
    }
    try store.close()
    return report
  }

  private var questions: [Question] {
    let count = options.records
    // Keys from all parts of the soup, so that each needs other pages of the file than the previous
    // one.
    let keys = (0..<1_000).map { QuerySoups.accountID($0 &* 7_919 % count) }
    let join = """
      SELECT {accounts:Name}, {contacts:LastName} FROM {contacts}, {accounts}
      WHERE {contacts:AccountId} = {accounts:Id} AND {accounts:Size} < ?
      """
    return [
      Question(
        name: "by index",
        specs: keys.map { QuerySpec(soupName: "accounts", .exact(path: "Id", matchKey: $0)) },
        isCount: false),
      Question(
        name: "by one key",
        specs: keys.map { _ in
          QuerySpec(soupName: "accounts", .exact(path: "Id", matchKey: keys[0]))
        }, isCount: false),
      Question(
        name: "join",
        specs: [QuerySpec(smartSQL: join, arguments: ["100"], pageSize: count)], isCount: false),
      Question(
        name: "count", specs: [QuerySpec(soupName: "contacts", .all)], isCount: true),
    ]
  }

  private func answer(
    _ question: Question, _ store: Store, _ plain: Connection
  ) throws -> QueryReport.Answer {
    let floor = try Floor(question.specs[0], isCount: question.isCount, store, plain)
    let values = question.specs.map(Floor.values)
    var best = (store: Int.max, floor: Int.max)
    var rows = (store: 0, floor: 0)
    for turn in 0..<(2 * Self.turns) {
      let start = Clock.monotonicNanoseconds()
      // First one arm, then the other, then in reverse order.
      let asksStore = turn % 4 == 1 || turn % 4 == 2
      var found = 0
      if asksStore {
        for spec in question.specs {
          found += question.isCount ? try store.count(spec) : try store.query(spec).count
        }
      } else {
        for values in values { found += try floor.ask(values) }
      }
      let taken = Int(Clock.monotonicNanoseconds() - start)
      if asksStore {
        (best.store, rows.store) = (min(best.store, taken), found)
      } else {
        (best.floor, rows.floor) = (min(best.floor, taken), found)
      }
    }
    guard rows.store == rows.floor, rows.store > 0 else {
      throw BenchFailure(
        "\(question.name): the store found \(rows.store) rows, SQL alone \(rows.floor)")
    }
    return QueryReport.Answer(
      name: question.name, times: question.specs.count, rows: rows.store,
      storeNanoseconds: best.store,
      floorNanoseconds: best.floor)
  }
}

/// The SQL of one query on a plain connection.
private struct Floor {
  private let statement: Statement
  private let isCount: Bool

  init(_ spec: QuerySpec, isCount: Bool, _ store: Store, _ plain: Connection) throws {
    self.isCount = isCount
    let sql = try store.sql(ofSmartSQL: isCount ? spec.countSmartSQL : spec.smartSQL)
    statement = try plain.prepare(
      isCount ? sql : "SELECT * FROM (\(sql)) LIMIT 0,\(spec.pageSize)")
  }

  /// The values of a query's placeholders.
  static func values(_ spec: QuerySpec) -> [String] {
    switch spec.kind {
    case .exact(_, let key): key.map { [$0] } ?? []
    case .smart(_, let arguments): arguments
    default: []
    }
  }

  /// Runs it once; the results are built, counted and dropped.
  func ask(_ values: [String]) throws -> Int {
    for (index, value) in values.enumerated() { try statement.bind(Int32(index + 1), value) }
    defer { statement.reset() }
    var found: [String] = []
    var rows = 0
    while try statement.step() {
      if isCount { return Int(statement.columnInteger(0)) }
      for index in 0..<statement.columnCount {
        if let text = statement.columnText(index) { found.append(text) }
      }
      rows += 1
    }
    return found.count / Int(statement.columnCount) == rows ? rows : -1
  }
}
