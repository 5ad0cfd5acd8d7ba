import JSON
import Ledger
import Snapshots
import System

/// Checks that a ledger is the newest one and belongs to this pipeline file.
package enum LedgerCheck {
  /// Throws if this user lacks permissions: unreadable files would be taken for missing ones.
  ///
  /// Write permission is needed even for queries, because SQLite writes its reader marks next to
  /// the ledger.
  static func checkRights(_ data: DataDirectory) throws(PipelineError) {
    for path in [data.path, data.state] {
      guard let (place, owner) = Files.denied(path) else { continue }
      let user = ProcessEnvironment.userName()
      if let home = astray(place, owner, data, user) {
        throw PipelineError(
          .configuration, "data.rights", "the user \(user) cannot read and write it",
          location: path,
          reason:
            "it belongs to \(owner), and its directory to \(home): \(owner) once ran a command",
          fix: "sudo chown -R \(home) \(ShellWord.quoted(data.path))")
      }
      // The directory's owner is kept out only by the directory's mode.
      let isOwn = owner == user
      throw PipelineError(
        .configuration, "data.rights", "the user \(user) cannot read and write it", location: path,
        reason: isOwn
          ? "the mode of \(place) denies access to its owner" : "it belongs to \(owner)",
        fix: isOwn
          ? "chmod u+rwX \(ShellWord.quoted(place))"
          : "run the command as that user: sudo -u \(owner) attache …")
    }
  }

  /// The owner of the directory in which another user left a file.
  ///
  /// Only the directory's owner should have created it.
  private static func astray(
    _ place: String, _ owner: String, _ data: DataDirectory, _ user: String
  ) -> String? {
    guard let home = Files.parent(of: place).flatMap({ Files.owner(of: $0) }), home != owner,
      // A data directory may be inside another user's directory.
      place == data.state || home == user
    else { return nil }
    return home
  }

  /// Throws if the ledger is older than the generations or reports next to it, or if there is no
  /// ledger but an earlier one left files.
  ///
  /// A run that sent edits has left a report, even if nothing was published since, and a run that
  /// ingested returns has moved them to `done`.
  static func checkLedger(_ state: LedgerDatabase?, _ data: DataDirectory) throws {
    if let time = try state?.noted(.backup) {
      throw PipelineError(
        .configuration, "ledger.backup",
        "the ledger was restored from a backup: edits of devices could be sent twice",
        location: data.state, reason: "it was copied at \(Dates.utcSeconds(time))",
        fix: "attache recover PIPELINE continues from it")
    }
    let (epoch, run) = (Int(try state?.epoch ?? 0), Int(try state?.runNumber ?? 0))
    for id in try data.snapshots() {
      let directory = SnapshotDirectory(path: data.snapshot(id))
      guard let current = try directory.current() else { continue }
      if (current.epoch, current.run) <= (epoch, run) { continue }
      let isRecovered = state != nil && current.epoch > epoch
      throw behind(
        state, data,
        "\(directory.path)/current was written "
          + (isRecovered ? "after a recovery, and " : "by run \(current.run), and "),
        isRecovered ? "the ledger is from before it" : "the ledger knows runs up to \(run)")
    }
    let asked = try state?.lastOrgTime()
    if let last = try data.lastReport(beyond: run, since: asked) {
      throw behind(
        state, data, "\(data.reports)/\(last.name) belongs to run \(last.run), and ",
        "the ledger knows runs up to \(run)")
    }
    // A return is moved there only after the ledger has it.
    for directory in try PipelineReturns.directories(in: data.done)
    where try state?.returned(sha256: Files.name(of: directory)) == nil {
      throw behind(
        state, data, "\(directory) is a return that a run has ingested, and ",
        "the ledger does not know it")
    }
  }

  /// Throws if a return's generation is known neither to the ledger nor to its data directory.
  ///
  /// Both are then from an earlier time, such as a restored machine image, and later returns may be
  /// missing from them.
  static func checkIssued(
    _ stamps: some Sequence<Provenance>, _ key: ProvenanceKey, _ state: LedgerDatabase,
    _ data: DataDirectory, _ name: String
  ) throws {
    // The recoveries cover stamps of other epochs.
    for stamp in stamps where (key.epoch(of: stamp) ?? key.number) == key.number {
      let known = try state.snapshotRow(id: stamp.user)?.generation ?? 0
      if Int64(stamp.generation) <= known { continue }
      let directory = SnapshotDirectory(path: data.snapshot(stamp.user))
      let newest = max(known, Int64(try directory.generations().last ?? 0))
      if Int64(stamp.generation) <= newest { continue }
      throw behind(
        state, data,
        "\(name) comes from generation \(stamp.generation) of \(stamp.user), and ",
        "the newest that it knows is \(newest)",
        lost: "the newest data directory", "attache recover PIPELINE --restored")
    }
  }

  private static func behind(
    _ state: LedgerDatabase?, _ data: DataDirectory, _ found: String, _ known: String,
    lost: String = "the ledger that belongs to these snapshots",
    _ recovery: String = "attache recover PIPELINE"
  ) -> PipelineError {
    let fault = state == nil ? "missing" : "older than what was published or sent"
    return PipelineError(
      .configuration, behindCode, "the ledger is \(fault): edits of devices could be sent twice",
      location: data.state, reason: found + (state == nil ? "there is no ledger" : known),
      fix:
        "restore \(lost); if it is lost, \(recovery) continues without it: what may have been sent "
        + "since then is first looked up in the org")
  }

  /// The error code for a ledger that is older than the files next to it.
  static let behindCode = "ledger.behind"

  /// Throws if a second pipeline file of the same name uses this data directory.
  ///
  /// Each would take the other's returns, users and edits for its own.
  ///
  /// A file at another path counts as the old one, moved, if the old one is gone or has another
  /// name.
  static func checkFile(
    _ pipeline: Pipeline, _ state: LedgerDatabase, _ data: DataDirectory
  ) throws {
    let path = path(of: pipeline)
    guard let known = try otherFile(than: pipeline, state) else {
      return try state.store(path, as: .pipelineFile)
    }
    throw PipelineError(
      .configuration, "pipeline.twice",
      "two pipeline files are named \(pipeline.name), and \(data.path) belongs to the other one",
      location: path, reason: "its runs used \(known)",
      fix: "give this one another name, or another data directory with --data; if it replaces the "
        + "other one, remove that one")
  }

  /// A file that is gone since it was read is identified by its name.
  private static func path(of pipeline: Pipeline) -> String {
    Files.resolvedIfThere(pipeline.file)
  }

  /// Returns the pipeline file whose runs are in a ledger, if it is a different file that still
  /// exists and has the same name.
  static func otherFile(than pipeline: Pipeline, _ state: LedgerDatabase) throws -> String? {
    let path = path(of: pipeline)
    guard let known = try state.noted(.pipelineFile), known != path, isAnother(known, path),
      bears(name: pipeline.name, known)
    else { return nil }
    return known
  }

  /// Throws instead of starting with an empty data directory if the data of this pipeline file
  /// exist under an earlier name or were moved aside, or if a recovery was interrupted while
  /// restoring them.
  ///
  /// Open edits, and later returns, would be left there.
  ///
  /// If `isRestoring`, the data come from a backup, and neither data moved aside nor an interrupted
  /// recovery prevents that.
  package static func checkName(
    _ pipeline: Pipeline, root: String, isRestoring: Bool = false
  ) throws(PipelineError) {
    let data = DataDirectory(root: root, name: pipeline.name)
    // Paths that cannot be examined are reported by the code that needs them.
    if Files.exists(data.state) || (try? data.snapshots())?.isEmpty == false { return }
    if !isRestoring, let begun = try? BackupRestore.begun(data, root: root).first {
      throw unfinished(root + "/" + begun, pipeline)
    }
    let path = path(of: pipeline)
    for name in (try? Files.list(root)) ?? [] where name != pipeline.name {
      let other = DataDirectory(root: root, name: name)
      guard Files.exists(other.state),
        let owner = try? LedgerDatabase.owner(ofLedger: other.state), owner.file == path
      else { continue }
      let former = owner.pipeline ?? name
      if former != pipeline.name { throw renamed(pipeline, from: former, other, root: root) }
      if !isRestoring { throw putAside(pipeline, data, other, root: root) }
    }
  }

  private static func unfinished(_ place: String, _ pipeline: Pipeline) -> PipelineError {
    PipelineError(
      .configuration, "recover.unfinished",
      "a recovery of this pipeline was started and has not finished",
      location: place, reason: "a run would start without any data",
      fix: "unless it is still running, repeat it: attache recover \(pipeline.called) --from FILE; "
        + "or remove \(place) to start without data")
  }

  private static func renamed(
    _ pipeline: Pipeline, from name: String, _ other: DataDirectory, root: String
  ) -> PipelineError {
    PipelineError(
      .configuration, "pipeline.renamed",
      "the pipeline was named \(name) before, and its data are in \(other.path)",
      location: pipeline.file,
      reason:
        "as \(pipeline.name) it would start without data, and leave behind the open edits, the returns "
        + "and the phones with bundles of \(name)",
      fix: "write \"name\": \"\(name)\" again, because phones' bundles have that name; or move "
        + "\(other.path) out of \(root) to start without data")
  }

  private static func putAside(
    _ pipeline: Pipeline, _ data: DataDirectory, _ other: DataDirectory, root: String
  ) -> PipelineError {
    PipelineError(
      .configuration, "pipeline.put-aside",
      "the data of this pipeline were moved aside to \(other.path)", location: data.path,
      reason:
        "it would start without data, and leave behind the open edits, the returns and the phones "
        + "with its bundles",
      fix: "move them back; or continue from a backup: attache recover \(pipeline.called) "
        + "--from FILE; or move them out of \(root) to start without data")
  }

  /// Whether a path exists and is not another name of the same file.
  private static func isAnother(_ known: String, _ path: String) -> Bool {
    guard let one = try? Files.status(known) else { return false }
    guard let other = try? Files.status(path) else { return true }
    return (one.device, one.inode) != (other.device, other.inode)
  }

  /// Whether a file is a pipeline of this name, or cannot be read.
  private static func bears(name: String, _ path: String) -> Bool {
    guard let bytes = try? Files.read(path, limit: PipelineFile.limitBytes),
      let file = try? JSONValue(parsing: bytes)
    else { return true }
    return file["name"]?.string == name
  }
}
