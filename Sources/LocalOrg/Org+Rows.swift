import JSON

/// Reading and writing records.
extension Org {
  /// Creates a record.
  ///
  /// A member `attributes` is ignored.
  package func create(_ object: String, _ fields: JSONObject, as user: OrgUser) -> RowOutcome {
    writing(as: user) { writer in try writer.create(object, fields) }
  }

  /// Updates a record.
  ///
  /// An unknown or invisible record fails with `NOT_FOUND` (in a collection, an org returns
  /// `INVALID_CROSS_REFERENCE_KEY`). With `ifUnmodifiedSince`, in milliseconds, a record modified
  /// in a later second fails with status 412.
  package func update(
    _ object: String, id: String, _ fields: JSONObject, as user: OrgUser,
    ifUnmodifiedSince: Int64? = nil
  ) -> RowOutcome {
    writing(as: user) { writer in
      try writer.update(object, id: id, fields, ifUnmodifiedSince: ifUnmodifiedSince)
    }
  }

  /// Moves a record to the recycle bin, with the children that belong to it; if `object` is nil,
  /// the ID determines it.
  package func delete(_ object: String?, id: String, as user: OrgUser) -> RowOutcome {
    writing(as: user) { writer in try writer.delete(object, id: id) }
  }

  /// Restores a record from the recycle bin, with the children that were deleted with it.
  package func undelete(_ id: String, as user: OrgUser) -> RowOutcome {
    writing(as: user) { writer in try writer.undelete(id: id) }
  }

  /// Creates or updates the record with this value in an external ID field.
  ///
  /// With the field `Id` it is an update, or a create if the value is nil.
  package func upsert(
    _ object: String, externalField: String, value: String?, _ fields: JSONObject, as user: OrgUser
  ) -> RowOutcome {
    writing(as: user) { writer in
      try writer.upsert(object, externalField: externalField, value: value, fields)
    }
  }

  /// Returns one record with its `attributes`, and all readable fields unless some are named.
  ///
  /// A deleted record throws status 404 `ENTITY_IS_DELETED`; an absent or invisible one
  /// `NOT_FOUND`.
  package func read(
    _ object: String, id: String, fields: [String]? = nil, as user: OrgUser,
    version: String = VersionResource.newest
  ) throws(OrgError) -> JSONObject {
    try locked { store in
      try RowReader(store: store, user: user, version: version)
        .read(object, id: id, fields: fields)
    }
  }

  /// Reads a file in a field of a record; an absent or invisible one throws `NOT_FOUND`.
  func readFile(
    _ object: String, id: String, field: String, as user: OrgUser
  ) throws(OrgError) -> [UInt8] {
    try locked { store in
      try RowReader(store: store, user: user, version: VersionResource.newest)
        .readFile(object, id: id, field: field)
    }
  }

  /// The ID of the record with this value in an external ID field; nil if there is none.
  package func find(_ object: String, externalField: String, value: String, as user: OrgUser)
    throws(OrgError) -> String?
  {
    try locked { store in
      try RowReader(store: store, user: user, version: VersionResource.newest)
        .find(object, externalField: externalField, value: value)
    }
  }

  /// The IDs of all records with this value in an external ID field, which need not be unique.
  package func findAll(_ object: String, externalField: String, value: String, as user: OrgUser)
    throws(OrgError) -> [String]
  {
    try locked { store in
      try RowReader(store: store, user: user, version: VersionResource.newest)
        .findAll(object, externalField: externalField, value: value)
    }
  }

  /// Returns a JSON array of records in the order of `ids`, with null for each that is unknown,
  /// deleted or invisible.
  ///
  /// An invalid field makes the whole call fail.
  package func retrieve(
    _ object: String, ids: [String], fields: [String], as user: OrgUser,
    version: String = VersionResource.newest
  ) throws(OrgError) -> [UInt8] {
    try locked { store in
      try RowReader(store: store, user: user, version: version)
        .retrieve(object, ids: ids, fields: fields)
    }
  }

  /// Returns the IDs of records modified or deleted in a window of milliseconds, oldest first.
  package func changes(
    _ object: String, deleted: Bool, from start: Int64, to end: Int64, as user: OrgUser
  ) throws(OrgError) -> [(id: String, date: String)] {
    try locked { store in
      try RowReader(store: store, user: user, version: VersionResource.newest)
        .changes(object, deleted: deleted, from: start, to: end)
    }
  }

  private func writing(
    as user: OrgUser, _ body: (RecordWriter) throws -> RowOutcome
  ) -> RowOutcome {
    do {
      return try locked { store in
        try store.transaction { try body(RecordWriter(store: store, user: user)) }
      }
    } catch {
      return .failure([error])
    }
  }
}
