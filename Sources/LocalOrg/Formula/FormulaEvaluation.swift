import SQLite

/// Evaluates formulas for one user and one record, which may be about to be saved.
struct FormulaEvaluation {
  let store: OrgStore
  let user: OrgUser
  let table: StoredObject
  /// The record as it is or will be saved.
  let row: [SQLiteValue]
  /// The stored record; nil for a new one.
  let before: [SQLiteValue]?

  func value(_ formula: Formula) throws -> FormulaValue {
    switch formula {
    case .constant(let value): return value
    case .field(let field): return try value(field)
    case .call(let name, let arguments): return try call(name, arguments)
    }
  }

  private func call(_ name: String, _ arguments: [Formula]) throws -> FormulaValue {
    switch name {
    // Evaluation stops at the first decisive argument.
    case "AND":
      for argument in arguments where try !value(argument).isTrue { return .bool(false) }
      return .bool(true)
    case "OR":
      for argument in arguments where try value(argument).isTrue { return .bool(true) }
      return .bool(false)
    case "IF": return try value(arguments[try value(arguments[0]).isTrue ? 1 : 2])
    case "CASE": return try chosen(arguments)
    case "ISNEW": return .bool(before == nil)
    case "ISCHANGED":
      // A new record has no earlier value.
      guard let before, let place = place(arguments[0]) else { return .bool(false) }
      return .bool(row[place] != before[place])
    case "PRIORVALUE":
      guard let before, case .field(let named) = arguments[0], let place = place(arguments[0])
      else { return try value(arguments[0]) }
      return FormulaValue(before[place], of: named.field)
    default:
      return FormulaFunctions.apply(name, try arguments.map(value), now: store.clock.now())
    }
  }

  /// `CASE(what, value, result, …, otherwise)`.
  private func chosen(_ arguments: [Formula]) throws -> FormulaValue {
    let what = try value(arguments[0])
    var place = 1
    while place + 1 < arguments.count {
      if try value(arguments[place]).order(to: what) == 0 {
        return try value(arguments[place + 1])
      }
      place += 2
    }
    return place < arguments.count ? try value(arguments[place]) : .null
  }

  private func place(_ formula: Formula) -> Int? {
    guard case .field(let named) = formula else { return nil }
    return table.place(named.field.name)
  }

  // MARK: Fields

  private func value(_ named: FormulaField) throws -> FormulaValue {
    var current: (table: StoredObject, row: [SQLiteValue])? = try source(named.source)
    for lookup in named.steps {
      guard let known = current, let place = known.table.place(lookup.name),
        let id = known.row[place].text, let parent = store.catalog.object(ofID: id)
      else {
        current = nil
        break
      }
      let table = try store.table(parent.name)
      current = try store.row(table, id: id).map { (table, $0) }
    }
    if named.field.calculated {
      guard let current, let formula = store.setup.formula(named.field.name, of: named.object)
      else { return .null }
      return try FormulaEvaluation(
        store: store, user: user, table: current.table, row: current.row, before: nil
      ).value(formula)
    }
    guard let current, let place = current.table.place(named.field.name) else {
      return FormulaValue(.null, of: named.field)
    }
    return FormulaValue(current.row[place], of: named.field)
  }

  private func source(_ source: FormulaField.Source) throws -> (
    table: StoredObject, row: [SQLiteValue]
  )? {
    let (object, id): (String, String)
    switch source {
    case .record: return (table, row)
    case .user: (object, id) = ("User", user.id)
    case .profile: (object, id) = ("Profile", user.profileID)
    }
    let table = try store.table(object)
    return try store.row(table, id: id).map { (table, $0) }
  }
}
