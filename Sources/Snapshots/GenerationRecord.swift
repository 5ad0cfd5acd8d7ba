import Crypto
import JSON
import SmartStore
import System

/// The content of `generation.json`: the parts of one published state of a snapshot.
package struct GenerationRecord: Sendable, Hashable {
  /// The name of the file in the generation's directory.
  package static let fileName = "generation.json"
  private static let format: Int64 = 1

  /// A store file of the generation.
  package struct StoreFile: Sendable, Hashable {
    /// The platform of the store.
    package var platform: Platform
    /// The entry as in a manifest; its path is relative to the platform's directory.
    package var entry: StoreEntry

    package init(platform: Platform, entry: StoreEntry) {
      self.platform = platform
      self.entry = entry
    }
  }

  /// The snapshot: a user's 18-character ID, or `global`.
  package var snapshot: String
  /// The number of the generation.
  package var generation: Int
  /// The ID of the run that created it.
  package var run: String
  /// The org's clock at the run, in milliseconds since 1970.
  package var created: Int64
  /// The digest of the configuration.
  package var configHash: String
  package var stores: [StoreFile]
  /// The sync states in the stores, the same on every platform.
  package var syncStates: [SyncStateEntry]
  /// The greatest modification date seen by each sync, in milliseconds since 1970.
  package var cursors: [String: Int64]
  /// Further data that the pipeline needs later.
  package var notes: JSONObject
  /// The rows in which the stores redeliver open edits.
  package var carried: [CarriedEntry]

  package init(
    snapshot: String, generation: Int, run: String, created: Int64, configHash: String,
    stores: [StoreFile], syncStates: [SyncStateEntry] = [], cursors: [String: Int64] = [:],
    notes: JSONObject = [:], carried: [CarriedEntry] = []
  ) {
    self.snapshot = snapshot
    self.generation = generation
    self.run = run
    self.created = created
    self.configHash = configHash
    self.stores = stores
    self.syncStates = syncStates
    self.cursors = cursors
    self.notes = notes
    self.carried = carried
  }

  /// The stores of one platform, as listed in a manifest.
  package func entries(of platform: Platform) -> [StoreEntry] {
    stores.filter { $0.platform == platform }.map(\.entry)
  }

  /// The text of the file; equal records give the same bytes.
  package var bytes: [UInt8] {
    var cursors = JSONObject()
    for (name, value) in self.cursors.sorted(by: { $0.key < $1.key }) {
      cursors[name] = .number(String(value))
    }
    let stores = self.stores.map { file -> JSONValue in
      var object: JSONObject = ["platform": .string(file.platform.rawValue)]
      for (name, value) in file.entry.json.object ?? [:] { object[name] = value }
      return .object(object)
    }
    var json: JSONObject = [
      "format": .number(String(GenerationRecord.format)), "snapshot": .string(snapshot),
      "generation": .number(String(generation)), "run": .string(run),
      "created": .string(Dates.utc(created)), "configHash": .string(configHash),
      "stores": .array(stores), "syncStates": .array(syncStates.map(\.json)),
      "cursors": .object(cursors), "notes": .object(notes),
    ]
    if !carried.isEmpty { json["carried"] = .array(carried.map(\.json)) }
    return JSONValue.object(json).fileBytes
  }

  /// The SHA-256 of the text, in hexadecimal digits.
  package var digest: String { Digest.sha256Hex(bytes) }

  /// Parses the text; `path` is for error messages.
  package init(parsing bytes: [UInt8], path: String) throws(SnapshotError) {
    func wrong(_ reason: String) -> SnapshotError {
      .damaged(path: path, file: GenerationRecord.fileName, reason: reason)
    }
    guard let json = try? JSONValue(parsing: bytes) else { throw wrong("is not JSON") }
    if let format = json["format"]?.int, format > GenerationRecord.format {
      throw .newerFormat(path: path, format: Int(format))
    }
    guard let snapshot = json["snapshot"]?.string, let generation = json["generation"]?.int,
      let run = json["run"]?.string,
      let created = json["created"]?.string.flatMap({ Dates.milliseconds(iso8601: $0) }),
      let configHash = json["configHash"]?.string
    else { throw wrong("lacks a member") }
    self.snapshot = snapshot
    self.generation = Int(generation)
    self.run = run
    self.created = created
    self.configHash = configHash
    cursors = (json["cursors"]?.object ?? [:]).reduce(into: [:]) { $0[$1.name] = $1.value.int }
    notes = json["notes"]?.object ?? [:]
    let reader = MemberReader(json: json, path: path, file: GenerationRecord.fileName)
    var stores: [StoreFile] = []
    for item in try reader.items("stores") {
      stores.append(
        StoreFile(platform: try item.platform(), entry: try StoreEntry(item)))
    }
    self.stores = stores
    var states: [SyncStateEntry] = []
    for item in try reader.items("syncStates") { states.append(try SyncStateEntry(item)) }
    syncStates = states
    var carried: [CarriedEntry] = []
    if json["carried"] != nil {
      for item in try reader.items("carried") { carried.append(try CarriedEntry(item)) }
    }
    self.carried = carried
  }
}
