import Arguments
import CSV
import JSON
import Pipelines
import SQLite
import SmartStore
import System

/// `attache store query`: queries a store with Smart SQL.
struct StoreQueryCommand: Command {
  static let name = "store query"
  static let summary = "query a store with Smart SQL"
  static let discussion = """
    Soups and paths are written in braces: {Account}, {Account:Name}. Smart SQL reads with SELECT or WITH, and the store \
    is opened read-only. A column with a whole element, {Account:_soup}, is printed as JSON.
    """
  static let examples = [
    Note(
      "attache store query store.sqlite 'select {accounts:Name} from {accounts}'",
      "the names of all accounts, as a table")
  ]

  static var parameters: [Parameter<Self>] {
    [
      .argument("store", "the store file", completes: .files, \.store),
      .argument("query", "the Smart SQL", \.query),
      .flag("json", "print an array of rows as JSON", \.json),
      .flag("csv", "print CSV with a header", \.csv),
      .flag("table", "print a table (the default)", \.table),
      .option("limit", "N", "the maximum number of rows", \.limit),
      .option("deadline", "SECONDS", "stop after SECONDS", \.deadline),
    ]
  }

  var store = ""
  var query = ""
  var json = false
  var csv = false
  var table = false
  var limit = PositiveNumber(100_000)
  var deadline = PositiveNumber(60)

  func validate() throws(UsageError) {
    if [json, csv, table].filter({ $0 }).count > 1 {
      throw UsageError("--json, --csv and --table exclude each other", hint: "give one of them")
    }
  }

  func run(_ context: Program) async throws -> ExitStatus {
    let store = try Store(opening: context.existing(store), readOnly: true)
    try store.limitTime(seconds: deadline.value)
    var rows: [[JSONValue]] = []
    var columns: [String] = []
    var found = 0
    do {
      guard Self.isSelect(query) else { throw StoreError.notSelect(query) }
      try StoreReferences.check(query, in: store)
      try store.forEachRow(ofSmartSQL: query) { names, values in
        columns = names
        found += 1
        if rows.count < limit.value { rows.append(values) }
      }
    } catch let error as UsageError {
      throw error
    } catch {
      if Self.isInterrupted(error) {
        throw PipelineError(
          .tryLater, "query.deadline",
          "the query was stopped after \(CountText.of(deadline.value, "second"))",
          fix: "narrow the query, or raise --deadline")
      }
      throw Self.isOfQuery(error)
        ? UsageError(
          "\(error)",
          hint: "correct the query; braces name soups and paths: select {soup:path} from {soup}",
          command: "attache store query") : error
    }
    try store.close()
    let names = ColumnNames.of(query, columns: columns)
    let cut = cut(rows.count, of: found)
    if json {
      context.print(.array(rows.map { .array($0) }))
      if let cut { context.note(["type": "warning", "message": .string(cut)]) }
    } else if csv {
      var writer = CSVWriter()
      if !rows.isEmpty { writer.row(names) }
      for row in rows { writer.row(row.map(ColumnNames.text)) }
      context.write(table: writer.bytes)
      let text = String(decoding: writer.bytes, as: UTF8.self)
      if VisibleText.cell(text) != text {
        context.note(
          "warning: terminal control characters were removed from the CSV; "
            + "--json prints them escaped")
      }
      if let cut { context.note("warning: \(cut)") }
    } else {
      let texts = rows.map { $0.map(ColumnNames.text) }
      let table = TextTable.lines(header: names, rows: texts, isCut: context.outputIsTerminal)
      for line in table { context.print(line) }
      context.note(cut ?? CountText.of(found, "row"))
    }
    return .done
  }

  /// The sentence for rows that are not shown because of `--limit`; nil if all are.
  private func cut(_ shown: Int, of found: Int) -> String? {
    guard shown < found else { return nil }
    return "\(shown) of \(CountText.of(found, "row")) shown; --limit \(found) shows all"
  }
}

extension StoreQueryCommand {
  /// Whether the time limit ended the query.
  private static func isInterrupted(_ error: any Error) -> Bool {
    switch error {
    case let error as StoreError: if case .database(_, 9, _) = error { true } else { false }
    case let error as SQLiteError: error.isInterrupted
    default: false
    }
  }

