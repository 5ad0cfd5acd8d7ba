import SQLite
import System

/// A user's recent items: records created, changed or viewed, newest first.
struct RecentItems {
  let store: OrgStore
  let user: OrgUser
  /// The maximum number of items per user.
  static let most = 200

  /// How a record was used.
  enum Use {
    case viewed
    case referenced
  }

  static func makeTables(_ connection: Connection) throws {
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS recent (
        user TEXT NOT NULL, record TEXT NOT NULL, n INTEGER NOT NULL, viewed TEXT,
        referenced TEXT, PRIMARY KEY (user, record)
      ) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS recent_order ON recent (user, n);
      """)
  }

  /// Moves a record to the front of the list.
  func note(_ id: String, of object: ObjectSchema, _ use: Use = .viewed) throws {
    guard object.hasRecentItems else { return }
    let place = store.nextSequence("recent")
    let moment = Dates.salesforce(store.clock.now() / 1000 * 1000)
    let column = use == .viewed ? "viewed" : "referenced"
    let statement = try store.prepared(
      """
      INSERT INTO recent (user, record, n, \(column)) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (user, record) DO UPDATE SET n = ?3, \(column) = ?4
      """)
    try statement.bind(1, user.id)
    try statement.bind(2, id)
    try statement.bind(3, place)
    try statement.bind(4, moment)
    try statement.execute()
    // Older items are removed occasionally, not with each write.
    if place % 64 == 0 { try prune() }
  }

  /// Returns the records of one object, or of all, that still exist and are visible.
  func list(_ object: ObjectSchema? = nil, limit: Int = most) throws -> [RecentItem] {
    let newest = try store.connection.all(
      """
      SELECT record FROM recent WHERE user = \(user.id) ORDER BY n DESC LIMIT \(Self.most)
      """)
    let catalog = store.catalog(of: user)
    var items: [RecentItem] = []
    for row in newest {
      guard items.count < limit else { break }
      guard let id = row[0].text, let own = catalog.object(ofID: id),
        object == nil || own.name == object?.name
      else { continue }
      if let item = try item(id, own) { items.append(item) }
    }
    return items
  }

  private func item(_ id: String, _ object: ObjectSchema) throws -> RecentItem? {
    let name = object.nameField.map { "t." + SQL.quoted(name: $0.name) } ?? "NULL"
    var sql: SQL = """
      SELECT \(raw: name) FROM \(raw: try store.table(object.name).table) t \
      WHERE t."Id" = \(id) AND t."IsDeleted" = 0
      """
    if let visible = try Visibility(store: store, user: user).probe(object, "t") {
      sql += " AND \(visible)"
    }
    return try store.connection.first(sql).map {
      RecentItem(object: object.name, id: id, name: $0[0].text)
    }
  }

  private func prune() throws {
    try store.connection.run(
      """
      DELETE FROM recent WHERE user = \(user.id) AND n <= (SELECT n FROM recent \
      WHERE user = \(user.id) ORDER BY n DESC LIMIT 1 OFFSET \(Self.most))
      """)
  }
}

/// One entry of a user's recent items.
package struct RecentItem: Sendable, Hashable {
  package let object: String
  /// The record's 18-character id.
  package let id: String
  /// The record's name, if its object has a name field.
  package let name: String?
}

extension ObjectSchema {
  /// Whether its records are listed among recent items.
  var hasRecentItems: Bool { !isSetup }
}
