import SQLite

/// Checks the references and unique values of a row.
struct ReferenceCheck {
  let store: OrgStore
  let user: OrgUser

  /// Returns the first problem with the row's references, if any.
  func problem(_ input: RowInput) throws -> OrgError? {
    for field in input.object.fields where field.type == .reference {
      guard case .text(let id)? = input.values[field.name] else { continue }
      if let error = try problem(field, id, of: input.object) { return error }
    }
    return nil
  }

  private func problem(_ field: FieldSchema, _ id: String, of object: ObjectSchema) throws
    -> OrgError?
  {
    guard let target = store.catalog.object(ofID: id), field.referenceTo.contains(target.name)
    else {
      return OrgError(
        code: "MALFORMED_ID", message: "\(field.label): id value of incorrect type: \(id)",
        fields: [field.name])
    }
    switch try Access(store: store, user: user).level(target, id: id) {
    case .deleted:
      return OrgError(
        code: "ENTITY_IS_DELETED", message: "entity is deleted", fields: [field.name])
    case .none:
      let table = try store.table(target.name)
      guard try store.row(table, id: id) != nil else {
        return OrgError(
          code: "INVALID_CROSS_REFERENCE_KEY", message: "invalid cross reference id",
          fields: [field.name])
      }
      return OrgError(
        code: "INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY",
        message: "insufficient access rights on cross-reference id: \(id.prefix(15))",
        fields: [field.name])
    case .read, .edit, .full:
      if field.name == "RecordTypeId" { return try wrongRecordType(id, of: object) }
      guard field.name == "OwnerId" else { return nil }
      guard target.name == "User" else { return try wrongOwner(id, target) }
      guard
        try store.users(where: "u.\"Id\" = \(id)").first?.isActive != true
      else { return nil }
      return OrgError(
        code: "INACTIVE_OWNER_OR_USER",
        message: "operation performed with inactive user [\(id)] as owner of the record",
        fields: [field.name])
    }
  }

  /// Checks that a group is a queue.
  private func wrongOwner(_ id: String, _ group: ObjectSchema) throws -> OrgError? {
    let sql: SQL = """
      SELECT count(*) FROM \(raw: try store.table(group.name).table) \
      WHERE "Id" = \(id) AND "Type" = 'Queue'
      """
    guard try store.integers(sql) == [0] else { return nil }
    return OrgError(
      code: "INVALID_OPERATION", message: "Queue not associated with this SObject type",
      fields: ["OwnerId"])
  }

  /// Checks that a record type belongs to the object and is active.
  private func wrongRecordType(_ id: String, of object: ObjectSchema) throws -> OrgError? {
    let known = try store.recordTypes(of: object.name)
    guard !known.contains(where: { $0.id == id && $0.isActive }) else { return nil }
    return OrgError(
      code: "INVALID_CROSS_REFERENCE_KEY",
      message: "Record Type ID: this ID value isn't valid for the user: \(id)",
      fields: ["RecordTypeId"])
  }

  /// Returns an error if another record has one of the row's unique values.
  func duplicate(_ input: RowInput, except id: String? = nil) throws -> OrgError? {
    let table = try store.table(input.object.name)
    for field in input.object.fields where field.unique {
      guard case .text(let value)? = input.values[field.name] else { continue }
      let collation = FilterValue.collation(field)
      let other = try store.connection.text(
        """
        SELECT "Id" FROM \(raw: table.table) WHERE \(name: field.name) = \(value)\
        \(raw: collation) AND "IsDeleted" = 0 AND "Id" <> \(id ?? "")
        """)
      guard let other else { continue }
      return OrgError(
        code: "DUPLICATE_VALUE",
        message: "duplicate value found: \(field.name) duplicates value on record with id: "
          + String(other.prefix(15)),
        fields: [field.name])
    }
    return nil
  }
}
