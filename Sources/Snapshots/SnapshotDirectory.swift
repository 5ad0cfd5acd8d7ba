import Crypto
import SmartStore
import System

/// The directory of a snapshot: numbered generations that never change, and `current`.
package struct SnapshotDirectory: Sendable {
  /// The path: `users/<18-character ID>` or `global`.
  package let path: String

  /// Creates a reference to the directory, which is created by the first publication.
  package init(path: String) { self.path = path }

  /// The directory of a generation.
  package func directory(of generation: Int) -> String { "\(path)/\(generation)" }

  /// The directory of a generation's stores for one platform.
  package func directory(of generation: Int, _ platform: Platform) -> String {
    "\(path)/\(generation)/\(platform.rawValue)"
  }

  /// The content of `current`; nil if nothing was ever published, or if the file is damaged: the
  /// next run writes it again.
  package func current() throws(SnapshotError) -> CurrentGeneration? {
    try SnapshotError.mapping {
      let file = path + "/current"
      let limit = 4096
      guard Files.exists(file), try Files.size(of: file) <= limit else { return nil }
      return CurrentGeneration(
        line: String(decoding: try Files.read(file, limit: limit), as: UTF8.self))
    }
  }

  /// Replaces `current` durably; readers see either the old line or the new one.
  package func setCurrent(_ current: CurrentGeneration) throws(SnapshotError) {
    try SnapshotError.mapping {
      try DurableFile.write(Array(current.line.utf8), to: path + "/current")
    }
  }

  /// The numbers of the existing generations, in order.
  package func generations() throws(SnapshotError) -> [Int] {
    try SnapshotError.mapping {
      guard Files.isDirectory(path) else { return [] }
      // `+7` and `007` also parse as numbers, but are not generations.
      return try Files.list(path).compactMap { name in
        Int(name).flatMap { $0 > 0 && String($0) == name ? $0 : nil }
      }.sorted()
    }
  }

  /// Removes the remains of an interrupted run.
  ///
  /// Call it under the pipeline's lock.
  package func removeTemporaries() throws(SnapshotError) {
    try SnapshotError.mapping {
      guard Files.isDirectory(path) else { return }
      try DurableFile.removeTemporaries(in: path)
    }
  }

  /// Measures a store file of a generation that is being created, after the last write to it.
  ///
  /// The file is hashed only here, until a copy of it must be compared.
  package static func measure(
    _ file: String, scope: StoreScope, storeName: String, path: String, stamp: Provenance,
    counts: [String: Int]
  ) throws(SnapshotError) -> StoreEntry {
    try SnapshotError.mapping {
      StoreEntry(
        scope: scope, storeName: storeName, path: path, bytes: try Files.size(of: file),
        sha256: try Digest.sha256Hex(file: file), stampID: stamp.stampID,
        generation: stamp.generation, counts: counts)
    }
  }

  /// Writes `generation.json` into a finished temporary directory, and renames the directory to its
  /// number.
  ///
  /// The stores must have the measured sizes. An existing generation with this number is an error,
  /// as none is ever replaced.
  package func publish(
    _ temporary: String, as record: GenerationRecord
  ) throws(SnapshotError) {
    try SnapshotError.mapping {
      try DurableFile.write(record.bytes, to: temporary + "/" + GenerationRecord.fileName)
      try verify(record, in: temporary, byContent: false)
      try DurableFile.publishDirectory(
        temporary: temporary, final: directory(of: record.generation))
    }
  }

  /// The record of a generation, without checking its stores.
  package func record(of generation: Int) throws(SnapshotError) -> GenerationRecord {
    let directory = directory(of: generation)
    return try SnapshotError.mapping {
      let file = directory + "/" + GenerationRecord.fileName
      guard Files.exists(file) else {
        throw SnapshotError.damaged(
          path: directory, file: GenerationRecord.fileName, reason: "is missing")
      }
      return try GenerationRecord(parsing: Files.read(file), path: directory)
    }
  }

  /// Compares every store of a generation with its record, from disk.
  package func verify(_ record: GenerationRecord) throws(SnapshotError) {
    try SnapshotError.mapping {
      try verify(record, in: directory(of: record.generation), byContent: true)
    }
  }

  private func verify(
    _ record: GenerationRecord, in directory: String, byContent: Bool
  ) throws {
    for store in record.stores {
      let name = "\(store.platform.rawValue)/\(store.entry.path)"
      let file = directory + "/" + name
      guard Files.exists(file) else {
        throw SnapshotError.damaged(path: directory, file: name, reason: "is missing")
      }
      guard try Files.size(of: file) == store.entry.bytes,
        try !byContent || Digest.sha256Hex(file: file) == store.entry.sha256
      else {
        throw SnapshotError.damaged(
          path: directory, file: name, reason: "was changed after it was published")
      }
    }
  }
}
