import Archive
import Crypto
import Snapshots
import System

/// Restores a backup if a pipeline's data directory is gone.
struct BackupRestore {
  let pipeline: Pipeline
  let root: String
  private var data: DataDirectory { DataDirectory(root: root, name: pipeline.name) }

  /// Unpacks a backup next to the destination, lets `body` prepare it, and then renames it to the
  /// destination.
  ///
  /// If interrupted, it leaves only a directory with another name.
  ///
  /// - Throws: `PipelineError` if the file is not a complete backup of this pipeline, or if the
  ///   destination has content already.
  func perform<T>(_ file: String, _ body: (DataDirectory, BackupFile.Head) throws -> T) throws -> T
  {
    let wasThere = Files.exists(data.path)
    try Files.makeDirectory(data.path, intermediate: true)
    defer { if !wasThere { removeEmpty() } }
    // The lock prevents a run from starting meanwhile.
    let lock = try PipelineRun.takeLock(data)
    defer { lock.close() }
    try refuseOccupied()
    try sweep()
    let temporary = DurableFile.temporaryName(for: data.path) + Self.ending(of: data)
    defer { try? Files.remove(temporary) }
    try Files.makeDirectory(temporary)
    let head = try unpack(file, to: temporary)
    let unpacked = DataDirectory(root: temporary, name: "data")
    let result = try body(unpacked, head)
    try putBack(temporary + "/inbox", into: unpacked)
    try DurableFile.synchronize(tree: unpacked.path)
    try refuseOccupied()
    // The directory contains only the lock.
    try DurableFile.rename(data.path, to: temporary + "/empty")
    try DurableFile.move(unpacked.path, toNew: data.path)
    return result
  }

  /// Removes the directory that was created for the lock alone.
  private func removeEmpty() {
    guard (try? Files.list(data.path)) == ["lock"] else { return }
    // A remaining empty directory does no harm.
    try? Files.remove(data.path)
  }

  /// The suffix that identifies the directory of an interrupted restore.
  ///
  /// Such a directory contains keys and records.
  private static func ending(of data: DataDirectory) -> String {
    "-recover-" + Files.name(of: data.path)
  }

  /// Returns the directories of restores that were interrupted or are still running, by name below
  /// `root`.
  static func begun(_ data: DataDirectory, root: String) throws(SystemError) -> [String] {
    let ending = ending(of: data)
    return try Files.list(root).filter { name in
      guard DurableFile.isTemporary(name), name.hasSuffix(ending) else { return false }
      // Another pipeline's name may have the same suffix, so only a process number and one word may
      // precede it.
      let before = name.dropFirst(DurableFile.temporaryPrefix.count).dropLast(ending.count)
      return before.split(separator: "-").count == 2
    }
  }

  /// Removes the directories of interrupted restores.
  private func sweep() throws {
    for name in try Self.begun(data, root: root) { try Files.remove(root + "/" + name) }
  }

  private func refuseOccupied() throws {
    let lying = try Files.list(data.path).filter { $0 != "lock" }
    guard !lying.isEmpty else { return }
    throw PipelineError(
      .configuration, "recover.occupied", "there already is a data directory", location: data.path,
      fix: "to restore the backup, first rename or move this directory; to keep these data, run "
        + "attache recover \(pipeline.called) without --from")
  }

  // MARK: archive

  private func unpack(_ file: String, to directory: String) throws -> BackupFile.Head {
    do {
      try Files.checkInput(file)
      return try unpackWhole(file, to: directory)
    } catch let error as SystemError where error.path == file {
      throw noBackup(file, error.reason)
    } catch let error as ArchiveError {
      guard Files.exists(file) else { throw noBackup(file, "the file does not exist") }
      throw noBackup(file, error.message)
    }
  }

  private func unpackWhole(_ file: String, to directory: String) throws -> BackupFile.Head {
    let limits = ArchiveReader.Limits(
      entries: .max, totalBytes: .max, entryBytes: .max, ratio: 1 << 20)
    let reader = try ArchiveReader(path: file, limits: limits)
    guard let first = try reader.next(), first.name == BackupFile.headName,
      let head = BackupFile.Head(try reader.readAll(limit: Self.mostHeadBytes))
    else { throw noBackup(file, "it does not start with \(BackupFile.headName)") }
    guard head.pipeline == pipeline.name else {
      throw PipelineError(
        .configuration, "recover.other-pipeline",
        "the backup belongs to the pipeline \(head.pipeline)", location: file,
        fix: "name that pipeline, or a backup of \(pipeline.name)")
    }
    var end: BackupFile.End?
    var files = 0
    while let entry = try reader.next() {
      if end != nil { throw noBackup(file, "there is more after its end") }
      if entry.name == BackupFile.endName {
        end = BackupFile.End(try reader.readAll(limit: Self.mostEndBytes))
        if end == nil { throw noBackup(file, "\(BackupFile.endName) cannot be read") }
        continue
      }
      let target = directory + "/" + entry.name
      try Files.makeDirectory(Files.parent(of: target) ?? directory, intermediate: true)
      let written = try Files.createNew(target)
      try reader.read { try written.write($0) }
      files += 1
    }
    guard let end, end.files == files else { throw noBackup(file, "it is truncated") }
    try rename(end.names, in: directory, file)
    return head
  }

  private static let mostHeadBytes = 1 << 16
  private static let mostEndBytes = 1 << 28

  /// Gives files whose names were replaced in the archive their original names.
  private func rename(_ names: [String: String], in directory: String, _ file: String) throws {
    for (name, path) in names.sorted(by: { $0.key < $1.key }) {
      guard BackupFile.isBelow(path), BackupFile.isBelow(name), name.hasPrefix(BackupFile.odd)
      else {
        throw noBackup(file, "it names a file outside itself: \(path)")
      }
      let target = directory + "/" + path
      try Files.makeDirectory(Files.parent(of: target) ?? directory, intermediate: true)
      try Files.rename(directory + "/" + name, to: target)
    }
  }

  private func noBackup(_ file: String, _ reason: String) -> PipelineError {
    PipelineError(
      .damaged, "recover.no-backup", "the file is not a complete backup of attache", location: file,
      reason: reason, fix: "name a file that attache backup has written")
  }

  /// Moves the files of the backed-up inbox to the pipeline's current inbox, under new names if
  /// their names are taken.
  private func putBack(_ inbox: String, into unpacked: DataDirectory) throws {
    let place = unpacked.inbox(pipeline.inbox.path)
    try Files.makeDirectory(place, intermediate: true)
    guard Files.isDirectory(inbox) else { return }
    let names = try Files.list(inbox).filter { !Files.isDirectory(inbox + "/" + $0) }
    let isTaken = try names.contains { name in
      guard Files.exists(place + "/" + name) else { return false }
      return try Digest.sha256Hex(file: place + "/" + name)
        != Digest.sha256Hex(file: inbox + "/" + name)
    }
    for name in names {
      let target = place + "/" + (isTaken ? "restored-" : "") + name
      if Files.exists(target) { continue }
      let temporary = DurableFile.temporaryName(for: target)
      try Files.copy(inbox + "/" + name, to: temporary)
      try DurableFile.rename(temporary, to: target)
    }
  }
}
