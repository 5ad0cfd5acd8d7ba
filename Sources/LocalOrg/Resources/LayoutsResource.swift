import JSON

/// `/sobjects/X/describe/layouts`: page layouts for older clients, derived from the schema.
enum LayoutsResource {
  private static let master = "012000000000000AAA"

  @Sendable static func list(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let schema = try described(call)
    return .json([
      "layouts": [.object(layout(schema))],
      "recordTypeMappings": [
        [
          "active": true, "available": true, "defaultRecordTypeMapping": true,
          "developerName": "Master", "layoutId": .string(id(schema)), "master": true,
          "name": "Master", "picklistsForRecordType": .null, "recordTypeId": .string(master),
          "urls": [
            "layout": .string("\(call.root)/sobjects/\(schema.name)/describe/layouts/\(master)")
          ],
        ]
      ], "recordTypeSelectorRequired": [false],
    ])
  }

  @Sendable static func read(_ call: APIRequest) throws(OrgError) -> APIResponse {
    let schema = try described(call)
    let id = OrgID.normalize(call.path[4])
    guard id == master || call.org.recordTypes(of: schema.name).contains(where: { $0.id == id })
    else { throw .notFound }
    return .json(.object(layout(schema)))
  }

  private static func described(_ call: APIRequest) throws(OrgError) -> ObjectSchema {
    let schema = try call.schema()
    guard !schema.isSetup else { throw .notFound }
    return schema
  }

  private static func id(_ schema: ObjectSchema) -> String {
    let number = schema.keyPrefix.utf8.reduce(Int64(0)) { $0 * 128 + Int64($1) }
    return OrgID.make(prefix: "00h", sequence: number * 16)
  }

  private static func layout(_ schema: ObjectSchema) -> JSONObject {
    [
      "buttonLayoutSection": .null, "detailLayoutSections": sections(schema, isEdit: false),
      "editLayoutSections": sections(schema, isEdit: true), "feedView": .null,
      "highlightsPanelLayoutSection": .null, "id": .string(id(schema)),
      "multirowEditLayoutSections": [],
      "offlineLinks": [], "quickActionList": .null, "relatedContent": .null, "relatedLists": [],
      "saveOptions": [],
    ]
  }

  /// One section of two columns.
  private static func sections(_ schema: ObjectSchema, isEdit: Bool) -> JSONValue {
    let fields = schema.fields.filter {
      $0.type != .id && $0.compoundFieldName == nil && (!isEdit || $0.createable)
        && $0.name != "IsDeleted"
    }
    let items = fields.enumerated().map { item($1, in: schema, tab: $0 + 1) }
    let rows = stride(from: 0, to: items.count, by: 2).map { start -> JSONValue in
      let row = Array(items[start..<min(items.count, start + 2)])
      return ["layoutItems": .array(row), "numItems": JSONValue(row.count)]
    }
    return [
      [
        "collapsed": false, "columns": 2, "heading": .string("\(schema.label) Information"),
        "layoutRows": .array(rows), "layoutSectionId": .string(id(schema)),
        "parentLayoutId":
          .string(id(schema)), "rows": JSONValue(rows.count), "tabOrder": "LeftToRight",
        "useCollapsibleSection": false, "useHeading": true,
      ]
    ]
  }

  private static func item(_ field: FieldSchema, in schema: ObjectSchema, tab: Int) -> JSONValue {
    [
      "editableForNew": .bool(field.createable), "editableForUpdate": .bool(field.updateable),
      "label": .string(field.label),
      "layoutComponents": [
        [
          "details": .object(FieldDescription.of(field, in: schema)),
          "displayLines": field.type == .textarea ? 6 : 1, "tabOrder": JSONValue(tab),
          "type": "Field", "value": .string(field.name),
        ]
      ], "placeholder": false, "required": .bool(field.isRequired),
    ]
  }
}
