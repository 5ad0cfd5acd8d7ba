import Foundation
import Testing

@testable import AttacheKit

/// The bundles that `Tests/Kits/run.py` made, and phones in a directory of their own.
final class Scene {
  private struct Facts: Decodable {
    let sign, other, org, user: String
    let sqlcipher: [String]
  }

  static let isThere = ProcessInfo.processInfo.environment["ATTACHE_KIT_SCENE"] != nil
  static var hasCipher: Bool { (try? Scene())?.cipher.isEmpty == false }
  static let now = Date(timeIntervalSince1970: 1_770_681_600)

  let place: URL
  let work: URL
  let keys: [String]
  let owner: Owner
  /// The command that runs SQLCipher; empty if it is missing.
  let cipher: [String]

  init() throws {
    let path = try #require(ProcessInfo.processInfo.environment["ATTACHE_KIT_SCENE"])
    place = URL(fileURLWithPath: path)
    work = FileManager.default.temporaryDirectory.appendingPathComponent("kit-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
    let facts = try JSONDecoder().decode(
      Facts.self, from: Data(contentsOf: place.appendingPathComponent("scene.json")))
    (keys, cipher) = ([facts.sign, facts.other], facts.sqlcipher)
    owner = Owner(org: facts.org, user: facts.user, pipeline: "visits", platform: .ios)
  }

  deinit { try? FileManager.default.removeItem(at: work) }

  func bundle(_ generation: Int, _ platform: String = "ios") -> URL {
    place.appendingPathComponent("\(generation)/\(platform).bundle.zip")
  }

  var delta: URL { place.appendingPathComponent("ios.delta.1-2.zip") }

  /// The passphrase of the sealed archives.
  static let passphrase = "bm90IGEgc2VjcmV0LCBvbmx5IGEgdGVzdCdzIHdvcmQ="

  /// A bundle whose archive is sealed, of a generation, or the delta between two.
  func sealed(_ name: String) -> URL { place.appendingPathComponent("ios.\(name).archive.zip") }

  func kit(_ name: String, passphrase: String? = nil) throws -> Attache {
    Attache(
      root: work.appendingPathComponent(name), owner: owner,
      trust: try Trust(keys: keys.reversed()), passphrase: passphrase
    ) { file, form in
      #expect(form == .plain)
      return try SQLiteDatabase(file)
    }
  }

  func installed(_ name: String) throws -> Attache {
    let kit = try kit(name)
    try kit.install(kit.verify(bundle(1)), now: Self.now)
    return kit
  }

  static let globalStore = "stores/defaultStore/store.sqlite"
  var userStore: String {
    "\(owner.org)/\(owner.user)/internal/stores/defaultStore/store.sqlite"
  }

  func file(_ name: String, _ store: String? = nil) -> URL {
    work.appendingPathComponent(name).appendingPathComponent(store ?? userStore)
  }

  func stamps(_ name: String) throws -> [Store.Stamp?] {
    try [userStore, Self.globalStore].map {
      try Store($0, SQLiteDatabase(file(name, $0))).stamp()
    }
  }

  /// Changes a row as the SDK does.
  func edit(_ name: String, _ row: Int, isLocal: Bool = true) throws {
    try Self.edit(SQLiteDatabase(file(name)), row, isLocal: isLocal)
  }

  static func edit(_ database: any Database, _ row: Int, isLocal: Bool = true) throws {
    func one(_ sql: String) throws -> String { try database.query(sql, [])[0][0] ?? "" }
    let table = try "TABLE_" + one("SELECT id FROM soup_attrs WHERE soupName = 'accounts'")
    let column = try one(
      "SELECT columnName FROM soup_index_map WHERE soupName = 'accounts' AND path = '__local__'")
    let id = try one("SELECT id FROM \(table) ORDER BY id LIMIT 1 OFFSET \(row)")
    try database.execute(
      """
      UPDATE \(table) SET soup = json_set(soup, '$.__local__', json('\(isLocal)'),
      '$.__last_error__', 'Not sent.'), lastModified = lastModified + 1000,
      \(column) = '\(isLocal ? 1 : 0)' WHERE id = \(id)
      """, [])
  }

  /// Every row of the user's store, without the mark of the installation.
  func content(_ name: String) throws -> String {
    try Self.content(SQLiteDatabase(file(name)))
  }

  static func content(_ database: any Database) throws -> String {
    var lines: [[String?]] = []
    for soup in try database.query("SELECT soupName, id FROM soup_attrs ORDER BY id", []) {
      let columns = soup[0] == "attache_stamp" ? "id, json_extract(soup, '$.stampId')" : "*"
      lines += try database.query("SELECT \(columns) FROM TABLE_\(soup[1]!) ORDER BY id", [])
    }
    lines += try database.query("SELECT name, seq FROM sqlite_sequence ORDER BY name", [])
    #expect(try database.query("PRAGMA integrity_check", [])[0][0] == "ok")
    return lines.map { $0.map { $0 ?? "" }.joined(separator: "\t") }.joined(separator: "\n")
  }

  /// A copy of a bundle in which an entry has another content; a nil one removes it.
  func rewritten(_ archive: URL, _ name: String, _ entry: String, _ content: Data?) throws -> URL {
    let copy = work.appendingPathComponent(name)
    let reader = try ZipReader(archive)
    var writer = try ZipWriter(copy)
    for one in reader.entries {
      let bytes = one.name == entry ? content : try reader.read(one, limit: 1 << 30)
      if let bytes { try writer.add(data: bytes, as: one.name) }
    }
    if let content, !reader.entries.contains(where: { $0.name == entry }) {
      try writer.add(data: content, as: entry)
    }
    try writer.finish()
    try FileManager.default.copyItem(atPath: archive.path + ".sig", toPath: copy.path + ".sig")
    return copy
  }
}

/// The code of the refusal that a call throws.
func refusal(_ body: () throws -> Void) -> Refusal.Code? {
  do { try body() } catch { return (error as? Refusal)?.code }
  return nil
}
