import JSON
import SQLite
import System

/// Validates a SmartStore file: meta tables, columns, indexes, columns against elements, full text,
/// sequences, JSON, and one element per ID.
///
/// ```swift
/// print(try StoreCheck(origin: .server, platform: .android).violations(at: path).count,
/// "violations")
/// ```
public struct StoreCheck: Sendable {
  /// The program that last wrote a file.
  public enum Origin: Sendable, Hashable {
    /// This program: no remains are allowed, and the file can be sealed page by page.
    case server
    /// A device, whose SDK leaves full-text rows of removed elements.
    case device
  }

  /// The program that last wrote the file.
  public var origin: Origin
  /// The expected platform; nil accepts either.
  public var platform: Platform?
  /// The path that must have a different value in every element of a soup with an index on it.
  public var idPath: String
  /// The number of violations after which the check stops.
  public var limit: Int
  /// The time limit.
  public var deadlineSeconds: Int
  /// The soups that must exist with these indexes; others may exist too.
  public var config: StoreConfig?

  /// Creates a check; by default it accepts either platform and needs no configuration.
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

  /// Returns every violation in a file, up to the limit; the file is opened as untrusted.
  public func violations(at path: String) throws(StoreError) -> [Violation] {
    try StoreError.mapping {
      try StoreFileHeader.checkFiles(of: path)
      // The file is checked without its log.
      let lost = try WriteAheadLog.loss(at: path).map { Violation.ofFile($0) }
      return try Array(([lost].compactMap(\.self) + violations(ofFile: path)).prefix(limit))
    }
  }

  private func violations(ofFile path: String) throws -> [Violation] {
    if try StoreFileHeader.isOtherKind(path) {
      return [Violation.ofFile(StoreFileHeader.otherKind)]
    }
    if let words = Self.shortage(path) { return [Violation.ofFile(words)] }
    let connection: Connection
    do {
      // The user waits for this one file, so elements of any size that an app may store are read.
      connection = try Connection.hostile(
        path,
        limits: .init(heapMiB: 1024, deadlineSeconds: deadlineSeconds, lengthBytes: 256 << 20))
    } catch let error where error.isDamage {
      return [Violation.ofFile(error.explanation)]
    }
    defer { connection.close() }
    do {
      return try violations(of: connection)
    } catch let error as SQLiteError where error.isDamage {
      return [Violation.ofFile(error.explanation)]
    }
  }

  /// The pages that a file lacks according to its header; nil if it lacks none, is not a database,
  /// or has a `-wal`, which may contain them.
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
      return [Violation.ofFile(reason)]
    }
    let platform = platform ?? found
    var violations = try header(connection, platform, found)
    let schema = try StoreSchemaCheck.findings(of: connection, platform: platform)
    violations += schema.violations
    // If the schema is not SmartStore's, further checks would have no meaning.
    guard schema.violations.isEmpty else { return violations }
    let faults = try connection.quickCheck()
    guard faults.isEmpty else { return violations + faults.map { Violation.ofFile($0) } }
    let store = Store(connection, platform: platform)
    let interrupted = Set(schema.interrupted.map(\.old.name))
    for alteration in schema.interrupted {
      let step = alteration.lastStep.status(on: platform)
      violations.append(
        Violation(
          "long_operations_status",
          "a change of the indexes of soup \"\(alteration.old.name)\" was interrupted after step "
            + "\(step); \(SoupAlteration.interruptedFix)"))
      if let lost = try store.lostEdit(of: alteration) {
        violations.append(Violation(alteration.oldTable, row: lost.row, lost.words))
      }
    }
    violations += try soupNumbers(connection)
    violations += try differences(store, beside: interrupted)
    // Of a soup between two steps, only the schema can be checked.
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
          "sqlite_sequence",
          "soup_attrs is less than the last soup, so a table would be created twice")
      ]
    }
    return []
  }

  /// The differences between the configuration and the store.
  private func differences(
    _ store: Store, beside interrupted: Set<String>
  ) throws -> [Violation] {
    var violations: [Violation] = []
    for wanted in config?.soups ?? [] where !interrupted.contains(wanted.soupName) {
      guard let soup = try store.find(wanted.soupName) else {
        violations.append(
          Violation(
            "soup_attrs", "the soup \"\(wanted.soupName)\" from the configuration is missing")
        )
        continue
      }
      for spec in wanted.indexes {
        let found = soup.specs.filter { $0.path == spec.path }
        if found.isEmpty {
          violations.append(
            Violation(soup.table, path: spec.path, "the index from the configuration is missing"))
        } else if !found.contains(spec) {
          violations.append(
            Violation(
              soup.table, path: spec.path,
              "it is not indexed as \(spec.type.rawValue), as in the configuration"))
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
        Violation.ofFile("its layout is that of \(found.rawValue), not \(platform.rawValue)"))
    }
    if platform == .android, try connection.integer("PRAGMA user_version") != 3 {
      violations.append(Violation.ofFile("user_version is not 3, so Android would not open it"))
    }
    if try connection.text("PRAGMA encoding") != "UTF-8" {
      violations.append(Violation.ofFile("its text is not UTF-8"))
    }
    guard origin == .server else { return violations }
    if try connection.integer("PRAGMA page_size") != Int64(StorePages.size) {
      violations.append(Violation.ofFile("its pages do not have \(StorePages.size) bytes"))
    }
    if try connection.reservedBytes() != StorePages.reservedBytes {
      violations.append(
        Violation.ofFile("its pages do not reserve \(StorePages.reservedBytes) bytes for sealing"))
    }
    return violations
  }
}
