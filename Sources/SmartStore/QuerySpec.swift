/// A query on a soup, or Smart SQL, with its paging.
///
/// ```swift
/// let found = QuerySpec(soupName: "accounts", .match(path: "Name", matchKey: "media"))
/// print(try store.count(found), "account has the word")
/// ```
public struct QuerySpec: Sendable, Hashable {
  /// The comparison of a query.
  public enum Kind: Sendable, Hashable {
    /// All elements.
    case all
    /// Elements with this value at the path; nil finds nothing, as in SQL.
    case exact(path: String, matchKey: String?)
    /// Elements between two values, inclusive; nil means unbounded.
    case range(path: String, beginKey: String?, endKey: String?)
    /// Elements whose value matches a LIKE pattern.
    case like(path: String, likeKey: String)
    /// Elements that match a full-text search, in every full-text index if there is no path.
    case match(path: String?, matchKey: String)
    /// Custom Smart SQL, with values for its question marks.
    case smart(String, arguments: [String])
  }

  /// The direction of the order.
  public enum Order: String, Sendable, Hashable, CaseIterable {
    case ascending
    case descending

    var word: String { self == .ascending ? "ASC" : "DESC" }
  }

  /// The soup; empty for Smart SQL.
  public let soupName: String
  /// The comparison, with its values.
  public let kind: Kind
  /// The paths whose values are the columns of a row.
  ///
  /// If there are none, a row is the element.
  public var selectPaths: [String]
  /// The path that determines the order.
  public var orderPath: String?
  /// The direction of the order.
  public var order: Order
  /// The number of rows per page.
  public var pageSize: Int

  /// The number of rows per page if a query does not specify it.
  public static let defaultPageSize = 10

  /// Creates a query on a soup.
  public init(
    soupName: String, _ kind: Kind, selectPaths: [String] = [], orderPath: String? = nil,
    order: Order = .ascending, pageSize: Int = defaultPageSize
  ) {
    self.soupName = soupName
    self.kind = kind
    self.selectPaths = selectPaths
    self.orderPath = orderPath
    self.order = order
    self.pageSize = pageSize
  }

  /// Creates a query in Smart SQL.
  public init(smartSQL: String, arguments: [String] = [], pageSize: Int = defaultPageSize) {
    self.init(soupName: "", .smart(smartSQL, arguments: arguments), pageSize: pageSize)
  }

  /// The Smart SQL for the rows.
  public var smartSQL: String {
    if case .smart(let sql, _) = kind { return sql }
    let fields = selectPaths.isEmpty ? [StoreField.element] : selectPaths
    let columns = fields.map(reference).joined(separator: ", ")
    return "SELECT \(columns) FROM {\(soupName)} " + condition + ordering
  }

  /// The Smart SQL for the number of rows.
  public var countSmartSQL: String {
    if case .smart(let sql, _) = kind { return "SELECT count(*) FROM (\(sql))" }
    return "SELECT count(*) FROM {\(soupName)} " + condition
  }

  /// The Smart SQL for the soup entry IDs of the rows.
  public var idsSmartSQL: String {
    if case .smart(let sql, _) = kind { return "SELECT id FROM (\(sql))" }
    return "SELECT id FROM {\(soupName)} " + condition + ordering
  }

  /// The values for the question marks.
  package var arguments: [String?] {
    switch kind {
    case .all, .match: []
    case .exact(_, let key): [key]
    case .range(_, let begin, let end): [begin, end].compactMap { $0 }.map(Optional.some)
    case .like(_, let key): [key]
    case .smart(_, let arguments): arguments
    }
  }

  /// Whether a row is a whole element.
  var yieldsElements: Bool {
    if case .smart = kind { false } else { selectPaths.isEmpty }
  }

  private func reference(_ path: String) -> String { "{\(soupName):\(path)}" }

  private var condition: String {
    switch kind {
    case .all, .smart: return ""
    case .exact(let path, _): return "WHERE \(reference(path)) = ? "
    case .like(let path, _): return "WHERE \(reference(path)) LIKE ? "
    case .range(let path, let begin, let end):
      let field = reference(path)
      switch (begin, end) {
      case (nil, nil): return ""
      case (_?, nil): return "WHERE \(field) >= ? "
      case (nil, _?): return "WHERE \(field) <= ? "
      case (_?, _?): return "WHERE \(field) >= ? AND \(field) <= ? "
      }
    case .match(let path, let key):
      // Difference: the SDKs insert the key unchanged, so a quote in it ends the text.
      let words = path.map { Self.qualify(key, by: reference($0)) } ?? key
      let quoted = words.split(separator: "'", omittingEmptySubsequences: false)
        .joined(separator: "''")
      let search = "SELECT rowid FROM {\(soupName)}_fts WHERE {\(soupName)}_fts MATCH '\(quoted)'"
      return "WHERE \(reference(StoreField.soupEntryID)) IN (\(search)) "
    }
  }

  private var ordering: String {
    // Without an explicit order a match has none: FTS5 returns rows by ID.
    guard let orderPath else { return "" }
    return "ORDER BY \(reference(orderPath)) \(order.word) "
  }

  /// Adds the field before every word of a search, except for operators and words that have a
  /// field.
  package static func qualify(_ key: String, by field: String) -> String {
    var qualified = ""
    var word = ""
    func flush() {
      guard !word.isEmpty else { return }
      let isOperator = ["and", "or", "not"].contains(word.lowercased())
      qualified += isOperator || word.hasPrefix("{") ? word : "\(field):\(word)"
      word = ""
    }
    for character in key {
      if character == "(" || character == ")" || character == " " {
        flush()
        qualified.append(character)
      } else {
        word.append(character)
      }
    }
    flush()
    return qualified
  }
}
