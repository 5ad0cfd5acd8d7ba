import Bundles
import Snapshots
import System

/// The files of a generation that a prime on another machine needs or makes.
enum GenerationFiles {
  /// The names of the files next to the stores.
  static let plain = [
    GenerationRecord.fileName, SystemModstamps.fileName, PrunedGeneration.fileName,
  ]

  /// Returns the files of a generation's directory, without bundles; only those next to the stores
  /// unless `hasStores`.
  static func list(
    _ record: GenerationRecord, in directory: String, hasStores: Bool
  ) throws -> [WorkFile] {
    var digests: [String: String] = [:]
    for store in record.stores {
      digests[store.platform.rawValue + "/" + store.entry.path] = store.entry.sha256
    }
    var names = plain
    if hasStores {
      for name in digests.keys.sorted() {
        names += [name, CarryingStore.cleanDirectory + "/" + name]
      }
    }
    return try names.filter { Files.exists(directory + "/" + $0) }.map {
      try WorkFile($0, in: directory, sha256: digests[$0])
    }
  }
}
