import SQLite
import System

/// An untrusted file whose device was interrupted while altering soups, and a copy in which the
/// alterations are finished.
///
/// The file is only read, on a connection with all defenses. The copy is a new store with a schema
/// by attache; only values are copied into it. So no table, index or full-text module of the file
/// ever runs with write access.
struct InterruptedStore {
  private let source: Store
  private let platform: Platform
  private let alterations: [String: SoupAlteration]

  /// Creates the pair for a file whose schema was validated as SmartStore's, between two steps of
  /// `alterations`.
  init(_ source: Store, _ alterations: [SoupAlteration]) {
    self.source = source
    platform = source.platform
    self.alterations = Dictionary(alterations.map { ($0.old.name, $0) }) { first, _ in first }
  }

  /// Writes the copy.
  func finish(to path: String) throws {
    let copy = try Store(creating: path, platform: platform)
    // No one uses the file until it is complete.
    try copy.connection.execute("PRAGMA synchronous = OFF")
    try copy.transaction {
      for row in try source.connection.all("SELECT id, soupName FROM soup_attrs ORDER BY id") {
        guard let number = row[0].integer, let name = row[1].text else { continue }
        try copy.connection.run(
          "INSERT INTO soup_attrs (id, soupName) VALUES (\(number), \(name))")
        if let alteration = alterations[name] {
          try write(alteration, to: copy)
        } else {
          let soup = try source.soup(name)
          try copy.createTables(of: soup)
          let kept = soup.columns.map { (old: $0.name, new: $0.name) }
          try write(soup, from: soup.table, kept, to: copy)
          try writeWords(of: soup, to: copy)
        }
      }
      try copySequence(of: "soup_attrs", as: "soup_attrs", to: copy)
      try copySequence(of: "long_operations_status", as: "long_operations_status", to: copy)
    }
    try copy.close()
  }

  private func write(_ alteration: SoupAlteration, to copy: Store) throws {
    let new = alteration.new
    try source.checkRows(of: alteration)
    try copy.createTables(of: new)
    let own = new.columns.map { (old: $0.name, new: $0.name) }
    let kept =
      alteration.isCopied ? own : alteration.keptColumns.map { (old: $0.old, new: $0.new.name) }
    try write(
      new, from: alteration.elementTable, where: alteration.copiedRows, kept, to: copy)
    if alteration.isInBothTables { try write(new, from: new.table, own, to: copy) }
    try writeWords(of: new, to: copy)
    if alteration.reIndexData, alteration.lastStep < .reIndexSoup {
      try copy.reIndex(new, paths: alteration.changedPaths)
    }
  }

  /// Copies rows with the columns that are kept.
  private func write(
    _ soup: Soup, from table: String, where condition: String = "1",
    _ kept: [(old: String, new: String)], to copy: Store
  ) throws {
    let core = ["id", "soup", "created", "lastModified"]
    let from = (core + kept.map(\.old)).joined(separator: ", ")
    let into = (core + kept.map(\.new)).joined(separator: ", ")
    let places = Array(repeating: "?", count: core.count + kept.count).joined(separator: ", ")
    let insert = try copy.connection.prepare(
      "INSERT INTO \(soup.table) (\(into)) VALUES (\(places))")
    let sql: SQL = """
      SELECT \(raw: from) FROM \(raw: table) WHERE \(raw: condition) ORDER BY id
      """
    try source.connection.rows(sql) { row in
      try insert.bind(row.values)
      try insert.execute()
    }
    try copySequence(of: table, as: soup.table, to: copy)
  }

  /// Creates the full-text rows of the copied rows.
  private func writeWords(of soup: Soup, to copy: Store) throws {
    guard soup.hasFullText else { return }
    let words = soup.fullTextColumns.map(\.name).joined(separator: ", ")
    try copy.connection.execute(
      """
      INSERT INTO \(soup.fullTextTable) (rowid, \(words)) SELECT id, \(words) FROM \(soup.table)
      """)
  }

  private func copySequence(of table: String, as name: String, to copy: Store) throws {
    let sequence: SQL = "SELECT seq FROM sqlite_sequence WHERE name = \(table)"
    guard let last = try source.connection.integer(sequence) else { return }
    let known: SQL = "SELECT seq FROM sqlite_sequence WHERE name = \(name)"
    if let given = try copy.connection.integer(known), given > last { return }
    try copy.connection.run("DELETE FROM sqlite_sequence WHERE name = \(name)")
    try copy.connection.run("INSERT INTO sqlite_sequence (name, seq) VALUES (\(name), \(last))")
  }
}

extension Store {
  /// Finishes the interrupted alterations of soups in a copy; returns the names of the soups.
  ///
  /// If no alteration was interrupted, it returns none and creates no copy. The file is only read,
  /// with all defenses; anything that `init(untrusted:)` would reject is rejected. The copy is then
  /// opened like any other untrusted file.
  public static func finishAlterations(
    untrusted path: String, to copy: String, heapLimitMiB: Int? = nil, deadlineSeconds: Int? = nil
  ) throws(StoreError) -> [String] {
    try StoreError.mapping {
      let connection = try Connection.hostile(
        path, limits: .init(heapMiB: heapLimitMiB, deadlineSeconds: deadlineSeconds))
      defer { connection.close() }
      let file = try examined(connection)
      return try finish(file, Store(connection, platform: file.platform), to: copy)
    }
  }

  /// Opens a private untrusted file like `init(untrusted:)`, and validates it once.
  ///
  /// If its device was interrupted while altering soups, a copy in which the alterations are
  /// finished replaces it; the names of the soups are returned. The file itself is only read. If
  /// `image` has its bytes, they are read instead; the image must stay valid until the store is
  /// closed, followed by `imageMargin` bytes.
  package static func finishingAlterations(
    untrusted path: String, image: UnsafeMutableRawBufferPointer? = nil
  ) throws -> (store: Store, soups: [String]) {
    let copy = path + ".finished"
    let (store, soups) = try StoreError.mapping {
      let connection = try Connection.hostile(path, image: image)
      let file = try examined(connection)
      let store = Store(connection, platform: file.platform)
      store.proof = file.proof
      return (store, try finish(file, store, to: copy))
    }
    if soups.isEmpty { return (store, []) }
    try store.close()
    try Files.rename(copy, to: path)
    return (try Store(untrusted: path), soups)
  }

  private static func finish(
    _ file: ExaminedFile, _ source: Store, to copy: String
  ) throws -> [String] {
    guard !file.interrupted.isEmpty else { return [] }
    do {
      try InterruptedStore(source, file.interrupted).finish(to: copy)
    } catch {
      for suffix in ["", "-journal"] { try Files.remove(copy + suffix) }
      throw error
    }
    return file.interrupted.map(\.old.name)
  }
}
