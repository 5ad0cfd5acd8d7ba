import JSON

/// Reads the setup file's rules for the records of objects.
struct ObjectRulesReader {
  let catalog: Catalog
  let reader: ConfigurationReader

  /// Reads the setup of an object, whose custom fields `rules` has and `schema` includes.
  func rules(_ node: JSONNode, of schema: ObjectSchema, _ rules: ObjectRules) -> ObjectRules {
    var rules = rules
    let known = [
      "fields", "picklists", "required", "validationRules", "fieldUpdates", "restrictionRules",
    ]
    guard let object = reader.object(node, known: known, what: "the setup of an object") else {
      return rules
    }
    for member in object["fields"]?.members ?? [] {
      guard let text = member.value["formula"] else { continue }
      rules.formulas[member.name] = formula(text, of: schema, isRead: true)
    }
    rules.restrictions = (object.elements("restrictionRules") ?? []).compactMap {
      restriction($0, of: schema)
    }
    if let picklists = object["picklists"] {
      rules.picklists = self.picklists(picklists, of: schema)
    }
    for name in object["required"]?.array ?? [] {
      if let field = required(name, of: schema) { rules.required.insert(field.name) }
    }
    if let value = object["required"], value.array == nil {
      reader.wrongType(value, "an array", "name fields: [\"Phone\"]")
    }
    rules.validations = (object.elements("validationRules") ?? []).compactMap {
      validation($0, of: schema)
    }
    rules.updates = (object.elements("fieldUpdates") ?? []).compactMap { update($0, of: schema) }
    return rules
  }

  // MARK: Fields

  private func picklists(_ node: JSONNode, of schema: ObjectSchema) -> [String: ObjectRules
    .Picklist]
  {
    guard let members = node.members else {
      reader.wrongType(node, "an object", "name picklists: {\"Status\": {\"restricted\": true}}")
      return [:]
    }
    var found: [String: ObjectRules.Picklist] = [:]
    for member in members {
      let picklists = schema.fields.filter { $0.type == .picklist || $0.type == .multipicklist }
      guard let field = picklists.first(where: { $0.name == member.name }) else {
        reader.report(
          member, "\(schema.name) has no picklist \(JSONText.quoted(member.name))",
          ConfigurationReader.oneOf(picklists.map(\.name), near: member.name))
        continue
      }
      guard
        let object = reader.object(
          member.value, known: ["values", "restricted"], what: "the setup of a picklist")
      else { continue }
      let picklist = ObjectRules.Picklist(
        values: object.strings("values"),
        isRestricted: object.bool("restricted", default: false))
      if picklist.isRestricted, (picklist.values ?? field.picklistValues.map(\.value)).isEmpty {
        reader.report(
          member, "a restricted picklist without values accepts none",
          "add \"values\": [\"…\"]")
      }
      found[field.name] = picklist
    }
    return found
  }

  /// Returns a field that can be made required.
  private func required(_ node: JSONNode, of schema: ObjectSchema) -> FieldSchema? {
    guard let name = reader.string(node) else { return nil }
    guard let field = field(named: name, node, of: schema) else { return nil }
    guard field.createable, field.updateable, field.type != .boolean else {
      reader.report(
        node, "\(schema.name).\(name) cannot be required: the org sets it",
        "name a field that users set")
      return nil
    }
    return field
  }

  private func field(named name: String, _ node: JSONNode, of schema: ObjectSchema) -> FieldSchema?
  {
    let fields = schema.storedFields
    if let field = fields.first(where: { $0.name == name }) { return field }
    reader.report(
      node, "\(schema.name) has no field \(JSONText.quoted(name))",
      ConfigurationReader.oneOf(fields.map(\.name), near: name))
    return nil
  }

  // MARK: Rules

  private func validation(_ node: JSONNode, of schema: ObjectSchema) -> ObjectRules.Validation? {
    let known = ["name", "condition", "message", "field"]
    guard let object = reader.object(node, known: known, what: "a validation rule") else {
      return nil
    }
    let name = object.requiredText("name")
    let message = object.requiredText("message", "\"the message for the user\"")
    let condition = object.required("condition", "\"ISBLANK(Phone)\"").flatMap {
      formula($0, of: schema)
    }
    let place = object["field"].flatMap { node in
      reader.string(node).flatMap { field(named: $0, node, of: schema) }
    }
    guard let name, let message, let condition else { return nil }
    return ObjectRules.Validation(
      name: name, condition: condition, message: message, field: place?.name)
  }

  private func update(_ node: JSONNode, of schema: ObjectSchema) -> ObjectRules.Update? {
    let known = ["name", "condition", "set"]
    guard let object = reader.object(node, known: known, what: "a field update") else { return nil }
    let name = object.requiredText("name")
    let condition = object["condition"].map { formula($0, of: schema) } ?? .constant(.bool(true))
    guard let set = object.required("set", "{\"Rating\": \"'Hot'\"}") else { return nil }
    guard let members = set.members else {
      reader.wrongType(set, "an object", "name fields with formulas: {\"Rating\": \"'Hot'\"}")
      return nil
    }
    var values: [(field: FieldSchema, formula: Formula)] = []
    for member in members {
      guard let field = field(named: member.name, member.value, of: schema),
        let formula = formula(member.value, of: schema)
      else { continue }
      guard field.createable, field.updateable else {
        reader.report(
          member, "\(schema.name).\(field.name) cannot be set: the org sets it",
          "name another field")
        continue
      }
      values.append((field, formula))
    }
    guard let name, let condition else { return nil }
    return ObjectRules.Update(name: name, condition: condition, values: values)
  }

  private func restriction(_ node: JSONNode, of schema: ObjectSchema) -> ObjectRules.Restriction? {
    let known = ["name", "userCriteria", "recordFilter"]
    guard let object = reader.object(node, known: known, what: "a restriction rule"),
      let users = catalog.object("User")
    else { return nil }
    let name = object.requiredText("name")
    let criteria =
      object["userCriteria"].map { formula($0, of: users, isRead: true) }
      ?? .constant(.bool(true))
    let filter = object.required("recordFilter", "\"OwnerId = $User.Id\"").flatMap {
      formula($0, of: schema, isRead: true)
    }
    guard let name, let criteria, let filter else { return nil }
    return ObjectRules.Restriction(name: name, userCriteria: criteria, recordFilter: filter)
  }

  /// Reads a formula; an error is reported at its position in the file.
  ///
  /// A formula that is evaluated for a reader knows no change, and names no encrypted field.
  private func formula(_ node: JSONNode, of schema: ObjectSchema, isRead: Bool = false) -> Formula?
  {
    guard let text = reader.string(node) else { return nil }
    do {
      let formula = try Formula(parsing: text, of: schema, in: catalog)
      guard isRead else { return formula }
      let functions: Set = ["ISNEW", "ISCHANGED", "PRIORVALUE"]
      if let name = formula.functions.intersection(functions).sorted().first {
        reader.report(node, "\(name) needs a record that is being saved", "remove it")
      }
      if let secret = formula.fields.first(where: { $0.field.type == .encryptedstring }) {
        reader.report(
          node, "\(secret.object).\(secret.field.name) is encrypted, and cannot be read here",
          "name another field")
      }
      return formula
    } catch {
      reader.report(
        node, "\(error.message) (at character \(error.place) of the formula)", error.fix)
      return nil
    }
  }
}
