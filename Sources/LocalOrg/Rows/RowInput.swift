import JSON
import SQLite

/// The members of a received record, checked against the object's fields.
struct RowInput {
  let object: ObjectSchema
  private(set) var values: [String: SQLiteValue] = [:]
  private(set) var errors: [OrgError] = []

  /// Reads members for a create or an update; required fields in `filledLater` may be set by the
  /// org's automation and are checked afterwards.
  init(
    _ fields: JSONObject, of object: ObjectSchema, creating: Bool, reader: RowReader,
    filledLater: Set<String> = []
  ) throws {
    self.object = object
    let converter = FieldConverter(object: object)
    var readOnly: [String] = []
    for (name, json) in fields where name.lowercased() != "attributes" {
      guard let field = object.field(name) else {
        if let lookup = try takeReference(name, json, reader),
          !(creating ? lookup.createable : lookup.updateable)
        {
          values[lookup.name] = nil
          readOnly.append(lookup.name)
        }
        continue
      }
      if field.name == "Id" {
        errors.append(Self.idGiven(creating: creating))
        continue
      }
      guard creating ? field.createable : field.updateable else {
        readOnly.append(field.name)
        continue
      }
      do {
        values[field.name] = try converter.value(json, for: field)
      } catch {
        errors.append(error)
      }
    }
    if !readOnly.isEmpty {
      errors.append(
        OrgError(
          code: "INVALID_FIELD_FOR_INSERT_UPDATE",
          message: "Unable to create/update fields: \(readOnly.joined(separator: ", ")). Please "
            + "check the security settings of this field and verify that it is read/write for "
            + "your profile or permission set.",
          fields: readOnly))
    }
    try checkNulls(creating: creating, filledLater: filledLater)
  }

  /// Sets a field that the caller did not set.
  mutating func set(_ field: String, _ value: SQLiteValue) { values[field] = value }

  mutating func fail(_ error: OrgError) { errors.append(error) }

  /// Reads a reference to a parent by an external ID, such as `"Account": {"External_Id__c": "x"}`;
  /// returns the lookup.
  private mutating func takeReference(
    _ name: String, _ json: JSONValue, _ reader: RowReader
  ) throws -> FieldSchema? {
    guard let lookup = object.lookup(relationship: name), let target = lookup.referenceTo.first,
      let inner = json.object,
      let key = inner.names.first(where: { $0.lowercased() != "attributes" }),
      let value = inner[key]?.string
    else {
      errors.append(
        OrgError(
          code: "INVALID_FIELD",
          message: "No such column '\(name)' on sobject of type \(object.name)"))
      return nil
    }
    guard let id = try reader.find(target, externalField: key, value: value) else {
      errors.append(
        OrgError(
          code: "INVALID_FIELD",
          message: "Foreign key external ID: \(value) not found for field \(key) in entity "
            + target))
      return nil
    }
    values[lookup.name] = .text(id)
    return lookup
  }

  private mutating func checkNulls(creating: Bool, filledLater: Set<String>) throws {
    let missing = object.fields.filter { field in
      guard field.createable, !field.nillable, !filledLater.contains(field.name) else {
        return false
      }
      if let value = values[field.name] {
        return value.isNull && !field.defaultedOnCreate
      }
      return creating && field.isRequired
    }
    if !missing.isEmpty, errors.isEmpty {
      let names = missing.map(\.name)
      errors.append(
        OrgError(
          code: "REQUIRED_FIELD_MISSING",
          message: "Required fields are missing: [\(names.joined(separator: ", "))]",
          fields: names))
    }
    guard !creating else { return }
    for (name, value) in values where value.isNull {
      guard let field = object.field(name), !field.nillable, field.defaultedOnCreate else {
        continue
      }
      errors.append(
        OrgError(
          code: "INVALID_TYPE_ON_FIELD_IN_RECORD",
          message: "\(field.label): value not of required type: null", fields: [field.name]))
    }
  }

  private static func idGiven(creating: Bool) -> OrgError {
    creating
      ? OrgError(
        code: "INVALID_FIELD_FOR_INSERT_UPDATE", message: "cannot specify Id in an insert call",
        fields: ["Id"])
      : OrgError(
        code: "INVALID_FIELD",
        message: "The Id field should not be specified in the sobject data.")
  }
}
