import Snapshots
import Bundles
import Crypto
import JSON
import SmartStore
import System

/// A simulated phone: it installs a bundle, its user edits records, and it returns the store.
///
/// It changes the file as an app built on the Mobile SDK does: it replaces whole elements, sets
/// local flags, and maintains `install` and `handback` in the stamp, as described in
/// docs/bundle-format.md.
package struct Device: Sendable {
  /// The platform, which determines the layout of its store.
  package let platform: Platform
  /// The path of the store file.
  package let storePath: String

  /// Creates a device for an existing store at `storePath`.
  package init(platform: Platform, storePath: String) {
    self.platform = platform
    self.storePath = storePath
  }

  /// Unpacks a bundle and installs its user store.
  package static func install(
    _ bundle: String, _ platform: Platform, into directory: String, now: Int64
  ) throws -> Device {
    try Files.makeDirectory(Files.parent(of: directory) ?? directory)
    let manifest = try BundleReader.extract(bundle, to: directory)
    guard let store = manifest.stores.first(where: { $0.scope == .user }) else {
      throw RehearsalError.noStamp(bundle)
    }
    let device = Device(platform: platform, storePath: directory + "/" + store.path)
    try device.install(now: now)
    return device
  }

  /// Marks the store as installed, with a new `install` ID in its stamp.
  package func install(now: Int64) throws {
    try withStamp(now: now) { stamp in
      stamp["install"] = .string(RandomBytes.uuid())
      stamp["handback"] = .number("0")
    }
  }

  /// Edits fields of the record with a server ID.
  package func edit(_ soup: String, id: String, _ fields: JSONObject, now: Int64) throws {
    try change(soup, id: id, now: now) { element in
      for (name, value) in fields { element[name] = value }
      element["__locally_updated__"] = true
    }
  }

  /// Edits fields of the record with a server ID without setting local flags.
  package func write(_ soup: String, id: String, _ fields: JSONObject, now: Int64) throws {
    try change(soup, id: id, now: now, isLocal: false) { element in
      for (name, value) in fields { element[name] = value }
    }
  }

  /// Edits fields of a redelivered record, as an app does after it has shown its user the reason.
  package func fix(_ soup: String, id: String, _ fields: JSONObject, now: Int64) throws {
    try change(soup, id: id, now: now) { element in
      for (name, value) in fields { element[name] = value }
      element["__locally_updated__"] = true
      element["__last_error_shown__"] = element["__last_error__"]
    }
  }

  /// Marks the record with a server ID as deleted.
  package func delete(_ soup: String, id: String, now: Int64) throws {
    try change(soup, id: id, now: now) { $0["__locally_deleted__"] = true }
  }

  /// Marks the record with a server ID as clean, as an app does after it has reverted or sent an
  /// edit.
  package func clean(_ soup: String, id: String, now: Int64) throws {
    try change(soup, id: id, now: now, isLocal: false) { element in
      for flag in ["created", "updated", "deleted"] { element["__locally_\(flag)__"] = false }
    }
  }

  /// Creates a record, and returns its local ID.
  @discardableResult
  package func create(
    _ soup: String, type: String, _ fields: JSONObject, localID: String, now: Int64
  ) throws -> String {
    var element = fields
    element["Id"] = .string(localID)
    element["attributes"] = .object(["type": .string(type)])
    element["__local__"] = true
    element["__locally_created__"] = true
    element["__locally_updated__"] = false
    element["__locally_deleted__"] = false
    try withStore(now: now) { _ = try $0.upsert([.object(element)], into: soup) }
    return localID
  }

  /// Increments `handback` and copies the store to `path`, under its final name at once.
  package func handBack(to path: String, now: Int64) throws {
    try withStamp(now: now) { stamp in
      stamp["handback"] = .number(String((stamp["handback"]?.int ?? 0) + 1))
    }
    let temporary = DurableFile.temporaryName(for: path)
    try Files.copy(storePath, to: temporary)
    try Files.rename(temporary, to: path)
    try Files.remove(handedPath)
    try Files.copy(storePath, to: handedPath)
  }

  /// The copy of the last return.
  private var handedPath: String { storePath + ".handed" }

  /// Whether the app may install a bundle over its store, by the rules of docs/bundle-format.md.
  package func mayInstall(_ bundle: String) throws -> Bool {
    let now = try Self.state(of: storePath)
    if now.dirty.isEmpty, now.stamp.carried == nil { return true }
    guard Files.exists(handedPath), try Self.state(of: handedPath).dirty == now.dirty else {
      return false
    }
    return try BundleReader.inspect(bundle).includes.contains {
      $0.stampID == now.stamp.stampID && $0.install == now.stamp.install
        && ($0.handback ?? -1) >= now.stamp.handback ?? 0
    }
  }

  /// Returns the elements that were edited, or redelivered, and not resolved by a return.
  package func dirtyElements() throws -> Set<JSONValue> { try Self.state(of: storePath).dirty }

  /// Returns the stamp of a store, and its dirty elements.
  private static func state(of path: String) throws -> (stamp: Provenance, dirty: Set<JSONValue>) {
    let store = try Store(opening: path, readOnly: true)
    guard case .stamp(let stamp) = try Provenance.read(from: store) else {
      throw RehearsalError.noStamp(path)
    }
    var dirty: Set<JSONValue> = []
    for soup in try store.soupNames() where soup != Provenance.soupName {
      try store.forEachElement(in: soup) { element in
        let value = try element.value()
        if value["__local__"] == true { dirty.insert(value) }
      }
    }
    try store.close()
    return (stamp, dirty)
  }

  /// Returns the elements of a soup, as JSON.
  package func elements(_ soup: String) throws -> [JSONValue] {
    let store = try Store(opening: storePath, readOnly: true)
    let spec = QuerySpec(soupName: soup, .all, pageSize: 1_000_000)
    let texts = try store.query(spec)
    try store.close()
    return try texts.map { try JSONValue(parsing: $0) }
  }

  private func change(
    _ soup: String, id: String, now: Int64, isLocal: Bool = true,
    _ body: (inout JSONObject) -> Void
  ) throws {
    try withStore(now: now) { store in
      let spec = QuerySpec(soupName: soup, .exact(path: "Id", matchKey: id), pageSize: 1)
      guard let text = try store.query(spec).first,
        case .object(var element) = try JSONValue(parsing: text)
      else { throw RehearsalError.noSuchRecord(soup: soup, id: id) }
      body(&element)
      element["__local__"] = .bool(isLocal)
      _ = try store.upsert([.object(element)], into: soup)
    }
  }

  private func withStamp(now: Int64, _ body: (inout JSONObject) -> Void) throws {
    try withStore(now: now) { store in
      let spec = QuerySpec(soupName: Provenance.soupName, .all, pageSize: 1)
      guard let text = try store.query(spec).first,
        case .object(var stamp) = try JSONValue(parsing: text)
      else { throw RehearsalError.noStamp(storePath) }
      body(&stamp)
      _ = try store.upsert([.object(stamp)], into: Provenance.soupName)
    }
  }

  private func withStore(now: Int64, _ body: (Store) throws -> Void) throws {
    let store = try Store(opening: storePath)
    store.clock = { now }
    try body(store)
    try store.close()
  }
}
