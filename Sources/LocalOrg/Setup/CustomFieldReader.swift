import JSON

/// Reads the custom fields that a setup file adds to an object: formula fields and encrypted ones.
struct CustomFieldReader {
  let reader: ConfigurationReader

  private enum Kind: String, CaseIterable {
    case string, double, currency, percent, boolean, date, datetime, encryptedstring
  }

  /// Reads the fields without their formulas, which may name the fields of other objects.
  func fields(_ node: JSONNode?, of schema: ObjectSchema) -> [FieldSchema] {
    guard let node else { return [] }
    guard let members = node.members else {
      reader.wrongType(node, "an object", "name fields: {\"Age__c\": { … }}")
      return []
    }
    return members.compactMap { member in
      guard member.name.wholeMatch(of: /[A-Za-z][A-Za-z0-9_]*__c/) != nil else {
        reader.report(
          member, "\(JSONText.quoted(member.name)) cannot be the name of a custom field",
          "write letters, digits and underscores, and __c at the end")
        return nil
      }
      guard schema.field(member.name) == nil else {
        reader.report(
          member, "\(schema.name) already has a field \(member.name)", "write another name")
        return nil
      }
      return field(member)
    }
  }

  private func field(_ member: JSONNode.Member) -> FieldSchema? {
    let known = ["type", "formula", "scale", "hidesFormula", "length", "mask", "maskType"]
    guard let object = reader.object(member.value, known: known, what: "a custom field"),
      let node = object.required("type", "\"string\""),
      let kind = reader.word(node, "a type of custom field", as: Kind.self),
      let type = FieldType(rawValue: kind.rawValue)
    else { return nil }
    let label = member.name.dropLast("__c".count).split(separator: "_").joined(separator: " ")
    var field = FieldSchema(member.name, label, type).ofTheAdministrator
    if type == .encryptedstring {
      if let formula = object["formula"] {
        reader.report(formula, "an encrypted field has no formula", "remove it")
      }
      field.length = object.int("length", default: 175, in: 1...175)
      field.mask = FieldMask(
        kind: object.word("maskType", "a kind of mask", default: .all),
        character: object.word("mask", "a mask's character", default: .asterisk))
      field.filterable = false
      field.sortable = false
      return field
    }
    guard let formula = object.required("formula", "\"$User.Username\"").flatMap(reader.string)
    else { return nil }
    field = field.readOnly
    field.calculated = true
    field.calculatedFormula = object.bool("hidesFormula", default: false) ? nil : formula
    if type == .string { field.length = 1300 }
    if type.isNumber {
      field.precision = 18
      field.scale = object.int("scale", default: 2, in: 0...15)
    }
    return field
  }

  // MARK: Circles

  /// Reports formulas whose value depends on itself.
  func refuseCircles(
    _ node: JSONNode?, of schema: ObjectSchema, in rules: [String: ObjectRules]
  ) {
    for member in node?.members ?? [] {
      var seen: Set<String> = []
      guard depends(schema.name, member.name, on: (schema.name, member.name), rules, &seen) else {
        continue
      }
      reader.report(
        member, "the formula of \(schema.name).\(member.name) depends on itself",
        "name other fields in it")
    }
  }

  private func depends(
    _ object: String, _ field: String, on wanted: (object: String, field: String),
    _ rules: [String: ObjectRules], _ seen: inout Set<String>
  ) -> Bool {
    guard seen.insert(object + "." + field).inserted else { return false }
    for named in rules[object]?.formulas[field]?.fields ?? [] where named.field.calculated {
      if (named.object, named.field.name) == wanted { return true }
      if depends(named.object, named.field.name, on: wanted, rules, &seen) { return true }
    }
    return false
  }
}
