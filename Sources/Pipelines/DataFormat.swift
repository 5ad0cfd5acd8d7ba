import Snapshots
import System

/// The format of a pipeline's data directory, and the migration steps between formats.
///
/// The file `format` has the number; a directory without it has format 1. A step runs under the
/// directory's lock, before anything else reads the directory. It changes nothing until its own
/// results are on disk, and moves aside what it replaces. If a step is interrupted, the next run
/// repeats it.
package enum DataFormat {
  /// The format that this program reads and writes.
  package static let current = 2

  /// Throws if a newer program created the directory.
  package static func check(_ data: DataDirectory) throws { _ = try number(of: data) }

  /// Runs the migration steps that a directory still needs.
  ///
  /// - Parameter warn: Called with a message for each item that could not be migrated.
  static func takeOver(_ data: DataDirectory, warn: (String) -> Void) throws {
    var number = try number(of: data)
    while number < current {
      switch number {
      case 1: try IssuedRecordsStep(data: data).take(warn)
      default: break
      }
      number += 1
      try DurableFile.write(Array("\(number)\n".utf8), to: data.format)
    }
  }

  /// Runs in `scratch` the steps that a dry run needs, and returns the resulting directory.
  ///
  /// The original directory is not changed.
  package static func preview(
    _ data: DataDirectory, in scratch: String, warn: (String) -> Void
  ) throws -> DataDirectory {
    guard try number(of: data) < current else { return data }
    var copy = data
    copy.issued = scratch + "/issued"
    try IssuedRecordsStep(data: data).writeIssued(into: copy, warn)
    return copy
  }

  private static func number(of data: DataDirectory) throws -> Int {
    guard Files.exists(data.format) else { return 1 }
    let text = String(decoding: try Files.read(data.format, limit: 64), as: UTF8.self)
    let number = text.hasSuffix("\n") ? Int(text.dropLast()) : nil
    guard let number, number > 0 else {
      throw PipelineError(
        .configuration, "data.format", "the format of the data directory cannot be read",
        location: data.format, reason: "the file is not one number on one line",
        fix: "restore the file from a backup")
    }
    guard number <= current else {
      throw PipelineError(
        .configuration, "data.newer-format",
        "the data directory has format \(number), and this program supports formats up to \(current)",
        location: data.path, fix: "use the program that created it, or a newer one")
    }
    return number
  }
}

/// The step from format 1 to 2.
///
/// The issued records become one database per generation, and the newest generation of a snapshot
/// stores its own SystemModstamps. `bases/` is renamed to `bases.format-1`.
private struct IssuedRecordsStep {
  let data: DataDirectory

  private var old: String { data.path + "/bases" }
  private var kept: String { data.path + "/bases.format-1" }

  func take(_ warn: (String) -> Void) throws {
    guard Files.isDirectory(old) else { return }
    try writeIssued(into: data, warn)
    try writeModstamps()
    try DurableFile.rename(old, to: kept)
  }

  /// Returns the files of format 1 by snapshot and generation.
  private func files() throws -> [(snapshot: String, generation: Int, path: String)] {
    guard Files.isDirectory(old) else { return [] }
    return try Files.list(old).flatMap { snapshot in
      try Files.list(old + "/" + snapshot).compactMap { name in
        guard name.hasSuffix(".base"), let number = Int(name.dropLast(".base".count)) else {
          return nil
        }
        return (snapshot, number, "\(old)/\(snapshot)/\(name)")
      }
    }
  }

  /// Converts each file.
  ///
  /// A damaged file is skipped, so its records count as unknown.
  func writeIssued(into target: DataDirectory, _ warn: (String) -> Void) throws {
    for file in try files() {
      do throws(SnapshotError) {
        let writer = try IssuedRecordWriter(
          path: target.issued(file.generation, of: file.snapshot))
        try FirstIssuedRecordFile.forEach(file.path) { record, _ in try writer.append(record) }
        try writer.finish()
      } catch {
        guard error.isDamage else { throw error }
        warn(
          "returns of generation \(file.generation) of \(file.snapshot) are compared as the SDK "
            + "does, because the issued records cannot be read: \(error)")
      }
    }
  }

  /// Only the newest generation is the basis of the next prime.
  private func writeModstamps() throws {
    for id in try data.snapshots() {
      guard let newest = try data.generations(of: id).last else { continue }
      let path = "\(old)/\(id)/\(newest).base"
      guard Files.exists(path) else { continue }
      var stamps: [String: [String: Int64]] = [:]
      do throws(SnapshotError) {
        try FirstIssuedRecordFile.forEach(path) { record, stamp in
          guard let stamp = stamp.flatMap({ Dates.milliseconds(iso8601: $0) }) else { return }
          stamps[record.soup, default: [:]][record.id] = stamp
        }
      } catch {
        // The next prime then asks for all records again.
        if error.isDamage { continue }
        throw error
      }
      try SystemModstamps.write(stamps, in: data.generation(newest, of: id))
    }
  }
}
