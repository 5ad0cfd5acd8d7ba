import JSON
import SQLite
import System

/// Writes single records for one user, with the checks of the API.
struct RecordWriter {
  let store: OrgStore
  let user: OrgUser

  // MARK: Create

  func create(_ object: String, _ fields: JSONObject) throws -> RowOutcome {
    let schema = try writable(object)
    var filledLater = store.setup.objects[schema.name]?.updatedFields ?? []
    let isPerson = PersonAccounts.isPerson(fields, schema)
    if isPerson { filledLater.insert(PersonAccounts.businessField) }
    var input = try RowInput(
      fields, of: schema, creating: true, reader: reader, filledLater: filledLater)
    if let error = PersonAccounts.problem(input, isPerson: isPerson) { input.fail(error) }
    if let error = try firstProblem(input) { input.fail(error) }
    guard input.errors.isEmpty else { return .failure(input.errors) }
    if isPerson { input.set("IsPersonAccount", 1) }
    try derive(&input)
    let values = input.values
    return try saving(schema) { automation in
      let moment = store.tick()
      let id = try store.insert(
        schema.name, values, by: user.id, at: moment, automation: automation)
      if isPerson { try store.addContact(ofPerson: id, by: user.id, at: moment) }
      try RecentItems(store: store, user: user).note(id, of: schema)
      return .success(id: id, created: true)
    }
  }

  /// Saves a record with its object's automation; if it is refused, everything is rolled back.
  private func saving(
    _ schema: ObjectSchema, _ body: (RowAutomation?) throws -> RowOutcome
  ) throws -> RowOutcome {
    guard let rules = store.setup.objects[schema.name], rules.isActive else {
      return try body(nil)
    }
    do {
      return try store.transaction {
        try body(RowAutomation(store: store, user: user, rules: rules))
      }
    } catch let refusal as RowAutomation.Refusal {
      return .failure(refusal.errors)
    }
  }

  /// Sets the fields that a new record inherits from its parent.
  private func derive(_ input: inout RowInput) throws {
    guard input.object.name == "ServiceAppointment",
      case .text(let parent)? = input.values["ParentRecordId"],
      let target = store.catalog.object(ofID: parent)
    else { return }
    if target.name == "Account" {
      input.set("AccountId", .text(parent))
      return
    }
    let table = try store.table(target.name)
    if let place = table.place("AccountId"), let row = try store.row(table, id: parent) {
      input.set("AccountId", row[place])
    }
  }

  // MARK: Update

  func update(_ object: String, id: String, _ fields: JSONObject, ifUnmodifiedSince: Int64?) throws
    -> RowOutcome
  {
    let schema = try schema(object)
    let id = try editable(schema, id)
    try store.refuseLocked(id, user)
    let table = try store.table(schema.name)
    if let limit = ifUnmodifiedSince, let place = table.place("LastModifiedDate"),
      let text = try store.row(table, id: id)?[place].text,
      let modified = Dates.milliseconds(iso8601: text), modified / 1000 > limit / 1000
    {
      return .failure([
        OrgError(
          status: 412, code: "PRECONDITION_FAILED",
          message: "The record was modified after the given date")
      ])
    }
    let isPerson = try store.isPerson(id, table)
    if isPerson, schema.name == "Contact" { throw PersonAccounts.refusal(schema) }
    var input = try RowInput(fields, of: schema, creating: false, reader: reader)
    if let error = PersonAccounts.problem(input, isPerson: isPerson) { input.fail(error) }
    if let error = try firstProblem(input, id: id) { input.fail(error) }
    guard input.errors.isEmpty else { return .failure(input.errors) }
    if input.values["OwnerId"] != nil, try level(schema, id) != .full {
      throw OrgError.readOnlyRecord
    }
    let values = input.values
    return try saving(schema) { automation in
      let moment = store.tick()
      try store.change(id, by: user.id, at: moment, automation: automation) { row, table in
        for (name, value) in values {
          if let place = table.place(name) { row[place] = value }
        }
      }
      if isPerson { try store.changeContact(ofPerson: id, by: user.id, at: moment) }
      try RecentItems(store: store, user: user).note(id, of: schema)
      return .success(id: id, created: false)
    }
  }

  // MARK: Delete and upsert

