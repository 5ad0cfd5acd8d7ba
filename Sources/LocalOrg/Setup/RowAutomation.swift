import SQLite

/// The processing of a record between the writer's values and the storage: field updates, then
/// validation rules.
struct RowAutomation {
  /// The record is refused for all these reasons.
  struct Refusal: Error {
    let errors: [OrgError]
  }

  let store: OrgStore
  let user: OrgUser
  let rules: ObjectRules

  /// Changes a record that is about to be saved, or refuses it; `before` is nil for a new one.
  func apply(to row: inout [SQLiteValue], of table: StoredObject, before: [SQLiteValue]?) throws {
    for update in rules.updates { try run(update, &row, table, before) }
    if before == nil { try checkRequired(row, of: table) }
    let evaluation = evaluation(row, table, before)
    var errors: [OrgError] = []
    for rule in rules.validations where try evaluation.value(rule.condition).isTrue {
      errors.append(
        OrgError(
          code: "FIELD_CUSTOM_VALIDATION_EXCEPTION", message: rule.message,
          fields: rule.field.map { [$0] } ?? []))
    }
    guard errors.isEmpty else { throw Refusal(errors: errors) }
  }

  /// Refuses a new record if a required field is empty after the updates, since an org checks
  /// required fields after its automation has run.
  private func checkRequired(_ row: [SQLiteValue], of table: StoredObject) throws {
    let missing = table.schema.fields.filter { field in
      field.createable && field.isRequired && rules.updatedFields.contains(field.name)
        && table.place(field.name).map { row[$0].isNull } ?? false
    }.map(\.name)
    guard !missing.isEmpty else { return }
    throw Refusal(errors: [
      OrgError(
        code: "REQUIRED_FIELD_MISSING",
        message: "Required fields are missing: [\(missing.joined(separator: ", "))]",
        fields: missing)
    ])
  }

  private func evaluation(
    _ row: [SQLiteValue], _ table: StoredObject, _ before: [SQLiteValue]?
  ) -> FormulaEvaluation {
    FormulaEvaluation(store: store, user: user, table: table, row: row, before: before)
  }

  /// Runs an update, which sees what earlier updates have set; its own values do not see each
  /// other.
  private func run(
    _ update: ObjectRules.Update, _ row: inout [SQLiteValue], _ table: StoredObject,
    _ before: [SQLiteValue]?
  ) throws {
    let evaluation = evaluation(row, table, before)
    guard try evaluation.value(update.condition).isTrue else { return }
    let converter = FieldConverter(object: table.schema)
    for (named, formula) in update.values {
      guard let field = table.schema.field(named.name), let place = table.place(named.name) else {
        continue
      }
      do throws(OrgError) {
        let json = try OrgError.from { try evaluation.value(formula).json(for: field) }
        let value = try converter.value(json, for: field)
        if value.isNull, field.type == .boolean || !field.nillable {
          throw OrgError(
            code: "REQUIRED_FIELD_MISSING", message: "\(field.label) cannot be empty",
            fields: [field.name])
        }
        row[place] = value
      } catch {
        throw Refusal(errors: [
          OrgError(
            code: "CANNOT_EXECUTE_FLOW_TRIGGER",
            message: "We can't save this record because the “\(update.name)” process failed. Give "
              + "your Salesforce admin these details. \(error.code): \(error.message)")
        ])
      }
    }
  }
}

extension OrgError {
  /// Runs `body`; errors of other types become storage failures.
  static func from<T>(_ body: () throws -> T) throws(OrgError) -> T {
    do { return try body() } catch { throw .storage(error) }
  }
}
