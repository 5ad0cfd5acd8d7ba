import SQLite
import System

/// Translates a WHERE clause to SQL.
///
/// A condition in SOQL is true or false, never unknown: a comparison with an empty field is false
/// and its negation true. NOT is therefore pushed down to the comparisons.
struct ConditionPlanner {
  var scope: QueryScope
  let includeDeleted: Bool
  let now: Int64

  mutating func plan(_ condition: SOQLCondition, negated: Bool = false) throws -> SQL {
    switch condition {
    case .and(let parts): return try chain(parts, negated ? " OR " : " AND ", negated)
    case .or(let parts): return try chain(parts, negated ? " AND " : " OR ", negated)
    case .not(let inner): return try plan(inner, negated: !negated)
    case .compare(let path, let comparison, let literal):
      return try compare(path, comparison, literal, negated)
    case .inList(let path, let values, let isNot):
      return try membership(path, values, isNot != negated)
    case .inQuery(let path, let query, let isNot):
      return try membership(path, query, isNot != negated)
    case .includes(let path, let values, let isNot):
      return try includes(path, values, isNot != negated)
    }
  }

  private mutating func chain(_ parts: [SOQLCondition], _ word: String, _ negated: Bool) throws
    -> SQL
  {
    var planned: [SQL] = []
    for part in parts { planned.append(try plan(part, negated: negated)) }
    return "(" + planned.joined(separator: word) + ")"
  }

  // MARK: Comparisons

  private mutating func compare(
    _ path: SOQLPath, _ comparison: SOQLComparison, _ literal: SOQLLiteral, _ negated: Bool
  ) throws -> SQL {
    let target = try filterable(path)
    let column = target.column
    if literal == .null || (literal == .text("") && target.field.type.isText) {
      switch comparison {
      case .equal: return negated ? "\(raw: column) IS NOT NULL" : "\(raw: column) IS NULL"
      case .notEqual: return negated ? "\(raw: column) IS NULL" : "\(raw: column) IS NOT NULL"
      default: return negated ? "1" : "0"
      }
    }
    if comparison == .like { return try like(path, target, literal, negated) }
    if case .relative(let name, let count) = literal {
      return try relative(path, target, comparison, name, count, negated)
    }
    let value = try FilterValue.make(literal, for: target.field, at: path)
    try FilterValue.check(comparison, for: target.field, at: path)
    let effective = negated ? comparison.opposite : comparison
    let collation = FilterValue.collation(target.field)
    let test: SQL = "\(raw: column) \(raw: effective.rawValue) \(value)\(raw: collation)"
    // An empty field differs from every value and is neither less nor greater.
    let holdsForNull = negated ? comparison != .notEqual : comparison == .notEqual
    return holdsForNull ? "(\(test) OR \(raw: column) IS NULL)" : test
  }

  private func like(
    _ path: SOQLPath, _ target: ResolvedField, _ literal: SOQLLiteral, _ negated: Bool
  ) throws -> SQL {
    guard target.field.type.isText else {
      throw QueryError.wrongOperator(
        path, "invalid operator on \(target.field.type.rawValue) field")
    }
    guard case .text(let pattern) = literal else {
      throw QueryError.wrongType(path, target.field)
    }
    let column = target.column
    return negated
      ? "(\(raw: column) NOT LIKE \(pattern) ESCAPE '\\' OR \(raw: column) IS NULL)"
      : "\(raw: column) LIKE \(pattern) ESCAPE '\\'"
  }

  /// `TODAY` and similar literals are ranges: equal means inside, greater means after the end.
  private func relative(
    _ path: SOQLPath, _ target: ResolvedField, _ comparison: SOQLComparison, _ name: String,
    _ count: Int?, _ negated: Bool
  ) throws -> SQL {
    guard target.field.type == .date || target.field.type == .datetime else {
      throw QueryError.wrongType(path, target.field)
    }
    let today = Int((now - (now % 86_400_000 + 86_400_000) % 86_400_000) / 86_400_000)
    let days = SOQLDateLiteral.range(name, count, today: today)
    let isDate = target.field.type == .date
    func edge(_ day: Int) -> String {
      isDate ? CivilDate(days: day).text : Dates.salesforce(Int64(day) * 86_400_000)
    }
    let (start, end, column) = (edge(days.lowerBound), edge(days.upperBound), target.column)
    let inside: SQL = "(\(raw: column) >= \(start) AND \(raw: column) < \(end))"
    let outside: SQL = """
      (\(raw: column) < \(start) OR \(raw: column) >= \(end) OR \(raw: column) IS NULL)
      """
    let test: SQL
    switch comparison {
    case .equal: return negated ? outside : inside
    case .notEqual: return negated ? inside : outside
    case .less: test = "\(raw: column) \(raw: negated ? ">=" : "<") \(start)"
    case .greaterOrEqual: test = "\(raw: column) \(raw: negated ? "<" : ">=") \(start)"
    case .lessOrEqual: test = "\(raw: column) \(raw: negated ? ">=" : "<") \(end)"
    case .greater: test = "\(raw: column) \(raw: negated ? "<" : ">=") \(end)"
    case .like: throw QueryError.wrongType(path, target.field)
    }
    return negated ? "(\(test) OR \(raw: column) IS NULL)" : test
  }

