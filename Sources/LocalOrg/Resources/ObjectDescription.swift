import JSON

/// An object as returned by describe, with every key, because clients fail if one is missing.
struct ObjectDescription {
  let schema: ObjectSchema
  let user: OrgUser
  /// `/services/data/v66.0`.
  let root: String
  /// The record types other than the master.
  var recordTypes: [RecordType] = []

  /// The entry in the list of all objects.
  var summary: JSONObject {
    let isData = !schema.isSetup
    let isWritten = isData && (user.modifiesAll || schema.sharing == .privateToOwner)
    let rights = schema.rights
    return [
      "activateable": false, "associateEntityType": .null, "associateParentEntity": .null,
      "createable": .bool(isData && schema.isCreateable(by: user)), "custom": .bool(schema.custom),
      "customSetting": false,
      "deepCloneable": false, "deletable": .bool(isWritten && rights.deletes),
      "deprecatedAndHidden": false,
      "feedEnabled": false, "hasSubtypes": false, "isInterface": false, "isSubtype": false,
      "keyPrefix": .string(schema.keyPrefix), "label": .string(schema.label),
      "labelPlural": .string(schema.labelPlural), "layoutable": .bool(isData),
      "mergeable": .bool(isMergeable), "mruEnabled": .bool(schema.hasRecentItems),
      "name": .string(schema.name), "queryable": true, "replicateable": .bool(isData),
      "retrieveable": true, "searchable": .bool(schema.isSearchable), "triggerable": .bool(isData),
      "undeletable": .bool(isWritten && rights.deletes),
      "updateable": .bool(isWritten && rights.edits),
      "urls": .object(summaryURLs),
    ]
  }

  /// The complete description.
  var whole: JSONObject {
    var object = summary
    let isData = !schema.isSetup
    object["actionOverrides"] = []
    object["childRelationships"] = .array(schema.childRelationships.map(Self.relationship))
    object["compactLayoutable"] = .bool(isData)
    object["dataTranslationEnabled"] = .null
    object["defaultImplementation"] = .null
    object["extendedBy"] = .null
    object["extendsInterfaces"] = .null
    object["fields"] = .array(schema.fields.map { .object(FieldDescription.of($0, in: schema)) })
    object["implementedBy"] = .null
    object["implementsInterfaces"] = .null
    object["listviewable"] = .null
    object["lookupLayoutable"] = .null
    object["namedLayoutInfos"] = []
    object["networkScopeFieldName"] = .null
    object["recordTypeInfos"] = .array([masterRecordType] + recordTypes.map(info))
    object["searchLayoutable"] = .bool(isData)
    object["sobjectDescribeOption"] = "FULL"
    object["supportedScopes"] = [
      ["label": .string("All \(schema.labelPlural)"), "name": "everything"],
      ["label": .string("My \(schema.labelPlural)"), "name": "mine"],
    ]
    var urls = summaryURLs
    if isData {
      let page = "/\(schema.keyPrefix)"
      urls["uiDetailTemplate"] = "/{ID}"
      urls["uiEditTemplate"] = "/{ID}/e"
      urls["uiNewRecord"] = .string(page + "/e")
    }
    object["urls"] = .object(urls)
    return object
  }

  private var base: String { "\(root)/sobjects/\(schema.name)" }

  private var summaryURLs: JSONObject {
    var urls: JSONObject = [
      "rowTemplate": .string(base + "/{ID}"), "describe": .string(base + "/describe"),
      "sobject": .string(base),
    ]
    if !schema.isSetup { urls["layouts"] = .string(base + "/describe/layouts") }
    return urls
  }

  private var isMergeable: Bool { ["Account", "Contact", "Case"].contains(schema.name) }

  private static func relationship(_ child: ChildRelationship) -> JSONValue {
    [
      "cascadeDelete": .bool(child.cascadesDelete), "childSObject": .string(child.childObject),
      "deprecatedAndHidden": false, "field": .string(child.field), "junctionIdListNames": [],
      "junctionReferenceTo": [],
      "relationshipName": child.name.map(JSONValue.string) ?? .null,
      "restrictedDelete": .bool(child.restrictsDelete),
    ]
  }

  private var masterRecordType: JSONValue {
    let id = "012000000000000AAA"
    return [
      "active": true, "available": true, "defaultRecordTypeMapping": true,
      "developerName": "Master", "master": true, "name": "Master", "recordTypeId": .string(id),
      "urls": ["layout": .string("\(base)/describe/layouts/\(id)")],
    ]
  }

  private func info(_ type: RecordType) -> JSONValue {
    [
      "active": .bool(type.isActive), "available": .bool(type.isActive),
      "defaultRecordTypeMapping": false, "developerName": .string(type.developerName),
      "master": false, "name": .string(type.name), "recordTypeId": .string(type.id),
      "urls": ["layout": .string("\(base)/describe/layouts/\(type.id)")],
    ]
  }
}
