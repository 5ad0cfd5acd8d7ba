import SQLite

/// Saves lists that do not fit into one page, so that all pages are of the same time.
struct RelayTokens {
  let store: OrgStore
  private static let keepLimit = 64

  static func makeTables(_ connection: Connection) throws {
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS relay (
        id TEXT PRIMARY KEY, user TEXT NOT NULL, rules INTEGER NOT NULL
      ) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS relay_item (
        relay TEXT NOT NULL, n INTEGER NOT NULL, rule INTEGER NOT NULL, object TEXT NOT NULL,
        record_type TEXT NOT NULL, id TEXT NOT NULL, stamp TEXT NOT NULL, PRIMARY KEY (relay, n)
      ) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS relay_error (
        relay TEXT NOT NULL, place INTEGER NOT NULL, rule TEXT NOT NULL
      );
      """)
  }

  /// Saves a list and returns its token.
  func save(_ list: PrimingList, user: OrgUser) throws -> String {
    let id = OrgID.make(prefix: "0rt", sequence: store.nextSequence("0rt"))
    try store.connection.run(
      "INSERT INTO relay (id, user, rules) VALUES (\(id), \(user.id), \(list.ruleCount))")
    let insert = try store.prepared("INSERT INTO relay_item VALUES (?, ?, ?, ?, ?, ?, ?)")
    for (place, item) in list.items.enumerated() {
      try insert.bind(1, id)
      try insert.bind(2, place)
      try insert.bind(3, item.rule)
      try insert.bind(4, item.object)
      try insert.bind(5, item.recordType)
      try insert.bind(6, item.id)
      try insert.bind(7, item.stamp)
      try insert.execute()
    }
    for error in list.errors {
      try store.connection.run(
        "INSERT INTO relay_error (relay, place, rule) VALUES (\(id), \(error.place), \(error.rule))"
      )
    }
    try prune()
    return id
  }

  /// Returns the list of a token and the offset at which its page starts.
  func find(_ token: String, user: OrgUser) throws -> (PrimingList, Int) {
    let parts = token.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let offset = Int(parts[1]), offset >= 0 else { throw Self.invalid }
    let id = String(parts[0])
    guard
      let rules = try store.connection.integer(
        "SELECT rules FROM relay WHERE id = \(id) AND user = \(user.id)")
    else { throw Self.invalid }
    var list = PrimingList(ruleCount: Int(rules))
    list.token = id
    let items: SQL =
      "SELECT rule, object, record_type, id, stamp FROM relay_item WHERE relay = \(id) ORDER BY n"
    try store.connection.rows(items) { row in
      list.items.append(
        PrimingList.Item(
          rule: Int(row.integer(0)), object: row.text(1) ?? "", recordType: row.text(2) ?? "",
          id: row.text(3) ?? "", stamp: row.text(4) ?? ""))
    }
    for row in try store.connection.all("SELECT place, rule FROM relay_error WHERE relay = \(id)") {
      list.errors.append((Int(row[0].integer ?? 0), row[1].text ?? ""))
    }
    guard offset <= list.items.count else { throw Self.invalid }
    return (list, offset)
  }

  private func prune() throws {
    try store.connection.run(
      """
      DELETE FROM relay WHERE id IN (SELECT id FROM relay ORDER BY id DESC LIMIT -1 OFFSET \
      \(Self.keepLimit))
      """)
    try store.connection.execute(
      "DELETE FROM relay_item WHERE relay NOT IN (SELECT id FROM relay);"
        + "DELETE FROM relay_error WHERE relay NOT IN (SELECT id FROM relay);")
  }

  private static let invalid = OrgError(
    code: "ILLEGAL_QUERY_PARAMETER_VALUE", message: "the relay token is not valid")
}
