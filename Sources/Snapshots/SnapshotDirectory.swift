import Crypto
import SmartStore
import System

/// The directory of one snapshot: numbered generations that never change, and `current`.
package struct SnapshotDirectory: Sendable {
  /// `users/<18-character id>` or `global`.
  package let path: String

  /// Names the directory; it is made when something is published.
  package init(path: String) { self.path = path }

  /// The directory of a generation.
  package func directory(of generation: Int) -> String { "\(path)/\(generation)" }

  /// The directory of a generation's stores of one platform.
  package func directory(of generation: Int, _ platform: Platform) -> String {
    "\(path)/\(generation)/\(platform.rawValue)"
  }

  /// What `current` says; nil when nothing was ever published.
  package func current() throws(SnapshotError) -> CurrentGeneration? {
    try SnapshotError.mapping {
      let file = path + "/current"
      guard Files.exists(file) else { return nil }
      let line = String(decoding: try Files.read(file, limit: 4096), as: UTF8.self)
      guard let current = CurrentGeneration(line: line) else {
        throw SnapshotError.damaged(path: file, file: "its line", reason: "cannot be read")
      }
      return current
    }
  }

  /// Moves `current`, durably; readers see the old line or the new one.
  package func setCurrent(_ current: CurrentGeneration) throws(SnapshotError) {
    try SnapshotError.mapping {
      try DurableFile.write(Array(current.line.utf8), to: path + "/current")
    }
  }

  /// The numbers of the generations that are there, in order.
  package func generations() throws(SnapshotError) -> [Int] {
    try SnapshotError.mapping {
      guard Files.isDirectory(path) else { return [] }
      // `+7` and `007` are numbers too, and no generations.
      return try Files.list(path).compactMap { name in
        Int(name).flatMap { $0 > 0 && String($0) == name ? $0 : nil }
      }.sorted()
    }
  }

  /// Removes what an interrupted run left; to be called under the pipeline's lock.
  package func removeTemporaries() throws(SnapshotError) {
    try SnapshotError.mapping {
      guard Files.isDirectory(path) else { return }
      try DurableFile.removeTemporaries(in: path)
    }
  }

  /// Measures a store file of a generation that is being made, after the last write into it.
  ///
  /// It is hashed here and nowhere else until somebody else's copy of it is to be compared.
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

  /// Writes `generation.json` into a finished temporary directory and gives that its number.
  ///
  /// The stores must have the sizes that were measured. A generation of this number that is there
  /// already is an error: none is ever replaced.
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

  /// The record of a generation, without looking at its stores.
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

  /// Compares every store of a generation with its record, from the disk.
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
          path: directory, file: name, reason: "is not what was published")
      }
    }
  }
}
