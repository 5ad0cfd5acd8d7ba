import Bundles
import Crypto
import SQLite
import Snapshots
import System

/// The files and the org of a pipeline, to be compared with another's.
///
/// Wall-clock times and the IDs of runs are left out; everything else must be the same.
struct Remains {
  let data: String
  /// The files' paths by names that are the same in every copy.
  let files: [String: String]
  let org: [String]
  private let runs: [String]
  /// The day on the org's clock, which is the same in every copy.
  private let day: String

  /// Whether the org's dates are ignored, because concurrent writes have any order.
  private let leavesDatesOut: Bool
  init(_ world: World, leavesDatesOut: Bool = false) throws {
    self.leavesDatesOut = leavesDatesOut
    data = world.data.path
    day = String(Dates.utcSeconds(world.org.now()).prefix(10))
    org = try world.org.dump().split(separator: "\n").map(String.init)
    runs = Files.isDirectory(data + "/reports") ? try Files.list(data + "/reports") : []
    var files: [String: String] = [:]
    for name in try Tree.files(data) {
      // The ledger's log counts as part of it; the lock is irrelevant when no run is active.
      if name == "lock" || name.hasPrefix("state.sqlite-") { continue }
      var plain = name
      for (place, run) in runs.enumerated() {
        plain = plain.replacingOccurrences(of: run, with: "run \(place)")
      }
      files[plain] = data + "/" + name
    }
    self.files = files
  }

  /// The differences from another, as sentences; empty if there are none.
  func differences(from other: Remains) throws -> [String] {
    var found: [String] = []
    for name in Set(files.keys).union(other.files.keys).sorted() {
      guard let mine = files[name] else {
        found.append("\(name) is missing")
        continue
      }
      guard let theirs = other.files[name] else {
        found.append("\(name) is too much")
        continue
      }
      if name != "state.sqlite", try Files.read(mine) == Files.read(theirs) { continue }
      found += try compare(name, lines(name, mine, runs), lines(name, theirs, other.runs))
    }
    return found + compare("org", org, other.org)
  }

  /// Lines without the org's dates, in an order that does not depend on them.
  private func withoutDates(_ lines: [String]) -> [String] {
    return lines.map {
      $0.replacing(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?/, with: "DATE")
        .replacing(/\b\d{13}\b/, with: "DATE")
    }.sorted()
  }

  private func compare(_ name: String, _ mine: [String], _ theirs: [String]) -> [String] {
    let mine = leavesDatesOut ? withoutDates(mine) : mine
    let theirs = leavesDatesOut ? withoutDates(theirs) : theirs
    guard mine != theirs else { return [] }
    let difference = mine.difference(from: theirs)
    return difference.prefix(8).map {
      switch $0 {
      case .insert(_, let line, _): "\(name): too much: \(line)"
      case .remove(_, let line, _): "\(name): missing: \(line)"
      }
    }
  }

  // MARK: files as lines

  private func lines(_ name: String, _ path: String, _ runs: [String]) throws -> [String] {
    if name == "state.sqlite" { return try LedgerRows.lines(path) }
    if name.hasSuffix("/current") { return try current(path) }
    if name.contains(".bundle.") {
      // Read whole: every store in it matches its manifest.
      let manifest = try BundleReader.verify(path)
      return [String(describing: manifest)]
    }
    let bytes = try Files.read(path)
    if name.hasSuffix(".sqlite") || name.hasSuffix(".db"), !name.hasPrefix("done/") {
      return try StoreRows.lines(path)
    }
    guard name.hasSuffix(".json") || name.hasSuffix(".html") || name.hasSuffix(".csv") else {
      return [Digest.sha256Hex(bytes)]
    }
    var text = String(decoding: bytes, as: UTF8.self)
    for run in runs { text = text.replacingOccurrences(of: run, with: "run") }
    if name.hasPrefix("reports/") { text = comparable(text, data: path) }
    return text.split(whereSeparator: \.isNewline).map(String.init).filter { line in
      !["\"run\":", "\"arrived\":", "\"order\":", "\"turn\":", "\"quarantined\":"].contains {
        line.contains($0)
      }
    }
  }

