import SQLite

/// Writes the org's records as JSON lines.
struct OrgDump {
  let store: OrgStore

  func lines(objects: [String]?) throws -> String {
    var encoder = RecordEncoder(store: store)
    for schema in store.catalog.objects {
      if let objects, !objects.contains(where: { $0.lowercased() == schema.name.lowercased() }) {
        continue
      }
      let table = try store.table(schema.name)
      let statement = try store.prepared(
        "SELECT \(table.columnList) FROM \(table.table) ORDER BY \"seq\"")
      defer { statement.reset() }
      while try statement.step() { append(statement, table, to: &encoder) }
    }
    return String(decoding: encoder.bytes, as: UTF8.self)
  }

  private func append(
    _ statement: Statement, _ table: StoredObject, to encoder: inout RecordEncoder
  ) {
    encoder.append(bytes: Array("{\"type\":\"\(table.schema.name)\"".utf8))
    for (place, field) in table.fields.enumerated() {
      let index = Int32(place)
      guard !statement.isNull(index) else { continue }
      encoder.append(bytes: Array(",\"\(field.name)\":".utf8))
      if field.type.isNumber || field.type == .boolean {
        encoder.appendRaw(statement, index)
      } else {
        encoder.appendText(statement, index)
      }
    }
    encoder.append("}\n")
  }
}
