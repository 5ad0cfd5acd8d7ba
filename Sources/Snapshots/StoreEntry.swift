import JSON
import SmartStore

/// A store file, as described in `generation.json` and a bundle's manifest.
package struct StoreEntry: Sendable, Hashable {
  /// The owner of its data.
  package var scope: StoreScope
  /// The store's name in the pipeline file.
  package var storeName: String
  /// The path where an app expects the store, relative to the platform's directory of a generation,
  /// or to the bundle.
  package var path: String
  /// The size in bytes.
  package var bytes: Int64
  /// The SHA-256 in hexadecimal digits.
  package var sha256: String
  /// The stamp ID in the store; that of a global store is its own.
  package var stampID: String
  /// The generation of the snapshot.
  package var generation: Int
  /// The number of elements by soup.
  package var counts: [String: Int]
  /// The salt of a sealed store in hexadecimal digits: the first 16 bytes of the file.
  package var salt: String?

  package init(
    scope: StoreScope, storeName: String, path: String, bytes: Int64, sha256: String,
    stampID: String, generation: Int, counts: [String: Int], salt: String? = nil
  ) {
    self.scope = scope
    self.storeName = storeName
    self.path = path
    self.bytes = bytes
    self.sha256 = sha256
    self.stampID = stampID
    self.generation = generation
    self.counts = counts
    self.salt = salt
  }

  /// The entry as a member of `stores`.
  package var json: JSONValue {
    var object: JSONObject = [
      "scope": .string(scope.rawValue), "storeName": .string(storeName), "path": .string(path),
      "bytes": .number(String(bytes)), "sha256": .string(sha256),
    ]
    object["salt"] = salt.map(JSONValue.string)
    object["stampId"] = .string(stampID)
    object["generation"] = .number(String(generation))
    object["counts"] = StoreEntry.json(counts: counts)
    return .object(object)
  }

  /// The numbers of elements as an object, sorted by the names of the soups.
  package static func json(counts: [String: Int]) -> JSONValue {
    var object = JSONObject()
    for (soup, count) in counts.sorted(by: { $0.key < $1.key }) {
      object[soup] = .number(String(count))
    }
    return .object(object)
  }

  /// Parses a member of `stores`.
  package init(_ reader: MemberReader) throws(SnapshotError) {
    scope = try reader.scope()
    storeName = try reader.text("storeName")
    path = try reader.text("path")
    let size = try reader.integer("bytes")
    guard size >= 0 else { throw reader.wrong("bytes") }
    bytes = Int64(size)
    sha256 = try reader.text("sha256")
    salt = try reader.optionalText("salt")
    stampID = try reader.text("stampId")
    generation = try reader.integer("generation")
    var counts: [String: Int] = [:]
    for (soup, count) in reader.json["counts"]?.object ?? [:] {
      guard let count = count.int else { throw reader.wrong("counts") }
      counts[soup] = Int(count)
    }
    self.counts = counts
  }
}
