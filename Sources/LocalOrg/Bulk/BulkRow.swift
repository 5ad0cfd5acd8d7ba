import JSON

/// A CSV row as the members of a record.
///
/// An empty cell leaves its field unchanged; `#N/A` clears it.
struct BulkRow {
  let object: ObjectSchema
  private(set) var fields = JSONObject()
  private(set) var id: String?
  /// The value of the field by which an upsert finds records.
  private(set) var key: String?

  init(_ cells: [String], columns: [String], of object: ObjectSchema, keyField: String? = nil) {
    self.object = object
    for (column, cell) in zip(columns, cells) where !cell.isEmpty {
      if column.lowercased() == keyField?.lowercased() {
        key = cell
      } else if column.lowercased() == "id" {
        id = cell
      } else {
        add(column, cell == "#N/A" ? .null : .string(cell))
      }
    }
  }

  /// Reads an entry of a JSON list, whose values have types; null clears a field.
  init(_ members: JSONObject, of object: ObjectSchema, keyField: String? = nil) {
    self.object = object
    for (name, value) in members {
      if name.lowercased() == keyField?.lowercased() {
        key = value.isNull ? nil : value.string ?? value.text
      } else if name.lowercased() == "id" {
        id = value.string
      } else {
        fields[name] = value
      }
    }
  }

  /// The relationship that a column names, such as `Who` for `Who:Contact`.
  static func relationship(_ name: Substring) -> String {
    String(name.prefix { $0 != ":" })
  }

  private mutating func add(_ column: String, _ value: JSONValue) {
    guard let field = object.field(column) else {
      let parts = column.split(separator: ".", maxSplits: 1)
      guard parts.count == 2 else { return }
      fields[Self.relationship(parts[0])] = .object([String(parts[1]): value])
      return
    }
    // A CSV may write a Boolean as a digit.
    if field.type == .boolean, value.string == "1" || value.string == "0" {
      fields[field.name] = .bool(value.string == "1")
    } else {
      fields[field.name] = value
    }
  }
}
