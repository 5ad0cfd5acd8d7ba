import Crypto
import JSON
import SmartStore
import Snapshots
import System

/// The description of a delta: `delta.json`, its first entry.
///
/// A delta brings the stores of one bundle to those of a later one. It is a zip with this entry and a
/// `StoreDelta` for each store. It contains the later bundle's manifest, so that a device decides
/// about a delta as about the bundle. Like a manifest it has no secret and no record.
package struct DeltaDescription: Sendable, Hashable {
  /// The name of the entry.
  package static let fileName = "delta.json"
  /// The format that attache writes, which is also the newest that it reads.
  package static let format = 1
  /// The maximum size in bytes.
  static let longest = 2 * Manifest.longest
  /// What follows the path of a store in the name of its entry.
  static let ending = ".delta"

  /// The delta of one store.
  package struct StoreFile: Sendable, Hashable {
    /// The path of the store, as in both manifests.
    package var path: String
    /// The size of the entry in bytes.
    package var bytes: Int64
    /// The SHA-256 of the entry in hexadecimal digits.
    package var sha256: String
    /// The salt of a sealed delta in hexadecimal digits.
    package var salt: String?
    /// The stamp ID of the store that it is for.
    package var fromStampID: String
    /// The generation of that store.
    package var fromGeneration: Int
    /// The changes by soup.
    package var changes: [String: StoreDelta.Change]

    /// The name of the entry.
    package var name: String { path + DeltaDescription.ending }
  }

  /// The generation of the earlier bundle.
  package var fromGeneration: Int
  /// The manifest of the later bundle.
  package var to: Manifest
  /// The deltas of all stores, in the order of the manifest.
  package var stores: [StoreFile]
  /// The sealed archive with these deltas; nil if they are entries next to the description.
  package var archive: SealedPart?

  /// The text of `delta.json`; equal descriptions give the same bytes.
  package var bytes: [UInt8] {
    var object: JSONObject = [
      "format": .number(String(Self.format)),
      "from": ["generation": JSONValue(fromGeneration)], "to": to.json,
      "stores": .array(stores.map(\.json)),
    ]
    object["seal"] = archive.map { Manifest.Seal(archive: $0).json }
    object["digest"] = .string(Manifest.digest(of: object))
    return JSONValue.object(object).fileBytes
  }

  /// Reads a description.
  ///
  /// `path` is the path of the archive, for error messages.
  package init(parsing bytes: [UInt8], path: String) throws(BundleError) {
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONValue(parsing: bytes)
    } catch {
      throw .notABundle(path: path, reason: "\(Self.fileName) is not JSON: \(error)")
    }
    if let format = json["format"]?.int, format > Self.format {
      throw .newerFormat(path: path, format: Int(format))
    }
    let reader = MemberReader(json: json, path: path, file: Self.fileName)
    let isWhole: Bool
    do throws(SnapshotError) {
      guard json["format"]?.int == Int64(Self.format) else { throw reader.wrong("format") }
      isWhole = try reader.text("digest") == Manifest.digest(of: json.object ?? [:])
    } catch {
      throw Manifest.malformed(error)
    }
    guard isWhole else {
      throw .damaged(path: path, file: Self.fileName, reason: "has been modified")
    }
    to = try Manifest(json: json["to"] ?? .null, path: path)
    do throws(SnapshotError) {
      fromGeneration = try reader.member("from").integer("generation")
      var stores: [StoreFile] = []
      for item in try reader.items("stores") { stores.append(try StoreFile(item)) }
      self.stores = stores
      guard stores.map(\.path) == to.stores.map(\.path) else { throw reader.wrong("stores") }
      if reader.json["seal"] != nil { archive = try Manifest.Seal(reader.member("seal")).archive }
      guard (archive == nil) == (to.seal?.archive == nil) else { throw reader.wrong("seal") }
    } catch {
      throw Manifest.malformed(error)
    }
  }

  package init(fromGeneration: Int, to: Manifest, stores: [StoreFile]) {
    (self.fromGeneration, self.to, self.stores) = (fromGeneration, to, stores)
  }
}

extension DeltaDescription.StoreFile {
  var json: JSONValue {
    var object: JSONObject = [
      "path": .string(path), "file": .string(name), "bytes": .number(String(bytes)),
      "sha256": .string(sha256),
    ]
    object["salt"] = salt.map(JSONValue.string)
    object["from"] = [
      "stampId": .string(fromStampID), "generation": JSONValue(fromGeneration),
    ]
    object["changes"] = StoreDelta.Change.json(changes)
    return .object(object)
  }

  init(_ reader: MemberReader) throws(SnapshotError) {
    path = try reader.text("path")
    let size = try reader.integer("bytes")
    guard size >= 0 else { throw reader.wrong("bytes") }
    bytes = Int64(size)
    sha256 = try reader.text("sha256")
    salt = try reader.optionalText("salt")
    let from = try reader.member("from")
    fromStampID = try from.text("stampId")
    fromGeneration = try from.integer("generation")
    changes = [:]
    for name in reader.json["changes"]?.object?.names ?? [] {
      let change = try reader.member("changes").member(name)
      changes[name] = StoreDelta.Change(
        rows: try change.integer("rows"), gone: try change.integer("gone"))
    }
    guard try reader.text("file") == self.name else { throw reader.wrong("file") }
  }
}
