import SQLite
import System

/// Changes rows without the checks of the API.
extension OrgStore {
  /// Returns the columns of a record, deleted or not; nil if there is none.
  func row(_ table: StoredObject, id: String) throws -> [SQLiteValue]? {
    let statement = try prepared(
      "SELECT \(table.columnList) FROM \(table.table) WHERE \"Id\" = ?")
    try statement.bind(1, id)
    defer { statement.reset() }
    return try statement.step() ? statement.row : nil
  }

  /// Reads a record, passes its columns to `body` to change them, and writes the differences with
  /// new dates: the current time, unless a time is given.
  ///
  /// `automation` runs after `body`.
  func change(
    _ id: String, by userID: String, at given: Int64? = nil, automation: RowAutomation? = nil,
    _ body: (inout [SQLiteValue], StoredObject) throws -> Void
  ) throws {
    guard let schema = catalog.object(ofID: id) else { throw OrgError.malformedID(id) }
    let table = try table(schema.name)
    guard let before = try row(table, id: id) else { throw OrgError.notFound }
    var after = before
    try body(&after, table)
    var date = Dates.salesforce(given ?? tick())
    if OrgClock.lag != 0, let place = table.place("SystemModstamp"), let last = before[place].text {
      date = max(date, last)
    }
    let moment = SQLiteValue.text(date)
    Computed.apply(to: &after, of: table, at: moment)
    if let automation {
      try automation.apply(to: &after, of: table, before: before)
      Computed.apply(to: &after, of: table, at: moment)
    }
    for (name, value) in [
      ("LastModifiedDate", moment), ("SystemModstamp", moment),
      ("LastModifiedById", .text(userID)),
    ] {
      if let place = table.place(name) { after[place] = value }
    }
    let changed = after.indices.filter { Self.differ(after[$0], before[$0]) }
    guard !changed.isEmpty else { return }
    let names = changed.map { SQL.quoted(name: table.fields[$0].name) + " = ?" }
    let statement = try prepared(
      "UPDATE \(table.table) SET \(names.joined(separator: ", ")) WHERE \"Id\" = ?")
    for (index, place) in changed.enumerated() {
      try statement.bind(Int32(index + 1), after[place])
    }
    try statement.bind(Int32(changed.count + 1), id)
    try statement.execute()
  }

  /// Text is compared by its bytes, because Swift treats composed and decomposed letters as equal.
  private static func differ(_ one: SQLiteValue, _ other: SQLiteValue) -> Bool {
    guard case .text(let left) = one, case .text(let right) = other else { return one != other }
    return !left.utf8.elementsEqual(right.utf8)
  }

  func set(_ field: String, of id: String, to value: SQLiteValue) throws {
    try change(id, by: OrgStore.administratorID) { row, table in
      guard let place = table.place(field) else { throw OrgError.unknownObject(field) }
      row[place] = value
    }
  }

  // MARK: Operations for tests and the demo

  func share(_ recordIDs: [String], with username: String, edit: Bool) throws {
    let user = try user(named: username)
    for id in recordIDs {
      let record = try known(id)
      try connection.run(
        "INSERT OR REPLACE INTO share (user, record, edit) VALUES (\(user.id), \(record), \(edit))")
    }
  }

  func unshare(_ recordID: String, from username: String) throws {
    let user = try user(named: username)
    let record = try known(recordID)
    try connection.run("DELETE FROM share WHERE user = \(user.id) AND record = \(record)")
  }

  func transfer(_ recordID: String, to username: String) throws {
    try set("OwnerId", of: known(recordID), to: .text(user(named: username).id))
  }

  func undelete(_ recordID: String) throws {
    try restore(known(recordID), by: OrgStore.administratorID, at: tick())
  }

  func merge(_ recordID: String, into masterID: String) throws {
    let (loser, master) = (try known(recordID), try known(masterID))
    guard let schema = catalog.object(ofID: loser), schema.field("MasterRecordId") != nil,
      OrgID.prefix(loser) == OrgID.prefix(master)
    else { throw OrgError(code: "INVALID_OPERATION", message: "these records cannot be merged") }
    let moment = tick()
    try handOver(from: loser, to: master, of: schema, at: moment)
    try change(loser, by: OrgStore.administratorID, at: moment) { row, table in
      if let place = table.place("MasterRecordId") { row[place] = .text(master) }
      if let place = table.place("IsDeleted") { row[place] = 1 }
    }
  }

  /// Moves the children of a merged record to the surviving one.
  private func handOver(
    from loser: String, to master: String, of schema: ObjectSchema, at moment: Int64
  ) throws {
    for relationship in schema.childRelationships {
      let child = try table(relationship.childObject)
      // Derived fields change with their source; the last writer does not.
      guard let field = child.schema.field(relationship.field),
        field.createable || field.name == "AccountId"
      else { continue }
      let ids = try connection.all(
        """
        SELECT "Id" FROM \(raw: child.table) WHERE \(name: relationship.field) = \(loser) \
        AND "IsDeleted" = 0 AND "Id" <> \(master) ORDER BY "seq"
        """)
      for id in ids.compactMap({ $0[0].text }) {
        try change(id, by: OrgStore.administratorID, at: moment) { row, table in
          if let place = table.place(relationship.field) { row[place] = .text(master) }
        }
      }
    }
  }

  /// Returns the 18-character ID of an existing record, deleted or not.
  func known(_ id: String) throws -> String {
    guard let normal = OrgID.normalize(id), let schema = catalog.object(ofID: normal) else {
      throw OrgError.malformedID(id)
    }
    guard try row(try table(schema.name), id: normal) != nil else { throw OrgError.notFound }
    return normal
  }
}
