import Crypto
import JSON
import SmartStore
import System

extension Manifest {
  /// The text of `manifest.json`: the same members in the same order for the same manifest.
  package var bytes: [UInt8] {
    var object: JSONObject = [
      "format": .number(String(Manifest.format)), "org": .string(org), "user": .string(user),
    ]
    object["usernameDigest"] = usernameDigest.map(JSONValue.string)
    object["pipeline"] = .string(pipeline)
    object["generation"] = .number(String(generation))
    object["platform"] = .string(platform.rawValue)
    object["stampId"] = .string(stampID)
    object["configHash"] = .string(configHash)
    object["created"] = .string(Dates.utc(created))
    object["expires"] = expires.map { .string(Dates.utc($0)) }
    object["fetchAs"] = fetchAs.map(JSONValue.string)
    object["seal"] = seal.map {
      ["with": .string($0.method), "kdfIterations": .number(String($0.kdfIterations))]
    }
    object["stores"] = .array(stores.map(\.json))
    object["syncStates"] = .array(syncStates.map(\.json))
    object["counts"] = JSONValue(counts: counts)
    object["includes"] = .array(includes.map(\.json))
    object["warnings"] = .array(warnings.map(JSONValue.string))
    object["digest"] = .string(Manifest.digest(of: object))
    return JSONValue.object(object).bytes(pretty: true, sortedKeys: false) + [0x0A]
  }

  /// SHA-256 of the members but `digest`, sorted and without space: gzip and Zstandard let a changed
  /// byte through, and every store has its digest only here.
  private static func digest(of object: JSONObject) -> String {
    var object = object
    object["digest"] = nil
    return Digest.sha256Hex(JSONValue.object(object).bytes(pretty: false, sortedKeys: true))
  }

  /// Reads a manifest; `path` is the archive's, for errors.
  package init(parsing bytes: [UInt8], path: String) throws(BundleError) {
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONValue(parsing: bytes)
    } catch {
      throw .notABundle(path: path, reason: "\(Manifest.fileName) is not JSON: \(error)")
    }
    if let format = json["format"]?.int, format > Manifest.format {
      throw .newerFormat(path: path, format: Int(format))
    }
    let reader = ManifestReader(json: json, path: path)
    guard json["format"]?.int == Int64(Manifest.format) else { throw reader.wrong("format") }
    guard try reader.text("digest") == Manifest.digest(of: json.object ?? [:]) else {
      throw .damaged(path: path, file: Manifest.fileName, reason: "is not as it was written")
    }
    org = try reader.text("org")
    user = try reader.text("user")
    usernameDigest = try reader.optionalText("usernameDigest")
    pipeline = try reader.text("pipeline")
    generation = try reader.integer("generation")
    platform = try reader.platform()
    stampID = try reader.text("stampId")
    configHash = try reader.text("configHash")
    created = try reader.date("created")
    expires = json["expires"] == nil ? nil : try reader.date("expires")
    fetchAs = try reader.optionalText("fetchAs")
    var stores: [StoreEntry] = []
    for item in try reader.items("stores") { stores.append(try StoreEntry(item)) }
    self.stores = stores
    if let seal = json["seal"] {
      let inner = ManifestReader(json: seal, path: path, place: "seal.")
      self.seal = Seal(
        method: try inner.text("with"), kdfIterations: try inner.integer("kdfIterations"))
    }
    var states: [SyncState] = []
    for item in try reader.items("syncStates") { states.append(try SyncState(item)) }
    syncStates = states
    var includes: [Include] = []
    for item in try reader.items("includes") { includes.append(try Include(item)) }
    self.includes = includes
    warnings = (json["warnings"]?.array ?? []).compactMap(\.string)
    guard Set(stores.map { $0.path.lowercased() }).count == stores.count, !stores.isEmpty else {
      throw reader.wrong("stores")
    }
  }
}

extension JSONValue {
  fileprivate init(counts: [String: Int]) {
    var object = JSONObject()
    for (soup, count) in counts.sorted(by: { $0.key < $1.key }) {
      object[soup] = .number(String(count))
    }
    self = .object(object)
  }
}

extension Manifest.StoreEntry {
  /// The entry's member of `stores`.
  package var json: JSONValue {
    var object: JSONObject = [
      "scope": .string(scope.rawValue), "storeName": .string(storeName), "path": .string(path),
      "bytes": .number(String(bytes)), "sha256": .string(sha256),
    ]
    object["salt"] = salt.map(JSONValue.string)
    object["stampId"] = .string(stampID)
    object["generation"] = .number(String(generation))
    object["counts"] = JSONValue(counts: counts)
    return .object(object)
  }

  init(_ reader: ManifestReader) throws(BundleError) {
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

extension Manifest.SyncState {
  var json: JSONValue {
    [
      "scope": .string(scope.rawValue), "storeName": .string(storeName),
      "syncName": .string(syncName), "type": .string(type), "status": .string(status),
      "maxTimeStamp": .number(String(maxTimeStamp)),
    ]
  }

  init(_ reader: ManifestReader) throws(BundleError) {
    scope = try reader.scope()
    storeName = try reader.text("storeName")
    syncName = try reader.text("syncName")
    type = try reader.text("type")
    status = try reader.text("status")
    maxTimeStamp = Int64(try reader.integer("maxTimeStamp"))
  }
}

extension Manifest.Include {
  var json: JSONValue {
    var object: JSONObject = ["stampId": .string(stampID)]
    object["install"] = install.map(JSONValue.string)
    object["handback"] = handback.map { .number(String($0)) }
    return .object(object)
  }

  init(_ reader: ManifestReader) throws(BundleError) {
    stampID = try reader.text("stampId")
    install = try reader.optionalText("install")
    handback = reader.json["handback"] == nil ? nil : try reader.integer("handback")
  }
}

/// Reads members of one object of a manifest, with errors that name them.
struct ManifestReader {
  let json: JSONValue
  let path: String
  var place = ""

  func wrong(_ name: String) -> BundleError {
    .notABundle(
      path: path,
      reason: "\(Manifest.fileName) lacks \(place)\(name), or has another kind of value there")
  }

  func text(_ name: String) throws(BundleError) -> String {
    guard let text = json[name]?.string, !text.isEmpty else { throw wrong(name) }
    return text
  }

  func optionalText(_ name: String) throws(BundleError) -> String? {
    json[name] == nil ? nil : try text(name)
  }

  func integer(_ name: String) throws(BundleError) -> Int {
    guard let value = json[name]?.int, let integer = Int(exactly: value) else { throw wrong(name) }
    return integer
  }

  func date(_ name: String) throws(BundleError) -> Int64 {
    guard let value = Dates.milliseconds(iso8601: try text(name)) else { throw wrong(name) }
    return value
  }

  func platform() throws(BundleError) -> Platform {
    guard let platform = Platform(rawValue: try text("platform")) else { throw wrong("platform") }
    return platform
  }

  func scope() throws(BundleError) -> StoreScope {
    guard let scope = StoreScope(rawValue: try text("scope")) else { throw wrong("scope") }
    return scope
  }

  func items(_ name: String) throws(BundleError) -> [ManifestReader] {
    guard let items = json[name]?.array else { throw wrong(name) }
    return items.enumerated().map {
      ManifestReader(json: $0.element, path: path, place: "\(name)[\($0.offset)].")
    }
  }
}
