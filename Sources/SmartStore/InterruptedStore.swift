import SQLite
import System

/// A file from outside whose device was interrupted in altering soups, and the copy in which the
/// alterations are finished.
///
/// The file is only read, by a connection with every defence on. The copy is made from nothing: its
/// schema is ours, and of the file it gets values alone. So no table, index or full-text module of the
/// file's ever runs with a right to write.
struct InterruptedStore {
  private let source: Store
  private let platform: Platform
  private let alterations: [String: SoupAlteration]

  /// Takes a file whose schema was found to be SmartStore's, between two steps of `alterations`.
  init(_ source: Store, _ alterations: [SoupAlteration]) {
    self.source = source
    platform = source.platform
    self.alterations = Dictionary(alterations.map { ($0.old.name, $0) }) { first, _ in first }
  }

  /// Writes the copy.
  func finish(to path: String) throws {
    let copy = try Store(creating: path, platform: platform)
    // A file of nobody's until it is whole.
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
    try source.checkBothTables(of: alteration)
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

  /// Makes the words of the rows that were copied.
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
  /// Finishes, in a copy, the alterations of soups that a device was interrupted in; answers the
  /// soups' names.
  ///
  /// Where nothing was interrupted it answers none and makes no copy. The file is only read, with
  /// every defence on; what `init(untrusted:)` would refuse in it is refused. The copy is then opened
  /// like any other file from outside.
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

  /// Opens a private file from outside as `init(untrusted:)` does, and checks it once.
  ///
  /// Where its device was interrupted in altering soups, a copy in which that is finished takes its place; answers
  /// the soups' names. The file itself is only read, whatever other names it has. An `image` of its bytes is read
  /// in its place; it has to stay until the store is closed, with `imageMargin` bytes behind it.
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
