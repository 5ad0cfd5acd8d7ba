import SQLite

/// What `What.Name` means: the parent may be of several objects, and shows what they share.
struct PolymorphicParent {
  let store: OrgStore
  let user: OrgUser

  /// The object as which such parents are asked: `Id`, `Name` and `Type`.
  static let schema = ObjectSchema(
    "Name", label: "Name", plural: "Names", prefix: "", sharing: .publicRead,
    fields: FieldSchema.identity + [
      .text("Name", "Name", 255).readOnly.naming, .text("Type", "Type", 40).readOnly,
    ])

  /// The bytes before the type and id in the address of such a parent.
  static func head(_ version: String) -> [UInt8] {
    Array("{\"attributes\":{\"type\":\"Name\",\"url\":\"/services/data/v\(version)/sobjects/".utf8)
  }

  /// The visible parents of every kind as one table.
  func table(_ lookup: FieldSchema) throws -> SQL {
    let visibility = Visibility(user: user)
    var parts: [SQL] = []
    let catalog = store.catalog(of: user)
    for target in lookup.referenceTo.compactMap({ catalog.object($0) }) {
      let name = target.nameField.map { "p." + SQL.quoted(name: $0.name) } ?? "NULL"
      var part: SQL = """
        SELECT p."Id", \(raw: name) AS "Name", \(raw: SQL.quoted(text: target.name)) AS "Type", \
        p."IsDeleted" FROM \(raw: try store.table(target.name).table) p WHERE p."IsDeleted" = 0
        """
      if let visible = visibility.probe(target, "p") { part += " AND \(visible)" }
      parts.append(part)
    }
    return "(" + parts.joined(separator: " UNION ALL ") + ")"
  }
}