  /// A report without the paths of its files and of the pipeline's, and without wall-clock times,
  /// which runs have that do not contact the org.
  private func comparable(_ text: String, data path: String) -> String {
    let data = path.components(separatedBy: "/reports/").first ?? path
    let time = /(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d(:\d\d)?(\.\d+)?( UTC|Z)/
    let plain = text.replacing(/127\.0\.0\.1:\d+/, with: "ORG")
      .replacingOccurrences(of: data, with: "DATA")
      .replacing(/[^\s"']*\/kill-[0-9A-F-]{36}/, with: "ROOT")
    return plain.replacing(time) { match in match.1 == day ? String(match.0) : "TIME" }
  }

  private func current(_ path: String) throws -> [String] {
    let line = String(decoding: try Files.read(path), as: UTF8.self)
    guard let current = CurrentGeneration(line: line) else { return ["no generation: \(line)"] }
    let record = (Files.parent(of: path) ?? "") + "/\(current.generation)/generation.json"
    let isRight = try Digest.sha256Hex(file: record) == current.digest
    return ["\(current.generation), \(isRight ? "whole" : "not what it says")"]
  }
}

enum StoreRows {
  static func lines(_ path: String) throws -> [String] {
    let connection = try Connection(path, mode: .immutable)
    var lines = try connection.texts("PRAGMA integrity_check")
    for table in try connection.texts("SELECT name FROM sqlite_schema WHERE type = 'table'") {
      var rows: [String] = []
      // Every table of a soup starts with its ID; the internal tables of a full-text index need
      // not.
      try connection.rows("SELECT * FROM \(name: table)") { row in
        rows.append(table + ": " + RowText.text(row))
      }
      lines += rows.sorted()
    }
    return lines
  }
}

/// The rows of a ledger, without the IDs of rows and runs and without wall-clock times.
enum LedgerRows {
  static func lines(_ path: String) throws -> [String] {
    let connection = try Connection(path, mode: .readWrite)
    var lines = try connection.texts("PRAGMA integrity_check")
    for (name, sql) in questions {
      try connection.rows(sql) { lines.append(name + ": " + RowText.text($0)) }
    }
    return lines
  }

  /// Whether there is no run to resume.
  static func haveAllRunsEnded(_ path: String) throws -> Bool {
    let connection = try Connection(path, mode: .readWrite)
    return try connection.texts("SELECT id FROM run WHERE ended_ms IS NULL").isEmpty
  }

  private static let questions: [(String, SQL)] = [
    (
      "meta",
      """
      SELECT name, value FROM meta WHERE name NOT IN ('runNumber', 'pipelineFile', 'instance') ORDER BY name
      """
    ),
    ("run", "SELECT pipeline, exit_status, wanted, finished, report FROM run ORDER BY number"),
    (
      "snapshot",
      "SELECT id, user_id, username, generation, cursors, definitions_hash FROM snapshot ORDER BY id"
    ),
    (
      "returned",
      """
      SELECT sha256, source_name, stamp_id, snapshot_id, generation, platform, install, handback,
        issued_ms FROM returned ORDER BY sha256
      """
    ),
    (
      "soup",
      """
      SELECT r.sha256, s.store, s.soup, s.total FROM returned_soup s
        JOIN returned r ON r.id = s.return_id ORDER BY 1, 2, 3
      """
    ),
    (
      "edit",
      """
      SELECT r.sha256, e.store, e.soup, e.entry_id, e.operation, e.sobject, e.record_id, e.local_id,
        e.modification_date, e.content, e.base, e.retries, e.state, e.verdict
      FROM edit e JOIN returned r ON r.id = e.return_id ORDER BY 1, 2, 3, 4
      """
    ),
    (
      "creation",
      """
      SELECT stamp_id, store, soup, entry_id, local_id, record_id, device_record_id FROM creation
      ORDER BY 1, 2, 3, 4, 5
      """
    ),
    (
      "operation",
      """
      SELECT e.soup, e.entry_id, r.sha256, o.action, o.sender, o.sobject, o.record_id, o.payload,
        o.result_id, o.code, o.message, o.state
      FROM operation o JOIN edit e ON e.id = o.edit_id JOIN returned r ON r.id = e.return_id
      WHERE o.state <> 'dropped' ORDER BY 1, 2, 3, 4
      """
    ),
    (
      "outcome",
      """
      SELECT e.soup, e.entry_id, r.sha256, x.verdict, x.detail, x.reported_by IS NULL
      FROM outcome x JOIN edit e ON e.id = x.edit_id JOIN returned r ON r.id = e.return_id
      ORDER BY 1, 2, 3
      """
    ),
    (
      "finding",
      """
      SELECT kind, settled_by IS NULL, reported_by IS NULL FROM finding ORDER BY kind, subject
      """
    ),
  ]
}

enum RowText {
  static func text(_ row: borrowing Row) -> String {
    var texts: [String] = []
    for index in 0..<row.count {
      if row.isNull(index) {
        texts.append("null")
      } else {
        texts.append(String(decoding: row.bytes(index), as: UTF8.self))
      }
    }
    return texts.joined(separator: " | ")
  }
}
