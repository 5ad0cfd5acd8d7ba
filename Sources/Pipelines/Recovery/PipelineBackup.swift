import Archive
import JSON
import Ledger
import Snapshots
import System

/// Backs up the data of a pipeline that cannot be rebuilt.
///
/// Stores and bundles are left out, because the next prime builds them. The description of each
/// generation is included, so that returns of any of them are compared as before. The copy of the
/// ledger is marked as a copy: if it is restored by hand, attache asks to recover it.
package struct PipelineBackup {
  /// The result of a backup.
  package struct Outcome: Sendable, Hashable {
    /// The file; nil for standard output.
    package var path: String?
    /// Its size; nil for standard output.
    package var bytes: Int64?
    package var files: Int
    /// Its time, in ms of the wall clock.
    package var time: Int64
    /// The last run in it; empty for none.
    package var run: String

    package var json: JSONValue {
      JSONObject.of([
        ("path", path.map(JSONValue.string)), ("bytes", bytes.map { JSONValue($0) }),
        ("files", JSONValue(files)), ("time", .string(Dates.utc(time))), ("run", .string(run)),
      ])
    }
  }

  private let pipeline: Pipeline
  private let data: DataDirectory
  private var end = BackupFile.End(files: 0)
  /// The names in use, as a case-insensitive file system compares them.
  private var given: Set<String> = []

  private init(_ pipeline: Pipeline, _ data: DataDirectory) {
    (self.pipeline, self.data) = (pipeline, data)
  }

  /// Writes a backup into a directory under a new name, or to standard output if no directory is
  /// given.
  ///
  /// It is written under a temporary name and renamed when it is complete and on disk. No run can
  /// start meanwhile; an active run is not waited for.
  ///
  /// - Throws: `PipelineError` if a run holds the lock, or if there is nothing to back up.
  package static func write(
    _ pipeline: Pipeline, root: String, to directory: String?, now: Int64 = Clock.wallMilliseconds()
  ) throws -> Outcome {
    let data = DataDirectory(root: root, name: pipeline.name)
    guard Files.exists(data.state) else {
      throw PipelineError(
        .configuration, "backup.nothing", "there is nothing to back up: the pipeline has no ledger",
        location: data.path,
        fix: "attache run \(pipeline.called) creates it; if it is lost, see attache recover "
          + pipeline.called)
    }
    let lock = try PipelineRun.takeLock(data, note: PipelineRun.backupNote)
    defer { lock.close() }
    try DataFormat.record(in: data)
    var backup = PipelineBackup(pipeline, data)
    guard let directory else {
      return try mapping { try backup.write(to: "/dev/stdout", now) }
    }
    try Files.makeDirectory(directory)
    let path = freePath(in: directory, pipeline.name, now)
    let temporary = DurableFile.temporaryName(for: path)
    do {
      var outcome = try mapping { try backup.write(to: temporary, now) }
      try Files.setMode(of: temporary, 0o600)
      outcome.bytes = try Files.size(of: temporary)
      try DurableFile.rename(temporary, to: path)
      outcome.path = path
      return outcome
    } catch {
      try? Files.remove(temporary)
      throw error
    }
  }

  /// Returns an unused name that contains the current second.
  private static func freePath(in directory: String, _ name: String, _ now: Int64) -> String {
    let stem = "\(directory)/\(name)-\(Dates.utcDigits(now))"
    var path = stem + BackupFile.ending
    var number = 1
    while Files.exists(path) {
      number += 1
      path = "\(stem)-\(number)\(BackupFile.ending)"
    }
    return path
  }

  /// Rethrows the archive's errors as errors of the disk, or of the reader of the pipe.
  private static func mapping<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch let error as ArchiveError {
      throw PipelineError(
        .failed, "backup.failed", "the backup could not be written: \(error)",
        fix: "check the free space and the permissions, and try again")
    }
  }

  private mutating func write(to path: String, _ now: Int64) throws -> Outcome {
    let copy = DurableFile.temporaryName(for: data.state)
    defer { for suffix in ["", "-wal", "-shm"] { try? Files.remove(copy + suffix) } }
    let run = try copyLedger(to: copy, now)
    let writer = try ArchiveWriter(path: path, format: .tarZst, modified: now)
    let head = BackupFile.Head(pipeline: pipeline.name, time: now, run: run)
    try writer.add(name: BackupFile.headName, bytes: head.bytes)
    for file in pipeline.configurationFiles where Files.exists(file.path) {
      try add(BackupFile.configuration + file.name, file.path, to: writer)
    }
    try add(BackupFile.data + "state.sqlite", copy, to: writer)
    for name in ["format", "stamp.key", "tokens.json"] where Files.exists(data.path + "/" + name) {
      try add(BackupFile.data + name, data.path + "/" + name, to: writer)
    }
    for name in ["issued", "processing", "done", "quarantine", "reports"] {
      try add(tree: data.path + "/" + name, as: BackupFile.data + name, to: writer)
    }
    try addGenerations(to: writer, now)
    try addInbox(to: writer)
    try writer.add(name: BackupFile.endName, bytes: end.bytes)
    try writer.close()
    return Outcome(files: end.files, time: now, run: run)
  }

  /// Copies the ledger, and returns its last run.
  private func copyLedger(to copy: String, _ now: Int64) throws -> String {
    let ledger = try LedgerDatabase(path: data.state)
    defer { ledger.close() }
    try LedgerCheck.checkLedger(ledger, data)
    try ledger.copy(to: copy)
    let copied = try LedgerDatabase(path: copy)
    try copied.store(now, as: .backup)
    copied.close()
    return try ledger.runs(limit: 1).first?.id ?? ""
  }

  /// Adds the description of each generation, without its stores and bundles.
  private mutating func addGenerations(to writer: ArchiveWriter, _ now: Int64) throws {
    let ledger = try LedgerDatabase(path: data.state)
    defer { ledger.close() }
    // Ages are counted by the org's clock; this machine's may be wrong.
    let now = try ledger.lastOrgTime() ?? now
    let survey = KeepSurvey(
      data: data, ledger: ledger, pack: pipeline.pack,
      returnedMilliseconds: 0)
    for id in try data.snapshots() {
      let place = BackupFile.data + (id == SnapshotID.global ? id : "users/" + id)
      let current = data.snapshot(id) + "/current"
      if Files.exists(current) { try add(place + "/current", current, to: writer) }
      for number in try data.generations(of: id) {
        let directory = data.generation(number, of: id)
        let record = directory + "/" + GenerationRecord.fileName
        guard Files.exists(record) else { continue }
        try add("\(place)/\(number)/\(GenerationRecord.fileName)", record, to: writer)
        // The description of an unreadable generation names its fault.
        guard let note = try? survey.note(of: number, in: id, now: now) else { continue }
        try writer.add(
          name: try name(for: "\(place)/\(number)/\(PrunedGeneration.fileName)"), bytes: note.bytes)
      }
    }
  }

  private mutating func add(tree directory: String, as name: String, to writer: ArchiveWriter)
    throws
  {
    guard Files.isDirectory(directory) else { return }
    for entry in try Files.list(directory) {
      try add(entry: directory + "/" + entry, as: name + "/" + entry, to: writer)
    }
  }

  private mutating func add(
    entry path: String, as name: String, to writer: ArchiveWriter, isChanging: Bool = false
  ) throws {
    if DurableFile.isTemporary(path) || Files.isSymbolicLink(path) { return }
    if Files.isDirectory(path) {
      try add(tree: path, as: name, to: writer)
    } else if (try? Files.status(path).kind) == .regular {
      try add(name, path, to: writer, isChanging: isChanging)
    }
  }

  private mutating func add(
    _ path: String, _ file: String, to writer: ArchiveWriter, isChanging: Bool = false
  ) throws {
    try writer.add(name: name(for: path), file: file, isChanging: isChanging)
  }

  /// Adds the files of the inbox while uploads may continue.
  ///
  /// A partial upload is included as far as it has come, and a file that was renamed since it was
  /// listed is included under its new name.
  private mutating func addInbox(to writer: ArchiveWriter) throws {
    let inbox = data.inbox(pipeline.inbox.path)
    var added: Set<String> = []
    while Files.isDirectory(inbox) {
      let names = try Files.list(inbox).filter { !added.contains($0) }
      if names.isEmpty { return }
      for name in names {
        added.insert(name)
        let (path, before) = (inbox + "/" + name, (end, given))
        do {
          try add(entry: path, as: BackupFile.inbox + name, to: writer, isChanging: true)
        } catch  where !Files.exists(path) {
          (end, given) = before
        }
      }
    }
  }

  /// Returns the name of an entry: its path, if every archive and file system supports it.
  private mutating func name(for path: String) throws -> String {
    end.files += 1
    if ArchiveWriter.refusal(ofName: path) == nil, given.insert(path.lowercased()).inserted {
      return path
    }
    let name = BackupFile.odd + String(end.files)
    end.names[name] = path
    return name
  }
}

extension Pipeline {
  /// The pipeline file and the configurations that it names, each with its path relative to the
  /// pipeline file; files elsewhere have their bare names.
  var configurationFiles: [(name: String, path: String)] {
    let own = (name: Files.name(of: file), path: file)
    return [own]
      + Set(stores.flatMap { [$0.schemaFile, $0.syncsFile] }).sorted().map { name in
        let path = name.hasPrefix("/") ? name : directory + "/" + name
        let beside = path.hasPrefix(directory + "/") ? path.dropFirst(directory.count + 1) : ""
        let isBeside = BackupFile.isBelow(String(beside))
        return (isBeside ? String(beside) : Files.name(of: name), path)
      }
  }
}
