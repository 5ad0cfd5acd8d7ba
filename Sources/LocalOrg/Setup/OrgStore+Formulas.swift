import SQLite

/// What depends on the user who asks: the values of formula fields, and restriction rules.
///
/// Statements call these formulas as functions of SQL, with the user's ID, so that every kind of
/// read gets them.
extension OrgStore {
  func addFormulaFunctions() throws {
    try connection.addFunction("org_formula", arguments: 4) { [unowned self] arguments in
      try formulaValue(arguments[0], arguments[1], userID: arguments[2], id: arguments[3])
    }
    try connection.addFunction("org_restriction", arguments: 4) { [unowned self] arguments in
      guard let user = asking[arguments[2]],
        let rule = restrictions(on: arguments[0]).first(where: { $0.name == arguments[1] })
      else { return 0 }
      return try meets(rule, user, id: arguments[3], of: arguments[0]) ? 1 : 0
    }
  }

  // MARK: Formula fields

  /// Returns the SQL for the value of a formula field in a table.
  func formulaCall(
    _ field: FieldSchema, of object: ObjectSchema, _ alias: String, as user: OrgUser
  ) -> String {
    call("org_formula", [object.name, field.name, user.id], alias)
  }

  private func call(_ function: String, _ arguments: [String], _ alias: String) -> String {
    let quoted = arguments.map { SQL.quoted(text: $0) }.joined(separator: ", ")
    return "\(function)(\(quoted), \(alias).\"Id\")"
  }

  private func formulaValue(_ object: String, _ field: String, userID: String, id: String) throws
    -> SQLiteValue
  {
    let table = try table(object)
    guard let formula = setup.formula(field, of: object), let schema = table.schema.field(field),
      let user = asking[userID], let row = try row(table, id: id)
    else { return .null }
    let evaluation = FormulaEvaluation(
      store: self, user: user, table: table, row: row, before: nil)
    return try evaluation.value(formula).stored(as: schema)
  }

  // MARK: Restriction rules

  /// Returns the SQL for the records of an object that restriction rules let a user see; nil if
  /// none applies to the user.
  func restriction(on object: ObjectSchema, _ alias: String, as user: OrgUser) throws -> SQL? {
    let rules = try restrictions(on: object.name, for: user)
    guard !rules.isEmpty else { return nil }
    asking[user.id] = user
    let calls = rules.map {
      call("org_restriction", [object.name, $0.name, user.id], alias)
    }
    return SQL(calls.joined(separator: " AND "))
  }

  /// Whether restriction rules let a user see a record, deleted or not.
  func admits(_ user: OrgUser, to id: String, of object: ObjectSchema) throws -> Bool {
    try restrictions(on: object.name, for: user).allSatisfy {
      try meets($0, user, id: id, of: object.name)
    }
  }

  private func restrictions(on object: String) -> [ObjectRules.Restriction] {
    setup.objects[object]?.restrictions ?? []
  }

  /// Returns the rules that apply to a user; none applies to users who may view all records.
  private func restrictions(on object: String, for user: OrgUser) throws
    -> [ObjectRules.Restriction]
  {
    let rules = restrictions(on: object)
    guard !rules.isEmpty, !user.viewsAll else { return [] }
    let users = try table("User")
    guard let row = try row(users, id: user.id) else { return rules }
    let evaluation = FormulaEvaluation(
      store: self, user: user, table: users, row: row, before: nil)
    return try rules.filter { try evaluation.value($0.userCriteria).isTrue }
  }

  private func meets(
    _ rule: ObjectRules.Restriction, _ user: OrgUser, id: String, of object: String
  ) throws -> Bool {
    let table = try table(object)
    guard let row = try row(table, id: id) else { return false }
    return try FormulaEvaluation(store: self, user: user, table: table, row: row, before: nil)
      .value(rule.recordFilter).isTrue
  }
}
