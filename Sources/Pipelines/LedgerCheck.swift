import JSON
import Ledger
import Reconciliation
import Snapshots
import System

/// What is seen to before a ledger is used: that it is the newest, and belongs to this pipeline file.
package enum LedgerCheck {
  /// Refuses to look where this user has no rights: what cannot be read would be taken for what is not there.
  ///
  /// Who only asks writes as well: SQLite notes the readers of a ledger beside it.
  static func checkRights(_ data: DataDirectory) throws(PipelineError) {
    for path in [data.path, data.state] {
      guard let (place, owner) = Files.denied(path) else { continue }
      let user = ProcessEnvironment.userName()
      if let home = astray(place, owner, data, user) {
        throw PipelineError(
          .configuration, "data.rights", "the user \(user) may not read and write it",
          location: path,
          reason:
            "it belongs to \(owner), and its directory to \(home): \(owner) ran a command once",
          fix: "sudo chown -R \(home) \(ShellWord.quoted(data.path))")
      }
      // Its own user is kept out by its mode alone.
      let isOwn = owner == user
      throw PipelineError(
        .configuration, "data.rights", "the user \(user) may not read and write it", location: path,
        reason: isOwn ? "the mode of \(place) keeps it from its owner" : "it belongs to \(owner)",
        fix: isOwn
          ? "chmod u+rwX \(ShellWord.quoted(place))"
          : "run the command as that user: sudo -u \(owner) attache …")
    }
  }

  /// Whose directory something lies in that somebody else has left there: nobody but them would have made it, were
  /// it right.
  private static func astray(
    _ place: String, _ owner: String, _ data: DataDirectory, _ user: String
  ) -> String? {
    guard let home = Files.parent(of: place).flatMap({ Files.owner(of: $0) }), home != owner,
      // A data directory may well lie in another user's.
      place == data.state || home == user
    else { return nil }
    return home
  }

  /// Refuses a ledger that is older than what was published or reported with it, and to make one anew, where
  /// there is none, beside what an earlier one left.
  ///
  /// A run whose edits went to the org has left a report, also where nothing was published since, and one that took
  /// in returns has put them away.
  static func checkLedger(_ state: LedgerDatabase?, _ data: DataDirectory) throws {
    if let time = try state?.backupTime {
      throw PipelineError(
        .configuration, "ledger.backup",
        "the ledger is that of a backup: edits of devices could be sent twice",
        location: data.state, reason: "it was copied at \(Dates.utcSeconds(time))",
        fix: "attache recover lets the pipeline go on from it")
    }
    let (epoch, run) = (Int(try state?.epoch ?? 0), Int(try state?.runNumber ?? 0))
    for id in try data.snapshots() {
      let directory = SnapshotDirectory(path: data.snapshot(id))
      guard let current = try directory.current() else { continue }
      if (current.epoch, current.run) <= (epoch, run) { continue }
      throw behind(
        state, data,
        "\(directory.path)/current was written by run \(current.run) of epoch "
          + "\(current.epoch), and ", "the ledger knows \(run) of epoch \(epoch)")
    }
    let asked = try state?.lastOrgTime()
    if let last = try data.lastReport(beyond: run, since: asked) {
      throw behind(
        state, data, "\(data.reports)/\(last.name) is of run \(last.run), and ",
        "the ledger knows \(run)")
    }
    // A return is put there when the ledger has it.
    for directory in try PipelineReturns.directories(in: data.done)
    where try state?.isKnown(sha256: Files.name(of: directory)) != true {
      throw behind(
        state, data, "\(directory) is a return that a run has taken in, and ",
        "the ledger does not know it")
    }
  }

  /// Refuses a return of a generation that neither the ledger nor its data directory has issued: both are
  /// those of an earlier time, such as an image of the machine, and what has come back since is not known.
  static func checkIssued(
    _ stamps: some Sequence<Provenance>, _ key: ProvenanceKey, _ state: LedgerDatabase,
    _ data: DataDirectory, _ name: String
  ) throws {
    // Of another epoch than the ledger's own the recoveries tell.
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
        lost: "the newest data directory", "attache recover --restored")
    }
  }

  private static func behind(
    _ state: LedgerDatabase?, _ data: DataDirectory, _ found: String, _ known: String,
    lost: String = "the ledger that belongs to these snapshots",
    _ recovery: String = "attache recover"
  ) -> PipelineError {
    PipelineError(
      .configuration, behindCode,
      "the ledger is older than what was published or sent: edits of devices could be sent twice",
      location: data.state, reason: found + (state == nil ? "there is no ledger" : known),
      fix:
        "bring back \(lost); if it is lost, \(recovery) lets the pipeline go on: what may have been sent "
        + "since is looked for in the org first")
  }

  /// The code of a ledger that is older than what lies beside it.
  static let behindCode = "ledger.behind"

  /// Refuses a second pipeline file of one name over one data directory: each would take the other's
  /// returns, users and edits for its own.
  ///
  /// A file in another place is taken for the old one, moved, when that one is gone or bears another
  /// name.
  static func checkFile(
    _ pipeline: Pipeline, _ state: LedgerDatabase, _ data: DataDirectory
  ) throws {
    let path = path(of: pipeline)
    guard let known = try otherFile(than: pipeline, state) else {
      return try state.notePipelineFile(path)
    }
    throw PipelineError(
      .configuration, "pipeline.twice",
      "two pipeline files are named \(pipeline.name), and \(data.path) belongs to the other one",
      location: path, reason: "its runs were those of \(known)",
      fix: "give this one another name, or another data directory with --data; if it has taken the "
        + "other's place, remove that one")
  }

  /// One that is gone since it was read is known by its name.
  private static func path(of pipeline: Pipeline) -> String {
    Files.resolvedIfThere(pipeline.file)
  }

  /// The pipeline file whose runs are in a ledger, where it is another one that is there and bears the name.
  static func otherFile(than pipeline: Pipeline, _ state: LedgerDatabase) throws -> String? {
    let path = path(of: pipeline)
    guard let known = try state.pipelineFile, known != path, isAnother(known, path),
      bears(name: pipeline.name, known)
    else { return nil }
    return known
  }

  /// Refuses to begin anew where the data of this very pipeline file lie beside, under the name that it had
  /// before, or put aside, or where a recovery has begun to put them back: open edits, and what phones hand
  /// back, would be left there.
  ///
  /// To go on from a backup (`isRestoring`) is no beginning: neither what was put aside nor a recovery that
  /// died is in its way.
  package static func checkName(
    _ pipeline: Pipeline, root: String, isRestoring: Bool = false
  ) throws(PipelineError) {
    let data = DataDirectory(root: root, name: pipeline.name)
    // What cannot be looked at is told by whoever needs it.
    if Files.exists(data.state) || (try? data.snapshots())?.isEmpty == false { return }
    if !isRestoring, let begun = try? BackupRestore.begun(data, root: root).first {
      throw unfinished(root + "/" + begun, pipeline)
    }
    let path = path(of: pipeline)
    for name in (try? Files.list(root)) ?? [] where name != pipeline.name {
      let other = DataDirectory(root: root, name: name)
      guard Files.exists(other.state),
        (try? LedgerDatabase.pipelineFile(ofLedger: other.state)) == path
      else { continue }
      let former = (try? LedgerDatabase.pipelineName(ofLedger: other.state)) ?? name
      if former != pipeline.name { throw renamed(pipeline, from: former, other) }
      if !isRestoring { throw putAside(pipeline, data, other, root: root) }
    }
  }

  private static func unfinished(_ place: String, _ pipeline: Pipeline) -> PipelineError {
    PipelineError(
      .configuration, "recover.unfinished",
      "a recovery of this pipeline has begun and has not ended",
      location: place, reason: "until it has, a run would begin with nothing",
      fix: "unless it is at work still, repeat it: attache recover \(pipeline.called) --from FILE; "
        + "or remove \(place) to begin with nothing")
  }

  private static func renamed(
    _ pipeline: Pipeline, from name: String, _ other: DataDirectory
  ) -> PipelineError {
    PipelineError(
      .configuration, "pipeline.renamed",
      "the pipeline was named \(name) before, and its data lie in \(other.path)",
      location: pipeline.file,
      reason: "as \(pipeline.name) it would begin with nothing, and the open edits, the returns "
        + "and the phones with bundles of \(name) would be left behind",
      fix: "write \"name\": \"\(name)\" again: phones' bundles carry that name; or move "
        + "\(other.path) away to begin with nothing")
  }

  private static func putAside(
    _ pipeline: Pipeline, _ data: DataDirectory, _ other: DataDirectory, root: String
  ) -> PipelineError {
    PipelineError(
      .configuration, "pipeline.put-aside",
      "the data of this pipeline were put aside in \(other.path)", location: data.path,
      reason: "it would begin with nothing, and the open edits, the returns and the phones "
        + "with its bundles would be left behind",
      fix: "move them back; or go on from a backup: attache recover \(pipeline.called) "
        + "--from FILE; or move them out of \(root) to begin with nothing")
  }

  /// Says whether a path is there and no other name of the file itself.
  private static func isAnother(_ known: String, _ path: String) -> Bool {
    guard let one = try? Files.status(known) else { return false }
    guard let other = try? Files.status(path) else { return true }
    return (one.device, one.inode) != (other.device, other.inode)
  }

  /// Says whether a file is a pipeline of this name, or cannot be asked.
  private static func bears(name: String, _ path: String) -> Bool {
    guard let bytes = try? Files.read(path, limit: PipelineFile.limitBytes),
      let file = try? JSONValue(parsing: bytes)
    else { return true }
    return file["name"]?.string == name
  }
}
