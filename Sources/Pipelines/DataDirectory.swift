import Ledger
import Snapshots
import System

/// The files of one pipeline under `snapshots/`, as docs/on-disk.md lists them.
package struct DataDirectory: Sendable, Hashable {
  /// The absolute path of `snapshots/<pipeline>`.
  package let path: String
  /// What the org's records were when they were issued.
  package internal(set) var issued: String
  /// The directory that has `processing`, `done` and `quarantine`: `path`, but for a dry run, which takes
  /// copies of returns apart.
  package internal(set) var returns: String
  /// The key of the stamps, which outlives the ledger.
  package internal(set) var stampKey: String

  /// The directory of the pipeline `name` under `root`.
  package init(root: String, name: String) {
    path = root + "/" + name
    issued = path + "/issued"
    returns = path
    stampKey = path + "/stamp.key"
  }

  /// The ledger and the runs.
  package var state: String { path + "/" + Self.ledger }
  private static let ledger = "state.sqlite"
  /// Says whether a path is some pipeline's ledger.
  static func isLedger(_ path: String) -> Bool { Files.name(of: path) == ledger }
  /// The refresh tokens that replace those of the configuration.
  package var tokens: String { path + "/tokens.json" }
  /// The file that one run at a time holds locked.
  package var lock: String { path + "/lock" }
  /// Where returns are taken apart before their edits are in the ledger.
  package var processing: String { returns + "/processing" }
  /// Returns whose edits are in the ledger.
  package var done: String { returns + "/done" }
  /// Returns that were refused, each with its reason.
  package var quarantine: String { returns + "/quarantine" }
  /// Reports, a directory a run.
  package var reports: String { path + "/reports" }
  /// The directory of one run's report.
  package func report(_ run: String) -> String { reports + "/" + run }
  /// The report of the latest run beyond one by number, and not before a time of the org, in ms; nil where there is
  /// none.
  ///
  /// A report of a higher number that is older is of a ledger before this one. No run of this ledger is before its
  /// last one that asked the org (`RunClock`); another one may be dated by a clock that is ahead.
  func lastReport(
    beyond run: Int, since time: Int64?
  ) throws(SystemError) -> (name: String, run: Int)? {
    guard Files.isDirectory(reports) else { return nil }
    let since = time.map(Dates.utcDigits) ?? ""
    return try Files.list(reports).compactMap { name in
      RunRow.number(ofID: name).map { (name, $0) }
    }.filter { $0.1 > run && RunRow.time(ofID: $0.0) >= since }.max { $0.run < $1.run }
  }

  /// The number of the directory's format.
  package var format: String { path + "/format" }

  /// The inbox: below the pipeline's directory, unless the pipeline file names a whole path.
  package func inbox(_ name: String) -> String {
    name.hasPrefix("/") ? name : path + "/" + name
  }

  /// Says whether the name of an inbox is that of the pipeline's directory, or of something else within it.
  static func isOwn(_ name: String) -> Bool {
    let data = DataDirectory(root: "", name: "")
    let own = [
      data.processing, data.done, data.quarantine, data.reports, data.issued, data.state,
      data.tokens,
      data.lock, data.format, data.stampKey, data.snapshot(SnapshotID.global), data.path + "/users",
    ].map(Files.name)
    guard let first = name.split(separator: "/").first(where: { $0 != "." }) else { return true }
    return !name.hasPrefix("/") && own.contains(String(first))
  }

  /// Refuses an inbox in which something else lies: it would be taken for returns.
  func checkInbox(of pipeline: Pipeline) throws {
    let place = Files.resolvedIfThere(inbox(pipeline.inbox.path))
    let home = Files.resolvedIfThere(path)
    let file = Files.resolvedIfThere(pipeline.file)
    let isOwn =
      Files.isWithin(place, home) && Self.isOwn(String(place.dropFirst(home.utf8.count + 1)))
    guard isOwn || Files.isWithin(home, place) || Files.isWithin(file, place) else { return }
    throw PipelineError(
      .configuration, "inbox.own",
      "the inbox holds what is attache's own, which would be taken for returns",
      location: place, fix: "name a directory of its own as inbox.path")
  }

  /// The directory of a snapshot: `users/<18-character id>`, or `global`.
  package func snapshot(_ id: String) -> String {
    id == SnapshotID.global ? path + "/" + SnapshotID.global : path + "/users/" + id
  }

  /// The directory of one published generation.
  package func generation(_ number: Int, of id: String) -> String {
    snapshot(id) + "/" + String(number)
  }

  /// The records that one generation issued.
  package func issued(_ number: Int, of id: String) -> String {
    "\(issued)/\(id)/\(number).sqlite"
  }

  /// The generations of a snapshot whose issued records are kept, ascending.
  func issuedGenerations(of id: String) throws(SystemError) -> [Int] {
    let directory = issued + "/" + id
    guard Files.isDirectory(directory) else { return [] }
    return try Files.list(directory).compactMap { name in
      name.hasSuffix(".sqlite") ? Int(name.dropLast(".sqlite".count)) : nil
    }.sorted()
  }

  /// Opens the ledger where no run does; a directory that a newer program made is refused.
  package func openLedger() throws -> LedgerDatabase {
    try LedgerCheck.checkRights(self)
    return try openKnown()
  }

  /// Opens the ledger under the pipeline's lock, which whoever has no rights does not get.
  func openLedger(under lock: FileLock) throws -> LedgerDatabase { try openKnown() }

  private func openKnown() throws -> LedgerDatabase {
    try DataFormat.check(self)
    return try LedgerDatabase(path: state)
  }

  /// The ledger; nil where nothing has run.
  ///
  /// Throws a `PipelineError` where an earlier one is lost.
  package func ledgerIfThere() throws -> LedgerDatabase? {
    try LedgerCheck.checkRights(self)
    if Files.exists(state) { return try openKnown() }
    try LedgerCheck.checkLedger(nil, self)
    return nil
  }

  /// Makes the directories that every stage counts on, readable by their owner alone.
  package func prepare(inbox: String) throws(SystemError) {
    for directory in [path, processing, done, quarantine, reports, issued, path + "/users", inbox] {
      try Files.makeDirectory(directory)
    }
  }

  /// Removes what runs that died left behind: files and directories under temporary names, beside
  /// what they were to become.
  ///
  /// Only the holder of the pipeline's lock may call it. The inbox is left alone: whoever puts a
  /// return there may be at it.
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

  /// The published generations of a snapshot, ascending.
  package func generations(of id: String) throws(SnapshotError) -> [Int] {
    try SnapshotDirectory(path: snapshot(id)).generations()
  }

  /// The snapshots that have a directory: users' ids ascending, then `global` if there is one.
  package func snapshots() throws(SystemError) -> [String] {
    var ids: [String] = []
    if Files.isDirectory(path + "/users") {
      ids = try Files.list(path + "/users").filter { !$0.hasPrefix(".") }
    }
    if Files.isDirectory(path + "/" + SnapshotID.global) { ids.append(SnapshotID.global) }
    return ids
  }
}
