import Crypto
import JSON
import SmartStore
import Snapshots
import System

extension Manifest {
  /// The text of `manifest.json`; equal manifests give the same bytes.
  package var bytes: [UInt8] { json.fileBytes }

  /// The manifest as a JSON object, with its digest.
  var json: JSONValue {
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
    object["seal"] = seal?.json
    object["stores"] = .array(stores.map(\.json))
    object["syncStates"] = .array(syncStates.map(\.json))
    object["counts"] = StoreEntry.json(counts: counts)
    object["includes"] = .array(includes.map(\.json))
    object["warnings"] = .array(warnings.map(JSONValue.string))
    object["digest"] = .string(Manifest.digest(of: object))
    return .object(object)
  }

  /// The SHA-256 of all members except `digest`, sorted and without white space.
  ///
  /// gzip and Zstandard may let a changed byte through, and this digest alone protects the digests
  /// of the stores.
  static func digest(of object: JSONObject) -> String {
    var object = object
    object["digest"] = nil
    return Digest.sha256Hex(JSONValue.object(object).bytes(pretty: false, sortedKeys: true))
  }

  /// Reads a manifest.
  ///
  /// `path` is the path of the archive, for error messages.
  package init(parsing bytes: [UInt8], path: String) throws(BundleError) {
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONValue(parsing: bytes)
    } catch {
      throw .notABundle(path: path, reason: "\(Manifest.fileName) is not JSON: \(error)")
    }
    try self.init(json: json, path: path)
  }

  /// Reads a manifest from its JSON object.
  init(json: JSONValue, path: String) throws(BundleError) {
    if let format = json["format"]?.int, format > Manifest.format {
      throw .newerFormat(path: path, format: Int(format))
    }
    let reader = MemberReader(json: json, path: path, file: Manifest.fileName)
    let isWhole: Bool
    do throws(SnapshotError) {
      guard json["format"]?.int == Int64(Manifest.format) else { throw reader.wrong("format") }
      isWhole = try reader.text("digest") == Manifest.digest(of: json.object ?? [:])
    } catch {
      throw Manifest.malformed(error)
    }
    guard isWhole else {
      throw .damaged(path: path, file: Manifest.fileName, reason: "has been modified")
    }
    do throws(SnapshotError) { try self.init(reader) } catch { throw Manifest.malformed(error) }
  }

  /// If a required member is missing, the archive is not a bundle.
  static func malformed(_ error: SnapshotError) -> BundleError {
    guard case .damaged(let path, let file, let reason) = error else { return .snapshot(error) }
    return .notABundle(path: path, reason: "\(file) \(reason)")
  }

  private init(_ reader: MemberReader) throws(SnapshotError) {
    org = try reader.text("org")
    user = try reader.text("user")
    usernameDigest = try reader.optionalText("usernameDigest")
    pipeline = try reader.text("pipeline")
    generation = try reader.integer("generation")
    platform = try reader.platform()
    stampID = try reader.text("stampId")
    configHash = try reader.text("configHash")
    created = try reader.date("created")
    expires = reader.json["expires"] == nil ? nil : try reader.date("expires")
    fetchAs = try reader.optionalText("fetchAs")
    var stores: [StoreEntry] = []
    for item in try reader.items("stores") { stores.append(try StoreEntry(item)) }
    self.stores = stores
    if reader.json["seal"] != nil { seal = try Seal(reader.member("seal")) }
    var states: [SyncStateEntry] = []
    for item in try reader.items("syncStates") { states.append(try SyncStateEntry(item)) }
    syncStates = states
    var includes: [Include] = []
    for item in try reader.items("includes") { includes.append(try Include(item)) }
    self.includes = includes
    warnings = (reader.json["warnings"]?.array ?? []).compactMap(\.string)
    guard Set(stores.map { $0.path.lowercased() }).count == stores.count, !stores.isEmpty else {
      throw reader.wrong("stores")
    }
  }
}

extension Manifest.Seal {
  var json: JSONValue {
    var object: JSONObject = ["with": .string(method)]
    if let archive {
      object.merge(archive)
    } else {
      object["kdfIterations"] = .number(String(kdfIterations))
    }
    return .object(object)
  }

  init(_ reader: MemberReader) throws(SnapshotError) {
    let method = try reader.text("with")
    if method == Method.archive.rawValue {
      self.init(archive: try SealedPart(reader))
    } else {
      self.init(method: method, kdfIterations: try reader.integer("kdfIterations"))
    }
  }
}

extension SealedPart {
  init(_ reader: MemberReader) throws(SnapshotError) {
    let size = try reader.integer("bytes")
    guard size >= 0 else { throw reader.wrong("bytes") }
    self.init(
      bytes: Int64(size), sha256: try reader.text("sha256"), salt: try reader.text("salt"))
  }
}

extension JSONObject {
  /// Adds the members that describe a sealed archive.
  mutating func merge(_ part: SealedPart) {
    self["bytes"] = .number(String(part.bytes))
    self["sha256"] = .string(part.sha256)
    self["salt"] = .string(part.salt)
  }
}

extension Manifest.Include {
  var json: JSONValue {
    var object: JSONObject = ["stampId": .string(stampID)]
    object["install"] = install.map(JSONValue.string)
    object["handback"] = handback.map { .number(String($0)) }
    return .object(object)
  }

  init(_ reader: MemberReader) throws(SnapshotError) {
    stampID = try reader.text("stampId")
    install = try reader.optionalText("install")
    handback = reader.json["handback"] == nil ? nil : try reader.integer("handback")
  }
}