  func delete(_ object: String?, id given: String) throws -> RowOutcome {
    guard let normal = OrgID.normalize(given) else { throw OrgError.malformedID(given) }
    guard let owner = store.catalog.object(ofID: normal) else { throw OrgError.notFound }
    let schema = try object.map { try self.schema($0) } ?? owner
    guard schema.name == owner.name else { throw OrgError.notFound }
    switch try level(schema, normal) {
    case .none: throw OrgError.notFound
    case .deleted: throw OrgError.deleted
    case .read, .edit: throw OrgError.readOnlyRecord
    case .full: guard schema.rights.deletes else { throw OrgError.readOnlyRecord }
    }
    guard schema.name != "User", schema.name != "Organization", schema.name != "Profile" else {
      throw OrgError(code: "DELETE_FAILED", message: "\(schema.label) records cannot be deleted")
    }
    try store.refuseLocked(normal, user)
    if schema.name == "Contact", try store.isPerson(normal, store.table(schema.name)) {
      throw PersonAccounts.refusal(schema)
    }
    if let reason = try store.restriction(of: normal) { throw reason }
    try store.remove(normal, by: user.id, at: store.tick())
    return .success(id: normal, created: false)
  }

  /// Restores a record from the recycle bin; this requires the right to delete it.
  func undelete(id given: String) throws -> RowOutcome {
    guard let id = OrgID.normalize(given) else { throw OrgError.malformedID(given) }
    guard let owner = store.catalog.object(ofID: id) else { throw OrgError.notInBin }
    guard let schema = store.catalog(of: user).object(owner.name), owner.field("IsDeleted") != nil
    else {
      throw OrgError(
        code: "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", message: "Entity type is not undeletable")
    }
    guard try level(schema, id) == .deleted else { throw OrgError.notInBin }
    guard try Access(store: store, user: user).level(schema, id: id, inBin: true) == .full,
      schema.rights.deletes
    else { throw OrgError.readOnlyRecord }
    if try store.isOfDeleted(id) {
      throw OrgError(code: "UNDELETE_FAILED", message: "the record that it belongs to is deleted")
    }
    try store.restore(id, by: user.id, at: store.tick())
    return .success(id: id, created: false)
  }

  func upsert(_ object: String, externalField: String, value: String?, _ fields: JSONObject) throws
    -> RowOutcome
  {
    let schema = try schema(object)
    guard let field = schema.field(externalField), field.idLookup else {
      throw OrgError(
        status: 404, code: "NOT_FOUND",
        message: "Provided external ID field does not exist or is not accessible: \(externalField)")
    }
    if field.type == .id {
      guard let value, !value.isEmpty else { return try create(object, fields) }
      return try update(object, id: value, fields, ifUnmodifiedSince: nil)
    }
    guard fields.names.allSatisfy({ $0.lowercased() != field.name.lowercased() }) else {
      throw OrgError(
        code: "INVALID_FIELD",
        message: "The \(field.name) field should not be specified in the sobject data.")
    }
    if let value, let id = try reader.find(object, externalField: field.name, value: value) {
      return try update(object, id: id, fields, ifUnmodifiedSince: nil)
    }
    var whole = fields
    if let value { whole[field.name] = .string(value) }
    return try create(object, whole)
  }

  // MARK: Helpers

  private var reader: RowReader {
    RowReader(store: store, user: user, version: VersionResource.newest)
  }

  private func firstProblem(_ input: RowInput, id: String? = nil) throws -> OrgError? {
    guard input.errors.isEmpty else { return nil }
    let check = ReferenceCheck(store: store, user: user)
    return try check.problem(input) ?? check.duplicate(input, except: id)
  }

  private func level(_ schema: ObjectSchema, _ id: String) throws -> Access.Level {
    try Access(store: store, user: user).level(schema, id: id)
  }

  private func schema(_ object: String) throws -> ObjectSchema {
    guard let schema = store.catalog(of: user).object(object) else {
      throw OrgError(
        status: 404, code: "NOT_FOUND", message: "The requested resource does not exist")
    }
    return schema
  }

  /// Returns the object if the user may create records of it.
  private func writable(_ object: String) throws -> ObjectSchema {
    let schema = try schema(object)
    guard schema.isCreateable(by: user) else {
      throw OrgError(
        status: 403, code: "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY",
        message: "entity type cannot be inserted: \(schema.label)")
    }
    return schema
  }

  /// Returns the 18-character ID of a record that the user may change.
  private func editable(_ schema: ObjectSchema, _ id: String) throws -> String {
    guard let normal = OrgID.normalize(id) else { throw OrgError.malformedID(id) }
    switch try level(schema, normal) {
    case .none: throw OrgError.notFound
    case .deleted: throw OrgError.deleted
    case .read: throw OrgError.readOnlyRecord
    case .edit, .full: return normal
    }
  }
}
