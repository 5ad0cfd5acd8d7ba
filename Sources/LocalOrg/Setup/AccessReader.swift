import JSON

/// Reads the profiles and permission sets of a setup file.
struct AccessReader {
  let catalog: Catalog
  let reader: ConfigurationReader

  func grant(_ node: JSONNode, _ what: String) -> AccessGrant? {
    let known = ["name", "users", "viewEncryptedData", "objects"]
    guard let object = reader.object(node, known: known, what: what),
      let name = object.requiredText("name")
    else { return nil }
    var grant = AccessGrant(name: name)
    grant.users = (object.strings("users") ?? []).map { $0.lowercased() }
    grant.viewsEncryptedData = object.bool("viewEncryptedData", default: false)
    guard let objects = object["objects"] else { return grant }
    guard let members = objects.members else {
      reader.wrongType(objects, "an object", "name objects: {\"Account\": { … }}")
      return grant
    }
    for member in members {
      guard let schema = reader.object(named: member, in: catalog) else { continue }
      grant.objects[schema.name] = rights(member.value, of: schema)
    }
    return grant
  }

  private func rights(_ node: JSONNode, of schema: ObjectSchema) -> AccessGrant.OfObject {
    var result = AccessGrant.OfObject()
    let known = ["read", "create", "edit", "delete", "fields"]
    guard let object = reader.object(node, known: known, what: "the rights to an object") else {
      return result
    }
    func right(_ name: String) -> Bool? { object[name].flatMap(reader.bool) }
    result.reads = right("read")
    result.creates = right("create")
    result.edits = right("edit")
    result.deletes = right("delete")
    guard let fields = object["fields"] else { return result }
    guard let members = fields.members else {
      reader.wrongType(fields, "an object", "name fields: {\"Phone\": \"read\"}")
      return result
    }
    for member in members {
      guard let field = field(member, of: schema),
        let right = reader.word(member.value, "a right to a field", as: FieldRight.self)
      else { continue }
      result.fields[field.name] = right
    }
    return result
  }

  /// Returns the field that a member names, if it supports permissions.
  private func field(_ member: JSONNode.Member, of schema: ObjectSchema) -> FieldSchema? {
    guard let field = schema.fields.first(where: { $0.name == member.name }) else {
      reader.report(
        member, "\(schema.name) has no field \(JSONText.quoted(member.name))",
        ConfigurationReader.oneOf(schema.fields.map(\.name), near: member.name))
      return nil
    }
    guard !field.isPermissionable else { return field }
    let whole = field.compoundFieldName.flatMap(schema.field)
    reader.report(
      member, "there are no rights to \(schema.name).\(field.name): an org shows it to all users",
      whole?.isPermissionable == true
        ? "name \(JSONText.quoted(whole?.name ?? "")), which contains it" : "remove it")
    return nil
  }
}

extension ConfigurationReader {
  /// Returns the business object that a member names.
  func object(named member: JSONNode.Member, in catalog: Catalog) -> ObjectSchema? {
    let known = catalog.objects.filter { !$0.isSetup }
    if let schema = known.first(where: { $0.name == member.name }) { return schema }
    report(
      member, "the org has no object \(JSONText.quoted(member.name)) that can be set up",
      Self.oneOf(known.map(\.name), near: member.name))
    return nil
  }
}
