import JSON
import System

/// What there is: `/sobjects`, `/sobjects/X` and `/sobjects/X/describe`.
enum DescribeResource {
  @Sendable static func global(_ call: Call) throws(OrgError) -> Answer {
    if try isUnmodified(call) { return .empty(304) }
    var answer = Answer.json([
      "encoding": "UTF-8", "maxBatchSize": 200,
      "sobjects": .array(call.org.objects().map { .object(summary($0, call)) }),
    ])
    answer.headers["Last-Modified"] = Dates.http(call.settings.startedAt)
    return answer
  }

  /// The summary and the records that the user used last.
  @Sendable static func basic(_ call: Call) throws(OrgError) -> Answer {
    let schema = try call.schema()
    let items = try call.org.recentItems(schema.name, as: call.user)
    return .json(
      [
        "objectDescribe": .object(summary(schema, call)),
        "recentItems": .array(items.map { RecentResource.record($0, call) }),
      ], records: items.count)
  }

  @Sendable static func full(_ call: Call) throws(OrgError) -> Answer {
    let schema = try call.schema()
    if try isUnmodified(call) { return .empty(304) }
    var object = summary(schema, call)
    object["fields"] = .array(schema.fields.map { .object(FieldDescription.of($0, in: schema)) })
    object["childRelationships"] = .array(schema.childRelationships.map(relationship))
    object["recordTypeInfos"] = [masterRecordType(schema, call)]
    object["actionOverrides"] = []
    object["namedLayoutInfos"] = []
    object["supportedScopes"] = [
      ["label": .string("All \(schema.labelPlural)"), "name": "everything"],
      ["label": .string("My \(schema.labelPlural)"), "name": "mine"],
    ]
    object["compactLayoutable"] = .bool(!schema.isSetup)
    object["searchLayoutable"] = .bool(!schema.isSetup)
    object["listviewable"] = nil
    object["lookupLayoutable"] = nil
    object["networkScopeFieldName"] = nil
    var answer = Answer.json(.object(object))
    answer.headers["Last-Modified"] = Dates.http(call.settings.startedAt)
    return answer
  }

  /// The schema does not change while the org is served.
  private static func isUnmodified(_ call: Call) throws(OrgError) -> Bool {
    guard call.target.method != "POST", let since = try call.date(of: "If-Modified-Since") else {
      return false
    }
    return since / 1000 >= call.settings.startedAt / 1000
  }

  private static func summary(_ schema: ObjectSchema, _ call: Call) -> JSONObject {
    let base = "\(call.root)/sobjects/\(schema.name)"
    let isData = !schema.isSetup
    return [
      "activateable": false, "createable": .bool(isData), "custom": .bool(schema.custom),
      "customSetting": false, "deepCloneable": false, "deletable": .bool(isData),
      "deprecatedAndHidden": false, "feedEnabled": false, "hasSubtypes": false,
      "isInterface": false, "isSubtype": false, "keyPrefix": .string(schema.keyPrefix),
      "label": .string(schema.label), "labelPlural": .string(schema.labelPlural),
      "layoutable": .bool(isData), "mergeable": .bool(isMergeable(schema)),
      "mruEnabled": .bool(isData), "name": .string(schema.name), "queryable": true,
      "replicateable": .bool(isData), "retrieveable": true, "searchable": .bool(isData),
      "triggerable": .bool(isData), "undeletable": .bool(isData), "updateable": .bool(isData),
      "urls": [
        "sobject": .string(base), "describe": .string(base + "/describe"),
        "rowTemplate": .string(base + "/{ID}"),
      ],
    ]
  }

  private static func isMergeable(_ schema: ObjectSchema) -> Bool {
    ["Account", "Contact", "Case"].contains(schema.name)
  }

  private static func relationship(_ child: ChildRelationship) -> JSONValue {
    [
      "cascadeDelete": false, "childSObject": .string(child.childObject),
      "deprecatedAndHidden": false, "field": .string(child.field), "junctionIdListNames": [],
      "junctionReferenceTo": [],
      "relationshipName": child.name.map(JSONValue.string) ?? .null, "restrictedDelete": false,
    ]
  }

  private static func masterRecordType(_ schema: ObjectSchema, _ call: Call) -> JSONValue {
    let id = "012000000000000AAA"
    return [
      "active": true, "available": true, "defaultRecordTypeMapping": true,
      "developerName": "Master", "master": true, "name": "Master", "recordTypeId": .string(id),
      "urls": [
        "layout": .string("\(call.root)/sobjects/\(schema.name)/describe/layouts/\(id)")
      ],
    ]
  }
}
