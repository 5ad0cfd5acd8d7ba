import Archive
import Bundles
import Ledger
import MobileSync
import Pipelines
import SQLite
import SmartStore
import Snapshots
import System
import Testing

@Suite struct FullDiskTests {
  private static let canMount =
    (try? ChildProcess.run(
      "/usr/bin/unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/tmp"], environment: [:]))?
    .status == 0
  private static let needsMounts: Comment = "unshare may not mount here"
  let scene: DecisionScene
  var world: World { scene.world }
  init() throws { scene = try KeepingTests.scene() }

  /// Runs of a pipeline that keeps everything, some of which a prune would remove.
  private func nights(_ count: Int64 = 3) async throws {
    var keeping = world.pipeline
    keeping.keep.generations = 100
    keeping.keep.returnedDays = 1000
    let device = try await scene.phone()
    for number in 0..<count {
      let id = try scene.account(device, 1)
      try scene.office(id, ["Website": .string("https://office.example/\(number)")])
      _ = try await PipelineRun.execute(
        keeping, root: world.root, variables: world.variables, options: RunOptions(),
        report: { _ in })
    }
  }

  /// Runs a command on a copy of the data on a separate disk without a free byte, or with some KiB,
  /// and `then` on the result.
  ///
  /// If the disk is inspected, it is in the state that `then` saw.
  private func onFullDisk(
    _ words: [String], then: String = "true", remove: String = "nothing", spareKiB: Int = 0
  ) async throws -> ProgramRun {
    let place = world.directory.file("full")
    try Files.makeDirectory(place)
    let script = #"""
      mount -t tmpfs -o size=64m tmpfs "$PLACE" && cp -a "$FROM"/. "$PLACE" || exit 99
      rm -rf "$PLACE"/demo/$GONE
      head -c "${SPARE}k" /dev/zero >"$PLACE/spare"
      cat /dev/zero >"$PLACE/fill" 2>/dev/null
      rm "$PLACE/spare"
      "$@"; status=$?
      eval "$THEN"
      exit $status
      """#
    return try await ProgramRun.blocking(
      words + [world.pipeline.file, "--data", place],
      variables: world.variables.merging([
        "PLACE": place, "FROM": world.root, "THEN": then, "GONE": remove, "SCRIPT": script,
        "SPARE": String(spareKiB),
      ]) { $1 }, shell: #"exec unshare -rm bash -c "$SCRIPT" bash "$@""#)
  }

  @Test(.enabled(if: canMount, needsMounts))
  func `status and reports work on a full disk`() async throws {
    try await nights(1)
    let status = try await onFullDisk(["status"])
    #expect(status.status == 0 && status.output.contains("last runs:"), "\(status.everything)")
    let disk = try await onFullDisk(["status", "--disk"])
    #expect(disk.status == 0, "\(disk.everything)")
    #expect(disk.output.contains("would be removed: "))
    let list = try await onFullDisk(["decide", "--list"])
    #expect(list.status == 0 && list.output == "no open edits\n", "\(list.everything)")
  }

  /// Issued records are removed without free space.
  ///
  /// If there are none, removing stores makes room for the note.
  @Test(.enabled(if: canMount, needsMounts), arguments: ["nothing", "issued/*/[12].sqlite"])
  func `expired files are removed on a full disk`(_ gone: String) async throws {
    try await nights()
    let id = try world.user("ada").id
    let looks = #"rm "$PLACE/fill"; ls "$PLACE/demo/users/\#(id)/1""#
    let pruned = try await onFullDisk(["prune"], then: looks, remove: gone)
    #expect(pruned.status == 0, "\(pruned.everything)")
    #expect(pruned.output.contains("removed: stores and bundles of "))
    #expect(pruned.output.hasSuffix("generation.json\npruned.json\n"), "\(pruned.output)")
  }

  @Test(.enabled(if: canMount, needsMounts))
  func `a run on a full disk reports that the disk is full`() async throws {
    try world.rewrite(#""platforms": ["#, #""limits": { "freeDiskMiB": 0 }, "platforms": ["#)
    try await nights(1)
    for only in ["prime", "pack"] {
      let run = try await onFullDisk(["run", "--only", only])
      #expect(run.status == 1, "\(run.everything)")
      #expect(run.messages.contains("attache: the disk is full   [disk.full]"), "\(run.messages)")
      let prune = "attache prune \(world.pipeline.called) --data "
      #expect(run.messages.contains(prune) && run.messages.contains(" frees space"))
    }
  }

  /// With enough space to start, the run copies its stores until the disk is full.
  @Test(.enabled(if: canMount, needsMounts), arguments: [128, 256, 384, 512, 768, 1024])
  func `a disk that fills up during a prime is reported as full`(_ spareKiB: Int) async throws {
    try world.rewrite(#""platforms": ["#, #""limits": { "freeDiskMiB": 0 }, "platforms": ["#)
    try await nights(1)
    let id = try scene.account(try world.device("ada", as: "later"), 1)
    try scene.office(id, ["Website": "https://office.example/later"])
    let run = try await onFullDisk(["run", "--only", "prime"], spareKiB: spareKiB)
    #expect(!run.everything.contains("skipped"), "\(run.everything)")
    #expect(
      run.status == 0 || run.messages.contains("attache: the disk is full   [disk.full]"),
      "\(run.everything)")
  }

  @Test func `a full disk has the same message everywhere`() throws {
    let system = SystemError(operation: "write", path: "/x", errno: 28)
    let quota = SystemError(operation: "write", path: "/x", errno: 122)
    let full = SQLiteError(code: 13, path: "/x")
    // `SQLITE_IOERR_SHMSIZE`: no space for the index next to the log.
    let noIndex = SQLiteError(code: 4874, path: "/x")
    let store = StoreError.database(path: "/x", code: 13, message: "full")
    let archived = try archived()
    let stored = [stored { throw store }, stored { throw system }].compactMap { $0 }
    #expect(stored.count == 2)
    let errors: [any Error] = [
      system, quota, full, noIndex, store, BundleError.system(system), SnapshotError.system(system),
      SnapshotError.store(store), BundleError.snapshot(.database(full)),
      BundleError.sealing(.system(quota)), LockError.system(system), archived,
      BundleError.archive(archived), SyncError(store: system, at: "/y"), SyncError(store: store),
    ]
    for error in errors + stored {
      #expect(PipelineError(describing: error).code == "disk.full", "\(error)")
    }
    let others: [any Error] = [
      SystemError(operation: "write", path: "/x", errno: 5), SQLiteError(code: 10, path: "/x"),
      StoreError.database(path: "/x", code: 11, message: "damaged"), SyncError(.store, "x"),
      BundleError.archive(ArchiveError(.file, "/x", "out of memory while writing it")),
    ]
    for error in others {
      #expect(PipelineError(describing: error).code != "disk.full", "\(error)")
    }
  }

  /// The archive library's error for a file that cannot grow.
  private func archived() throws -> ArchiveError {
    let link = world.directory.file("full.zst")
    if !Files.exists(link) { try DurableFile.link(link, to: "/dev/full") }
    do throws(ArchiveError) {
      let writer = try CompressedFileWriter(path: link)
      try writer.write([UInt8](repeating: 7, count: 1 << 20))
      try writer.close()
    } catch { return error }
    throw LedgerError.unknownRun("/dev/full took it")
  }

  private func stored(_ body: () throws -> Void) -> SyncError? {
    do throws(SyncError) {
      try SyncError.inStore(body)
      return nil
    } catch { return error }
  }

  @Test func `a return larger than the file size limit of the process is reported`() async throws {
    let device = try await world.primed("ada")
    _ = try scene.edited(device)
    try world.handBack(device, as: "ada.sqlite")
    // No file may exceed 64 KiB; the ledger and the report of a single run are smaller.
    let run = try await world.program(
      ["ingest"], ["--json"], shell: #"trap '' XFSZ; ulimit -f 64; exec "$@""#)
    #expect(run.everything.contains("return.not-copied"), "\(run.everything)")
    #expect(run.everything.contains("ada.sqlite cannot be copied into processing: cannot write "))
    #expect(Files.exists(world.data.inbox("inbox") + "/ada.sqlite"))
  }
}
