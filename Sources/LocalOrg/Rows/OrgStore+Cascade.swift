import SQLite

/// Deletes and restores records together with their dependents.
extension OrgStore {
  /// Moves a record to the recycle bin, with all children that are deleted with their parent.
  ///
  /// All get the same time, by which `restore` finds them.
  func remove(_ id: String, by userID: String, at moment: Int64) throws {
    try change(id, by: userID, at: moment) { row, table in
      if let place = table.place("IsDeleted") { row[place] = 1 }
    }
    for child in try dependents(of: id, where: "\"IsDeleted\" = 0") {
      try remove(child, by: userID, at: moment)
    }
  }

  /// Returns why a record cannot be deleted: other records refer to it, or to a dependent, and
  /// prevent its deletion.
  func restriction(of id: String) throws -> OrgError? {
    guard let schema = catalog.object(ofID: id) else { return nil }
    for relationship in schema.childRelationships where relationship.restrictsDelete {
      let child = try table(relationship.childObject)
      let names = try connection.texts(
        """
        SELECT \(name: child.schema.nameField?.name ?? "Id") FROM \(raw: child.table) \
        WHERE \(name: relationship.field) = \(id) AND "IsDeleted" = 0 ORDER BY "seq" LIMIT 10
        """)
      guard !names.isEmpty else { continue }
      let own = try table(schema.name)
      let name = try row(own, id: id).flatMap { row in
        schema.nameField.flatMap { own.place($0.name) }.flatMap { row[$0].text }
      }
      return OrgError(
        code: "DELETE_FAILED",
        message: "Your attempt to delete \(name ?? id) could not be completed because it is "
          + "associated with the following \(child.schema.labelPlural.lowercased()).: "
          + names.joined(separator: ", "))
    }
    for child in try dependents(of: id, where: "\"IsDeleted\" = 0") {
      if let reason = try restriction(of: child) { return reason }
    }
    return nil
  }

  /// Restores a record from the recycle bin, with the children that were deleted with it.
  func restore(_ id: String, by userID: String, at moment: Int64) throws {
    guard let schema = catalog.object(ofID: id) else { throw OrgError.malformedID(id) }
    let table = try table(schema.name)
    let place = table.place("SystemModstamp")
    let deleted = try row(table, id: id).flatMap { row in place.flatMap { row[$0].text } } ?? ""
    let children = try dependents(
      of: id, where: "\"IsDeleted\" = 1 AND \"SystemModstamp\" = \(deleted)")
    try change(id, by: userID, at: moment) { row, table in
      if let place = table.place("IsDeleted") { row[place] = 0 }
      if let place = table.place("MasterRecordId") { row[place] = .null }
    }
    for child in children { try restore(child, by: userID, at: moment) }
  }

  /// Whether a record's parent is deleted.
  func isOfDeleted(_ id: String) throws -> Bool {
    guard let schema = catalog.object(ofID: id) else { return false }
    let table = try table(schema.name)
    guard let row = try row(table, id: id) else { return false }
    for field in schema.fields {
      guard let place = table.place(field.name), case .text(let parent) = row[place],
        let owner = catalog.object(ofID: parent),
        owner.childRelationships.contains(where: {
          $0.cascadesDelete && $0.childObject == schema.name && $0.field == field.name
        })
      else { continue }
      let above = try self.table(owner.name)
      if let place = above.place("IsDeleted"), try self.row(above, id: parent)?[place].integer == 1
      {
        return true
      }
    }
    return false
  }

  func purge(_ given: String) throws {
    let id = try known(given)
    guard let schema = catalog.object(ofID: id) else { throw OrgError.malformedID(given) }
    let table = try table(schema.name)
    guard let place = table.place("IsDeleted"), try row(table, id: id)?[place].integer == 1 else {
      throw OrgError.notInBin
    }
    try connection.run("DELETE FROM \(raw: table.table) WHERE \"Id\" = \(id)")
  }

  /// Returns the children that are deleted with a record.
  private func dependents(of id: String, where condition: SQL) throws -> [String] {
    guard let schema = catalog.object(ofID: id) else { return [] }
    var ids: [String] = []
    for relationship in schema.childRelationships where relationship.cascadesDelete {
      let rows = try connection.all(
        """
        SELECT "Id" FROM \(raw: try table(relationship.childObject).table) \
        WHERE \(name: relationship.field) = \(id) AND \(condition) ORDER BY "seq"
        """)
      ids += rows.compactMap { $0[0].text }.filter { !ids.contains($0) }
    }
    return ids
  }
}
