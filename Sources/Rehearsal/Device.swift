import Snapshots
import Bundles
import Crypto
import JSON
import SmartStore
import System

/// A phone in a rehearsal: it installs a bundle, its user edits records, and it hands the store back.
///
/// It does to the file what an app built on the Mobile SDK does: whole elements are replaced, local
/// flags are set, and the stamp's `install` and `handback` are kept as docs/app-integration.md asks.
package struct Device: Sendable {
  /// Which SDK's layout its store has.
  package let platform: Platform
  /// The store file.
  package let storePath: String

  /// A device whose store already stands at `storePath`.
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

  /// Marks the store as installed here: a fresh `install` in its stamp.
  package func install(now: Int64) throws {
    try withStamp(now: now) { stamp in
      stamp["install"] = .string(RandomBytes.uuid())
      stamp["handback"] = .number("0")
    }
  }

  /// Changes fields of the record with this server id.
  package func edit(_ soup: String, id: String, _ fields: JSONObject, now: Int64) throws {
    try change(soup, id: id, now: now) { element in
      for (name, value) in fields { element[name] = value }
      element["__locally_updated__"] = true
    }
  }

  /// Changes fields of the record with this server id as an app does that sets no flags.
  package func write(_ soup: String, id: String, _ fields: JSONObject, now: Int64) throws {
    try change(soup, id: id, now: now, isLocal: false) { element in
      for (name, value) in fields { element[name] = value }
    }
  }

  /// Changes fields of a record that came open, as an app does that has shown its user why.
  package func mend(_ soup: String, id: String, _ fields: JSONObject, now: Int64) throws {
    try change(soup, id: id, now: now) { element in
      for (name, value) in fields { element[name] = value }
      element["__locally_updated__"] = true
      element["__last_error_shown__"] = element["__last_error__"]
    }
  }

  /// Marks the record with this server id as deleted.
  package func delete(_ soup: String, id: String, now: Int64) throws {
    try change(soup, id: id, now: now) { $0["__locally_deleted__"] = true }
  }

  /// Marks the record with this server id as clean, as an app does that took an edit back or sent it.
  package func clean(_ soup: String, id: String, now: Int64) throws {
    try change(soup, id: id, now: now, isLocal: false) { element in
      for flag in ["created", "updated", "deleted"] { element["__locally_\(flag)__"] = false }
    }
  }

  /// Creates a record; answers its local id.
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

  /// Raises `handback` and copies the store to `path`, under its final name at once.
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

  /// What was handed back last.
  private var handedPath: String { storePath + ".handed" }

  /// Says whether the app may install a bundle over its store, as docs/app-integration.md has it.
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

  /// The elements that were edited, or came open, and that no hand-back has settled.
  package func dirtyElements() throws -> Set<JSONValue> { try Self.state(of: storePath).dirty }

  /// The stamp of a store, and its dirty elements.
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

  /// The elements of a soup, as JSON.
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