  /// Whether a statement starts like a SELECT.
  ///
  /// SQLite accepts other statements on a read-only connection.
  private static func isSelect(_ text: String) -> Bool {
    var rest = text[...]
    while true {
      rest = rest.drop(while: \.isWhitespace)
      if rest.hasPrefix("--") {
        rest = rest.drop { !$0.isNewline }
      } else if rest.hasPrefix("/*"), let end = rest.firstRange(of: "*/") {
        rest = rest[end.upperBound...]
      } else {
        return ["select", "with"].contains(rest.prefix(while: \.isLetter).lowercased())
      }
    }
  }

  /// Whether the query is at fault rather than the store.
  private static func isOfQuery(_ error: any Error) -> Bool {
    switch error {
    case let error as StoreError:
      switch error {
      case .notSelect, .invalidReference, .invalidQuery, .unknownSoup, .database(_, 1, _): true
      default: false
      }
    // 21 is a misuse: the text has no statement, or more than one.
    case let error as SQLiteError: [1, 21].contains(error.code)
    default: false
    }
  }
}

/// The column names of a Smart SQL result.
enum ColumnNames {
  /// Returns the select list as written, split at its top-level commas.
  ///
  /// If it cannot be split, as with `*`, returns SQLite's names.
  static func of(_ query: String, columns: [String]) -> [String] {
    guard let list = selectList(of: query) else { return columns }
    var names: [String] = []
    var name = ""
    scan(list) { part, depth in
      if part == ",", depth == 0 {
        names.append(name)
        name = ""
      } else if !part.hasPrefix("--"), !part.hasPrefix("/*") {
        name += part
      }
      return true
    }
    names.append(name)
    let trimmed = names.map(\.trimmed)
    let isWritten = trimmed.count == columns.count && !trimmed.contains { $0.hasSuffix("*") }
    return isWritten ? trimmed : columns
  }

  /// Returns the text between the first SELECT and its FROM outside of parentheses, skipping the
  /// tables of a WITH; nil if there is none.
  private static func selectList(of query: String) -> Substring? {
    var start: String.Index?
    var end: String.Index?
    scan(query[...]) { part, depth in
      guard depth == 0 else { return true }
      switch part.lowercased() {
      case "select" where start == nil: start = part.endIndex
      case "from" where start != nil: end = part.startIndex
      case "distinct", "all":
        if let begun = start, query[begun..<part.startIndex].allSatisfy(\.isWhitespace) {
          start = part.endIndex
        }
      default: break
      }
      return end == nil
    }
    guard let start, let end else { return nil }
    return query[start..<end]
  }

  /// The characters that open a quoted name or text, and those that close it.
  private static let quotes: [Character: Character] = [
    "'": "'", "\"": "\"", "`": "`", "[": "]", "{": "}",
  ]

  /// Calls `body` with each word, quoted text or other character of a statement and its depth of
  /// parentheses, as long as `body` returns true.
  private static func scan(
    _ text: Substring, _ body: (_ part: Substring, _ depth: Int) -> Bool
  ) {
    var depth = 0
    var rest = text
    while let first = rest.first {
      var part = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      if part.isEmpty { part = rest.prefix(1) }
      if let close = quotes[first] {
        let end = rest.dropFirst().firstIndex(of: close)
        part = end.map { rest[...$0] } ?? rest
      } else if rest.hasPrefix("--") {
        part = rest.prefix { !$0.isNewline }
      } else if rest.hasPrefix("/*") {
        part = rest.firstRange(of: "*/").map { rest[..<$0.upperBound] } ?? rest
      }
      if first == ")" { depth -= 1 }
      guard body(part, depth) else { return }
      if first == "(" { depth += 1 }
      rest = rest[part.endIndex...]
    }
  }

  /// A value as text: nothing for null, JSON for elements.
  static func text(_ value: JSONValue) -> String {
    switch value {
    case .null: ""
    case .string(let text): text
    default: value.text
    }
  }
}
