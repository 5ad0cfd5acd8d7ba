import JSON
import SmartStore

/// One store file, as `generation.json` and a bundle's manifest describe it.
package struct StoreEntry: Sendable, Hashable {
  /// Whose it is.
  package var scope: StoreScope
  /// Its name in the pipeline file.
  package var storeName: String
  /// Its path, where an app expects it: below the platform's directory of a generation, or in a bundle.
  package var path: String
  /// Its size.
  package var bytes: Int64
  /// SHA-256 in hexadecimal digits.
  package var sha256: String
  /// The id of the provenance inside it; a global store has one of its own.
  package var stampID: String
  /// The generation of the snapshot that it belongs to.
  package var generation: Int
  /// Elements by soup.
  package var counts: [String: Int]
  /// The salt of a sealed store, in hexadecimal digits: the file's first 16 bytes.
  package var salt: String?

  /// Makes an entry of its parts.
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

  /// The entry's member of `stores`.
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

  /// Numbers of elements, as an object that is sorted by the soups' names.
  package static func json(counts: [String: Int]) -> JSONValue {
    var object = JSONObject()
    for (soup, count) in counts.sorted(by: { $0.key < $1.key }) {
      object[soup] = .number(String(count))
    }
    return .object(object)
  }

  /// Reads a member of `stores`.
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
