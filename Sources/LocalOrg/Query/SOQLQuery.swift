/// A dotted name with its position in the statement.
struct SOQLPath: Equatable {
  var parts: [String]
  let line: Int
  let column: Int
  /// The statement that contains it, if any.
  var statement = ""
  /// The functions applied to its value, from the outermost: `COUNT`, `CALENDAR_YEAR`.
  var functions: [String] = []

  var text: String {
    functions.reversed().reduce(parts.joined(separator: ".")) { "\($1)(\($0))" }
  }

  /// The path of the field itself.
  var withoutFunctions: SOQLPath {
    var path = self
    path.functions = []
    return path
  }

  /// Whether it is an aggregate value.
  var isAggregate: Bool { functions.contains { SOQLFunction.aggregates.contains($0) } }
}

/// A value in a condition.
enum SOQLLiteral: Equatable {
  case null
  case bool(Bool)
  case text(String)
  case number(String)
  case date(String)
  case dateTime(String)
  case time(String)
  case relative(String, Int?)
}

enum SOQLComparison: String {
  case equal = "="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case like = "LIKE"
}

/// A WHERE condition.
indirect enum SOQLCondition {
  case and([SOQLCondition])
  case or([SOQLCondition])
  case not(SOQLCondition)
  case compare(SOQLPath, SOQLComparison, SOQLLiteral)
  case inList(SOQLPath, [SOQLLiteral], negated: Bool)
  case inQuery(SOQLPath, SOQLQuery, negated: Bool)
  case includes(SOQLPath, [String], negated: Bool)
}

/// One entry of a SELECT.
enum SOQLSelection {
  case field(SOQLPath, alias: String?)
  case countRows
  case aggregate(SOQLPath, alias: String?)
  case children(SOQLQuery)
  /// For a parent of several kinds: the fields selected for each object, and those for any other.
  case typeOf(SOQLPath, [(object: SOQLPath, fields: [SOQLPath])], otherwise: [SOQLPath])
  case allFields(String, SOQLPath)
}

struct SOQLOrder {
  var path: SOQLPath
  var descending = false
  var nullsLast = false
}

/// A parsed statement.
struct SOQLQuery {
  var selections: [SOQLSelection] = []
  /// The object, or in a subquery the name of the relationship.
  var from = SOQLPath(parts: [], line: 1, column: 1)
  var alias: String?
  /// Names for parents, such as `a` in `FROM Contact c, c.Account a`: the parent's path from the
  /// object, by the lower-case name.
  var parents: [String: SOQLPath] = [:]
  var scope: String?
  var condition: SOQLCondition?
  var groups: [SOQLPath] = []
  /// The condition for groups.
  var having: SOQLCondition?
  var orders: [SOQLOrder] = []
  var limit: Int?
  var offset: Int?
  var forView = false
  var forReference = false
  var allRows = false

  /// Whether it returns aggregates instead of records.
  var isAggregate: Bool {
    !groups.isEmpty || having != nil
      || selections.contains {
        if case .aggregate = $0 { return true }
        return false
      }
  }

  /// Whether it selects no field other than `Id` and `SystemModstamp`.
  var selectsIDs: Bool {
    selections.allSatisfy {
      guard case .field(let path, _) = $0 else { return false }
      return ["id", "systemmodstamp"].contains(path.text.lowercased())
    }
  }

  var hasChildren: Bool {
    selections.contains { if case .children = $0 { true } else { false } }
  }

  /// Whether it is `SELECT COUNT()`.
  var countsRows: Bool {
    guard selections.count == 1, case .countRows = selections[0] else { return false }
    return true
  }
}
