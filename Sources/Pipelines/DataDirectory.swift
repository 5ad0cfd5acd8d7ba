import Ledger
import Snapshots
import System

/// The paths of one pipeline's files under `snapshots/`; see docs/on-disk.md.
package struct DataDirectory: Sendable, Hashable {
  /// The absolute path of `snapshots/<pipeline>`.
  package let path: String
  /// The directory that contains `processing`, `done` and `quarantine`.
  ///
  /// It is `path`, except in a dry run, which works on copies of the returns.
  package internal(set) var returns: String
  /// The path of the key that signs the stamps.
  ///
  /// The key outlives the ledger.
  package internal(set) var stampKey: String

  /// Returns the directory of the pipeline `name` under `root`.
  package init(root: String, name: String) {
    path = root + "/" + name
    returns = path
    stampKey = path + "/stamp.key"
  }

  package var issued: String { path + "/issued" }
  package var state: String { path + "/" + Self.ledger }
  private static let ledger = "state.sqlite"
  /// Whether a path is that of a pipeline's ledger.
  static func isLedger(_ path: String) -> Bool { Files.name(of: path) == ledger }
  /// The file of the refresh tokens that replace those in the configuration.
  package var tokens: String { path + "/tokens.json" }
  /// The lock file, which at most one run holds.
  package var lock: String { path + "/lock" }
  /// The directory of the returns whose edits are not yet in the ledger.
  package var processing: String { returns + "/processing" }
  /// The directory of the returns whose edits are in the ledger.
  package var done: String { returns + "/done" }
  /// The directory of refused returns, each with its reason file.
  package var quarantine: String { returns + "/quarantine" }
  /// The directory of reports, with one subdirectory for each run.
  package var reports: String { path + "/reports" }
  package func report(_ run: String) -> String { reports + "/" + run }

  /// Returns the latest report with a run number above the given one and a time not before the
  /// given one (org time, in ms); nil if there is none.
  ///
  /// An older report with a higher number belongs to an earlier ledger. No run of this ledger is
  /// older than its last run that contacted the org (`RunClock`); other runs may carry the time of
  /// a clock that was ahead.
  func lastReport(
    beyond run: Int, since time: Int64?
  ) throws(SystemError) -> (name: String, run: Int)? {
    guard Files.isDirectory(reports) else { return nil }
    let since = time.map(Dates.utcDigits) ?? ""
    return try Files.list(reports).compactMap { name in
      RunRow.number(ofID: name).map { (name, $0) }
    }.filter { $0.1 > run && RunRow.time(ofID: $0.0) >= since }.max { $0.run < $1.run }
  }

  /// The file with the number of the directory's format.
  package var format: String { path + "/format" }

  /// The directory of a snapshot: `users/<18-character id>`, or `global`.
  package func snapshot(_ id: String) -> String {
    id == SnapshotID.global ? path + "/" + SnapshotID.global : path + "/users/" + id
  }

  /// The directory of one published generation.
  package func generation(_ number: Int, of id: String) -> String {
    snapshot(id) + "/" + String(number)
  }

  /// The file of the records that one generation issued.
  package func issued(_ number: Int, of id: String) -> String {
    "\(issued)/\(id)/\(number).sqlite"
  }

  /// Returns the generations of a snapshot whose issued records are kept, in ascending order.
  func issuedGenerations(of id: String) throws(SystemError) -> [Int] {
    let directory = issued + "/" + id
    guard Files.isDirectory(directory) else { return [] }
    return try Files.list(directory).compactMap { name in
      name.hasSuffix(".sqlite") ? Int(name.dropLast(".sqlite".count)) : nil
    }.sorted()
  }

  /// Opens the ledger outside of a run.
  ///
  /// Throws if a newer program created the directory.
  package func openLedger() throws -> LedgerDatabase {
    try LedgerCheck.checkRights(self)
    try convertLedger()
    return try openKnown()
  }

  /// Opens the ledger under the pipeline's lock, which a user without permission cannot acquire.
  func openLedger(under lock: FileLock) throws -> LedgerDatabase { try openKnown() }

  /// Converts a ledger that an earlier version of the program wrote.
  ///
  /// Throws if another process holds the lock: it may be a run of that version, which could not
  /// continue with the converted ledger, or a dry run that copies the file.
  func convertLedger() throws {
    try DataFormat.check(self)
    guard LedgerDatabase.isOfEarlierVersion(path: state) else { return }
    let lock = try PipelineRun.takeLock(self)
    defer { lock.close() }
    try openKnown().close()
  }

  private func openKnown() throws -> LedgerDatabase {
    try DataFormat.check(self)
    return try LedgerDatabase(path: state)
  }

  /// Opens the ledger; nil if nothing has run yet.
  ///
  /// Throws a `PipelineError` if an earlier ledger is lost.
  package func ledgerIfThere() throws -> LedgerDatabase? {
    try LedgerCheck.checkRights(self)
    if Files.exists(state) {
      try convertLedger()
      return try openKnown()
    }
    try LedgerCheck.checkLedger(nil, self)
    return nil
  }

  /// Creates the directories that the stages need, readable by their owner alone.
  package func prepare(inbox: String) throws(SystemError) {
    for directory in [path, processing, done, quarantine, reports, issued, path + "/users", inbox] {
      try Files.makeDirectory(directory)
    }
  }

  /// Removes temporary files and directories that interrupted runs left behind.
  ///
  /// The caller must hold the pipeline's lock. The inbox is left alone, because an upload may be in
  /// progress there.
  package func removeLeftovers() throws {
    var directories = [path, processing, done, quarantine, reports, issued]
    for directory in [reports, issued] where Files.isDirectory(directory) {
      directories += try Files.list(directory).map { directory + "/" + $0 }
    }
    for id in try snapshots() {
      directories += [snapshot(id), snapshot(id) + "/" + BundleIndex.latest]
      directories += try generations(of: id).map { generation($0, of: id) }
    }
    for directory in directories where Files.isDirectory(directory) {
      try DurableFile.removeTemporaries(in: directory)
    }
  }

  /// Returns the published generations of a snapshot, in ascending order.
  package func generations(of id: String) throws(SnapshotError) -> [Int] {
    try SnapshotDirectory(path: snapshot(id)).generations()
  }

  /// Returns the snapshots that have a directory: users' IDs in ascending order, then `global` if
  /// it exists.
  package func snapshots() throws(SystemError) -> [String] {
    var ids: [String] = []
    if Files.isDirectory(path + "/users") {
      ids = try Files.list(path + "/users").filter { !$0.hasPrefix(".") }
    }
    if Files.isDirectory(path + "/" + SnapshotID.global) { ids.append(SnapshotID.global) }
    return ids
  }
}