  // MARK: Sets

  private mutating func membership(_ path: SOQLPath, _ values: [SOQLLiteral], _ negated: Bool)
    throws -> SQL
  {
    let target = try filterable(path)
    let present = values.filter { $0 != .null && $0 != .text("") }
    let hasNull = present.count < values.count
    let list = try present.map { try FilterValue.make($0, for: target.field, at: path) }
    let column = target.column
    let collated = column + FilterValue.collation(target.field)
    if negated {
      let test: SQL = "\(raw: collated) NOT IN (\(list: list))"
      return hasNull
        ? "(\(test) AND \(raw: column) IS NOT NULL)" : "(\(test) OR \(raw: column) IS NULL)"
    }
    let test: SQL = "\(raw: collated) IN (\(list: list))"
    return hasNull ? "(\(test) OR \(raw: column) IS NULL)" : test
  }

  private mutating func membership(_ path: SOQLPath, _ query: SOQLQuery, _ negated: Bool) throws
    -> SQL
  {
    let target = try filterable(path)
    guard query.selections.count == 1, case .field(let selected, _) = query.selections[0],
      query.from.parts.count == 1, let object = scope.catalog.object(query.from.text)
    else {
      throw OrgError(
        code: "MALFORMED_QUERY", message: "a semi-join selects one field of one object")
    }
    let inner = try QueryScope(
      store: scope.store, user: scope.user, object: object, of: query, names: scope.names)
    var planner = ConditionPlanner(scope: inner, includeDeleted: includeDeleted, now: now)
    let field = try planner.scope.resolve(selected)
    guard target.field.type.isID, field.field.type.isID else {
      throw QueryError.wrongOperator(path, "semi join sub-selects can only query id fields")
    }
    let condition = try planner.whole(query.condition, scope: query.scope)
    let statement: SQL = """
      SELECT \(raw: field.column) FROM \(try planner.scope.from()) WHERE \(condition) \
      AND \(raw: field.column) IS NOT NULL
      """
    let column = target.column
    return negated
      ? "(\(raw: column) NOT IN (\(statement)) OR \(raw: column) IS NULL)"
      : "\(raw: column) IN (\(statement))"
  }

  private mutating func includes(_ path: SOQLPath, _ values: [String], _ negated: Bool) throws
    -> SQL
  {
    let target = try filterable(path)
    guard target.field.type == .multipicklist else {
      throw QueryError.wrongOperator(path, "INCLUDES and EXCLUDES need a multi-select picklist")
    }
    let column = target.column
    let tests = values.map { value -> SQL in
      let all = value.split(separator: ";").map { part -> SQL in
        "instr(';' || \(raw: column) || ';', \(";" + part + ";")) > 0"
      }
      return "(" + all.joined(separator: " AND ") + ")"
    }
    let any = tests.joined(separator: " OR ")
    return negated ? "(NOT (\(any)) OR \(raw: column) IS NULL)" : "(\(any))"
  }

  // MARK: Complete condition

  /// Returns the complete condition for a row of the scope to match.
  ///
  /// `probing` means that only a few rows are examined, such as those of one parent.
  mutating func whole(_ condition: SOQLCondition?, scope named: String?, probing: Bool = false)
    throws -> SQL
  {
    var parts: [SQL] = []
    let alias = scope.alias
    let visibility = Visibility(store: scope.store, user: scope.user)
    let visible =
      try probing ? visibility.probe(scope.object, alias) : visibility.scan(scope.object, alias)
    if !includeDeleted {
      // If anything else narrows the result, its index is better; the plus sign disables this one.
      let isAlone = !probing && visible == nil && condition == nil
      parts.append("\(raw: isAlone ? "" : "+")\(raw: alias).\"IsDeleted\" = 0")
    }
    if let visible { parts.append(visible) }
    if let named, named.lowercased() == "mine", scope.object.hasOwner {
      parts.append("\(raw: alias).\"OwnerId\" = \(scope.user.id)")
    }
    if let condition { parts.append(try plan(condition)) }
    return parts.isEmpty ? "1" : parts.joined(separator: " AND ")
  }

  private mutating func filterable(_ path: SOQLPath) throws -> ResolvedField {
    let target = try scope.resolve(path)
    guard target.field.filterable, !target.field.isCompound else {
      throw QueryError.notFilterable(path, target.field)
    }
    // Only the values of picklists have labels to compare; a record type's name has none here.
    if path.functions.contains(where: SOQLFunction.labels.contains),
      ![.picklist, .multipicklist].contains(target.field.type)
    {
      throw QueryError.notFilterable(path, target.field)
    }
    return target
  }
}

extension SOQLComparison {
  /// The negated comparison, ignoring empty fields.
  fileprivate var opposite: SOQLComparison {
    switch self {
    case .equal: .notEqual
    case .notEqual: .equal
    case .less: .greaterOrEqual
    case .lessOrEqual: .greater
    case .greater: .lessOrEqual
    case .greaterOrEqual: .less
    case .like: .like
    }
  }
}
