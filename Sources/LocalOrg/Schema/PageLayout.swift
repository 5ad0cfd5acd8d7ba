import JSON

/// The layout of an object's fields, derived from its schema.
struct PageLayout {
  let object: ObjectSchema
  let isCompact: Bool
  /// `View`, `Edit` or `Create`.
  let mode: String

  /// An item of the page: one field, or the parts of a compound field.
  private struct Item {
    let label: String
    let fields: [FieldSchema]
    var lookup: String?
  }

  /// A block of the page.
  private struct Section {
    let heading: String
    let columns: Int
    let items: [Item]
    var isCollapsible = true
    var usesHeading = true
  }

  func json(recordTypeID: String) -> JSONObject {
    let sections = isCompact ? [compact] : full.filter { !$0.items.isEmpty }
    return [
      "id": .string(id("00h", 0)), "layoutType": isCompact ? "Compact" : "Full",
      "mode": .string(mode), "objectApiName": .string(object.name),
      "recordTypeId": .string(recordTypeID), "saveOptions": [],
      "sections": .array(sections.enumerated().map { json($1, id: id("01B", $0)) }),
    ]
  }

  /// The IDs of layouts and sections are derived from the object's key prefix, so they are stable.
  private func id(_ prefix: String, _ place: Int) -> String {
    let number = object.keyPrefix.utf8.reduce(Int64(0)) { $0 * 128 + Int64($1) }
    return OrgID.make(prefix: prefix, sequence: number * 16 + Int64(place))
  }

  // MARK: Sections

  private var full: [Section] {
    let plain = shown.filter {
      $0.compoundFieldName == nil && $0.type != .address && !isLongText($0) && !isSystem($0)
        && $0.name != object.nameField?.name
    }
    var sections = [
      Section(
        heading: "\(object.label) Information", columns: 2, items: name + plain.map(item),
        isCollapsible: false),
      Section(
        heading: "Address Information", columns: 2,
        items: object.fields.filter { $0.type == .address }.map(address)),
      Section(
        heading: "Description Information", columns: 1, items: shown.filter(isLongText).map(item)),
    ]
    if mode != "Create" {
      sections.append(
        Section(
          heading: "System Information", columns: 2,
          items: [audit("Created"), audit("LastModified")]))
    }
    return sections
  }

  private var compact: Section {
    let few = shown.filter {
      $0.compoundFieldName == nil && $0.type != .address && !isSystem($0) && !isLongText($0)
        && $0.type != .boolean && $0.name != object.nameField?.name
    }
    return Section(
      heading: "", columns: 1, items: name + few.prefix(4).map(item), isCollapsible: false,
      usesHeading: false)
  }

  /// The fields that are visible in this mode.
  private var shown: [FieldSchema] {
    object.fields.filter { field in
      guard field.name != "Id", field.name != "IsDeleted", field.name != "MasterRecordId" else {
        return false
      }
      switch mode {
      case "Create": return field.createable
      case "Edit": return field.updateable || field.name == object.nameField?.name
      default: return true
      }
    }
  }

  /// The name comes first; a compound name is edited in its parts.
  private var name: [Item] {
    guard let field = object.nameField else { return [] }
    let parts = object.fields.filter { $0.compoundFieldName == field.name }
    guard mode != "View", !parts.isEmpty else {
      return mode == "Create" && !field.createable ? [] : [item(field)]
    }
    return [Item(label: "Name", fields: parts)]
  }

  private func item(_ field: FieldSchema) -> Item {
    Item(
      label: field.label, fields: [field], lookup: field.type == .reference ? field.name : nil)
  }

  private func address(_ field: FieldSchema) -> Item {
    Item(
      label: field.label,
      fields: object.fields.filter {
        $0.compoundFieldName == field.name && !$0.type.isNumber
      })
  }

  private func audit(_ what: String) -> Item {
    Item(
      label: what == "Created" ? "Created By" : "Last Modified By",
      fields: [what + "ById", what + "Date"].compactMap(object.field), lookup: what + "ById")
  }

  private func isLongText(_ field: FieldSchema) -> Bool {
    field.type == .textarea && field.length > 255
  }

  private func isSystem(_ field: FieldSchema) -> Bool {
    [
      "CreatedDate", "CreatedById", "LastModifiedDate", "LastModifiedById", "SystemModstamp",
    ].contains(field.name)
  }

  // MARK: JSON

  private func json(_ section: Section, id: String) -> JSONValue {
    var rows: [JSONValue] = []
    for start in stride(from: 0, to: section.items.count, by: section.columns) {
      let row = section.items[start..<min(start + section.columns, section.items.count)]
      rows.append(["layoutItems": .array(row.map(json))])
    }
    return [
      "collapsible": .bool(section.isCollapsible), "columns": JSONValue(section.columns),
      "heading": .string(section.heading), "id": .string(id), "layoutRows": .array(rows),
      "rows": JSONValue(rows.count), "useHeading": .bool(section.usesHeading),
    ]
  }

  private func json(_ item: Item) -> JSONValue {
    [
      "editableForNew": .bool(item.fields.contains(where: \.createable)),
      "editableForUpdate": .bool(item.fields.contains(where: \.updateable)),
      "label": .string(item.label),
      "layoutComponents": .array(
        item.fields.map { field in
          [
            "apiName": .string(field.name), "componentType": "Field",
            "label": .string(field.label),
          ]
        }),
      "lookupIdApiName": item.lookup.map(JSONValue.string) ?? .null,
      "required": .bool(item.fields.contains(where: \.isRequired)),
      "sortable": false,
    ]
  }
}
