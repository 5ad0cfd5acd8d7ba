import JSON
import SQLite
import System

/// Says of a file whether it is a sound SmartStore: meta tables, columns, indexes, columns against
/// elements, full text, sequences, JSON, and one element per id.
///
/// ```swift
/// print(try StoreCheck(origin: .server, platform: .android).violations(at: path).count, "violations")
/// ```
public struct StoreCheck: Sendable {
  /// Where a file was last written.
  public enum Origin: Sendable, Hashable {
    /// Here: nothing may be left over, and it can be sealed page by page.
    case server
    /// On a device, whose SDK leaves full-text rows of removed elements behind.
    case device
  }

  /// Where the file was last written.
  public var origin: Origin
  /// The platform that it must be of; nil takes what the file says.
  public var platform: Platform?
  /// The path that must be different in every element of a soup that has an index on it.
  public var idPath: String
  /// After how many violations the check stops.
  public var limit: Int
  /// How long it may take.
  public var deadlineSeconds: Int
  /// The soups that must be there, with these indexes; others may be there too.
  public var config: StoreConfig?

  /// A check.
  public init(
    origin: Origin = .device, platform: Platform? = nil, idPath: String = "Id", limit: Int = 100,
    deadlineSeconds: Int = 600, config: StoreConfig? = nil
  ) {
    self.config = config
    self.origin = origin
    self.platform = platform
    self.idPath = idPath
    self.limit = limit
    self.deadlineSeconds = deadlineSeconds
  }

  /// Every violation in a file, up to the limit; the file is opened as one from outside.
  public func violations(at path: String) throws(StoreError) -> [Violation] {
    try StoreError.mapping {
      try StoreFileHeader.checkFiles(of: path)
      if let words = Self.shortage(path) { return [Violation("file", words)] }
      let connection: Connection
      do {
        // Somebody waits for this one file: what an app may keep in an element is read.
        connection = try Connection.hostile(
          path,
          limits: .init(heapMiB: 1024, deadlineSeconds: deadlineSeconds, lengthBytes: 256 << 20))
      } catch let error as SQLiteError where error.isDamage {
        return [Violation("file", error.explanation)]
      }
      defer { connection.close() }
      do {
        return try Array(violations(of: connection).prefix(limit))
      } catch let error as SQLiteError where error.isDamage {
        return [Violation("file", error.explanation)]
      }
    }
  }

  /// What a file lacks of the pages that its header tells of; nil for one that lacks none, is no database, or has
  /// beside it a `-wal`, in which they may stand.
  private static func shortage(_ path: String) -> String? {
    if let log = try? Files.size(of: path + "-wal"), log > 0 { return nil }
    guard let header = try? StoreFileHeader(path: path), header.isDatabase, header.fault == nil,
      let bytes = try? Files.size(of: path)
    else { return nil }
    return header.shortage(of: bytes)
  }

  private func violations(of connection: Connection) throws -> [Violation] {
    let found: Platform
    do {
      found = try Store.platform(of: connection)
    } catch StoreError.notAStore(_, let reason) {
      return [Violation("file", reason)]
    }
    let platform = platform ?? found
    var violations = try header(connection, platform, found)
    let schema = try StoreSchemaCheck.findings(of: connection, platform: platform)
    violations += schema.violations
    // Reading on through a schema that is not SmartStore's proves nothing.
    guard schema.violations.isEmpty else { return violations }
    let faults = try connection.quickCheck()
    guard faults.isEmpty else { return violations + faults.map { Violation("file", $0) } }
    let interrupted = Set(schema.interrupted.map(\.old.name))
    for alteration in schema.interrupted {
      let step = alteration.lastStep.status(on: platform)
      violations.append(
        Violation(
          "long_operations_status",
          "a change of the indexes of soup \"\(alteration.old.name)\" was interrupted after step "
            + "\(step); \(SoupAlteration.interruptedFix)"))
    }
    let store = Store(connection, platform: platform)
    violations += try soupNumbers(connection)
    violations += try differences(store, beside: interrupted)
    // Of a soup between two steps only the schema can be checked.
    for name in try store.soupNames()
    where violations.count < limit && !interrupted.contains(name) {
      let soup = try store.soup(name)
      var check = SoupCheck(
        connection: connection, soup: soup, platform: platform, origin: origin, idPath: idPath,
        limit: limit - violations.count)
      try check.run()
      violations += check.violations
      if name == SyncStatesCheck.soup {
        violations += try SyncStatesCheck.violations(of: soup.table, connection)
      }
    }
    return violations
  }

  /// Both SDKs number a new soup's table by the sequence.
  private func soupNumbers(_ connection: Connection) throws -> [Violation] {
    let last = try connection.integer("SELECT max(id) FROM soup_attrs") ?? 0
    let sequence = try connection.all("SELECT seq FROM sqlite_sequence WHERE name = 'soup_attrs'")
    guard sequence.count <= 1, (sequence.first?.first?.integer ?? 0) >= last else {
      return [
        Violation(
          "sqlite_sequence", "soup_attrs stands before the last soup, a table would be made twice")
      ]
    }
    return []
  }

  /// What the configuration says and the store does not have.
  private func differences(
    _ store: Store, beside interrupted: Set<String>
  ) throws -> [Violation] {
    var violations: [Violation] = []
    for wanted in config?.soups ?? [] where !interrupted.contains(wanted.soupName) {
      guard let soup = try store.find(wanted.soupName) else {
        violations.append(
          Violation("soup_attrs", "the soup \"\(wanted.soupName)\" of the configuration is missing")
        )
        continue
      }
      for spec in wanted.indexes {
        let found = soup.specs.filter { $0.path == spec.path }
        if found.isEmpty {
          violations.append(
            Violation(soup.table, path: spec.path, "the index of the configuration is missing"))
        } else if !found.contains(spec) {
          violations.append(
            Violation(
              soup.table, path: spec.path,
              "it is not indexed as \(spec.type.rawValue), as the configuration says"))
        }
      }
      for spec in soup.specs where !wanted.indexes.contains(where: { $0.path == spec.path }) {
        violations.append(
          Violation(soup.table, path: spec.path, "the configuration has no such index"))
      }
    }
    return violations
  }

  private func header(
    _ connection: Connection, _ platform: Platform, _ found: Platform
  ) throws -> [Violation] {
    var violations: [Violation] = []
    if platform != found {
      violations.append(
        Violation("file", "its layout is that of \(found.rawValue), not of \(platform.rawValue)"))
    }
    if platform == .android, try connection.integer("PRAGMA user_version") != 3 {
      violations.append(Violation("file", "user_version is not 3, Android would not open it"))
    }
    if try connection.text("PRAGMA encoding") != "UTF-8" {
      violations.append(Violation("file", "its text is not UTF-8"))
    }
    guard origin == .server else { return violations }
    if try connection.integer("PRAGMA page_size") != Int64(StorePages.size) {
      violations.append(Violation("file", "its pages are not of \(StorePages.size) bytes"))
    }
    if try connection.reservedBytes() != StorePages.reservedBytes {
      violations.append(
        Violation("file", "its pages do not reserve \(StorePages.reservedBytes) bytes for sealing"))
    }
    return violations
  }
}
