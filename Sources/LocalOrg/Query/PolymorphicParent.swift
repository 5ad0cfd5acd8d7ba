import SQLite

/// The parent in a path such as `What.Name`, which may be of several objects and has their common
/// fields.
struct PolymorphicParent {
  let store: OrgStore
  let user: OrgUser

  /// The object of such parents, with the fields of an org's `Name`.
  static let schema = ObjectSchema(
    "Name", label: "Name", plural: "Names", prefix: "", sharing: .publicRead,
    fields: FieldSchema.identity + [
      .text("Name", "Name", 255).readOnly.naming, .text("Type", "Type", 40).readOnly,
    ] + details)

  /// Fields that only some kinds of parents have; they are null for the others.
  private static let details: [FieldSchema] = [
    .text("FirstName", "First Name", 40).readOnly, .text("LastName", "Last Name", 80).readOnly,
    .text("Username", "Username", 80).readOnly, .text("Alias", "Alias", 8).readOnly,
    .text("Title", "Title", 128).readOnly, .kind(.email, "Email", "Email", 128).readOnly,
    .kind(.phone, "Phone", "Phone", 40).readOnly, .flag("IsActive", "Active").readOnly,
  ]

  /// The bytes before the type and ID in the URL of such a parent.
  static func head(_ version: String) -> [UInt8] {
    Array("{\"attributes\":{\"type\":\"Name\",\"url\":\"/services/data/v\(version)/sobjects/".utf8)
  }

  /// The visible parents of every kind as one table.
  func table(_ lookup: FieldSchema) throws -> SQL {
    let visibility = Visibility(store: store, user: user)
    var parts: [SQL] = []
    let catalog = store.catalog(of: user)
    for target in lookup.referenceTo.compactMap({ catalog.object($0) }) {
      let name = target.nameField.map { "p." + SQL.quoted(name: $0.name) } ?? "NULL"
      let others: String = Self.details.map { field -> String in
        let column = target.field(field.name) == nil ? "NULL" : "p." + SQL.quoted(name: field.name)
        return ", \(column) AS \(SQL.quoted(name: field.name))"
      }.joined()
      var part: SQL = """
        SELECT p."Id", \(raw: name) AS "Name", \(raw: SQL.quoted(text: target.name)) AS "Type", \
        p."IsDeleted"\(raw: others) FROM \(raw: try store.table(target.name).table) p WHERE p."IsDeleted" = 0
        """
      if let visible = try visibility.probe(target, "p") { part += " AND \(visible)" }
      parts.append(part)
    }
    return "(" + parts.joined(separator: " UNION ALL ") + ")"
  }
}
