import SQLite
import SmartStore
import Snapshots
import System

extension StoreDelta {
  /// A plain delta file, examined: it has the tables of a delta and nothing else.
  package struct File: Sendable {
    package let path: String
    package let soups: [Soup]
    /// The stamp ID of the store that it is for.
    package let was: String
    /// The stamp ID of the store after it.
    package let now: String

    /// Examines a file as untrusted.
    package init(path: String) throws(BundleError) {
      self.path = path
      let read = try BundleError.mapping {
        let connection = try Connection.hostile(path)
        defer { connection.close() }
        return try StoreDelta.examined(connection)
      }
      guard let read else {
        throw .damaged(path: path, file: "its content", reason: "is not that of a delta")
      }
      (soups, was, now) = read
    }
  }

  /// Reads the description of a delta; nil if the file is not one.
  private static func examined(
    _ connection: Connection
  ) throws -> (soups: [Soup], was: String, now: String)? {
    let found = try connection.texts("SELECT sql FROM sqlite_schema ORDER BY rowid")
    // Nothing is read from tables before their text is known.
    guard Set(tables(of: [])).isSubset(of: found), try connection.quickCheck(limit: 1).isEmpty
    else { return nil }
    var soups: [Soup] = []
    for row in try connection.all("SELECT name, number, changed FROM soups ORDER BY number") {
      guard let name = row[0].text, let number = row[1].integer, number > 0 else { return nil }
      let specs = try connection.all(
        "SELECT column, type FROM indexes WHERE soup = \(name) ORDER BY rowid")
      var (columns, words): ([String], [String]) = ([], [])
      for (position, spec) in specs.enumerated() {
        guard let type = spec[1].text else { return nil }
        if type == IndexType.json1.rawValue { continue }
        // The text becomes part of SQL: only names that SmartStore generates are allowed.
        let column = "TABLE_\(number)_\(position)"
        guard spec[0].text == column else { return nil }
        columns.append(column)
        if type == IndexType.fullText.rawValue { words.append(column) }
      }
      soups.append(
        Soup(
          name: name, number: number, isChanged: row[2].integer == 1, columns: columns, words: words
        ))
    }
    guard Set(soups.map(\.number)).count == soups.count,
      found.sorted() == tables(of: soups).sorted(),
      let stamp = try connection.first("SELECT was, now FROM stamp"), let was = stamp[0].text,
      let now = stamp[1].text
    else { return nil }
    return (soups, was, now)
  }

  /// The reason for which a store does not take a delta.
  package struct Refusal: Error {
    package let sentence: String
    /// Whether it has changes that must be returned first.
    package var isUnsent = false
  }

  /// Whether a plain store is one that a delta is for.
  ///
  /// - Throws: `Refusal` with the reason if it is not.
  package static func check(_ file: File, _ store: Store) throws {
    try attached(file, store) { try require(conditions(file.soups), $0) }
  }

  private static func attached(
    _ file: File, _ store: Store, _ body: (Connection) throws -> Void
  ) throws {
    let connection = store.connection
    try connection.run("ATTACH DATABASE \(Connection.plain(file.path)) AS delta")
    defer {
      // A cached statement would keep the file open.
      connection.forgetStatements()
      try? connection.execute("DETACH DATABASE delta")
    }
    try body(connection)
  }

  /// Applies a delta to a plain store in one transaction, and marks the installation.
  ///
  /// `allowing` is called in the transaction before anything changes, and throws if the rules of an
  /// installation do not allow it (`DeltaInstallation`). `step` is called before each statement that
  /// changes the store.
  ///
  /// - Throws: `Refusal` if the store is not the one that the delta is for, or has rows that neither
  ///   it nor the delta has; the store is then as it was.
  package static func apply(
    _ file: File, to store: Store, install: String, allowing: () throws -> Void = {},
    step: (Int) throws -> Void = { _ in }
  ) throws {
    try attached(file, store) { connection in
      try store.transaction {
        try require(conditions(file.soups), connection)
        try allowing()
        let statements = file.soups.flatMap { Self.statements($0) } + sequences
        for (index, statement) in statements.enumerated() {
          try step(index)
          try connection.execute(statement)
        }
        try step(statements.count)
        try require(results(file.soups), connection)
        try mark(file, connection, install)
        try step(statements.count + 1)
      }
    }
    store.hasRemovedRows = true
    for soup in file.soups where !soup.words.isEmpty {
      if let found = try store.find(soup.name) { store.markFullTextStale(found) }
    }
  }

  /// Marks a store to which a delta was applied as a part of an installation.
  package static func mark(_ file: File, in store: Store, install: String) throws {
    try store.transaction { try mark(file, store.connection, install) }
  }

  private static func mark(_ file: File, _ connection: Connection, _ install: String) throws {
    guard let statement = mark(file.soups) else { return }
    try connection.run(SQL(statement, bindings: [.text(install)]))
  }

  /// When an element of the delta's soups with local changes was last changed; nil if there is none.
  package static func lastChange(_ file: File, in store: Store) throws -> Int64? {
    try file.soups.compactMap { soup -> Int64? in
      guard let found = try store.find(soup.name) else { return nil }
      // An alterSoup may have left the column empty.
      let flags =
        found.columns.filter { $0.spec.path == SyncField.local }.prefix(1).map(\.name)
        + ["json_extract(soup, '$.\(SyncField.local)')"]
      // Both platforms' spellings of a flag that is not set.
      let query: SQL = """
        SELECT max(coalesce(lastModified, \(Int64.max))) FROM \(raw: found.table)
        WHERE coalesce(\(raw: flags.joined(separator: ", ")), 0)
          NOT IN (0, '0', 'false', '')
        """
      return try store.connection.integer(query)
    }.max()
  }

  /// When the stamp of a store was last written; an app writes it at each return.
  package static func lastReturn(in store: Store) throws -> Int64? {
    guard let stamp = try store.find(Provenance.soupName) else { return nil }
    return try store.connection.integer("SELECT max(lastModified) FROM \(raw: stamp.table)")
  }

  private static func require(_ conditions: [Condition], _ connection: Connection) throws {
    for condition in conditions where try connection.integer(SQL(condition.query)) != 0 {
      throw Refusal(sentence: condition.refusal)
    }
  }
}
