import Foundation
import SQLite
import SmartStore
import System
import TestSupport
import Testing

/// The reader in `Tests/Python`, which shares only the description of the format with this code.
enum IndependentReader {
  static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Python/smartstore_reader.py").path

  static func violations(_ paths: [String], _ platform: Platform) throws -> [String] {
    let result = try ChildProcess.run(
      "/usr/bin/env", ["python3", script, "--platform", platform.rawValue] + paths)
    let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n")
    #expect(result.status == (lines.isEmpty ? 0 : 1))
    #expect(String(decoding: result.error, as: UTF8.self) == "")
    return lines.map(String.init)
  }
}

@Suite struct StoreCheckTests {
  static let values = [
    #""text""#, #""""#, #""12""#, #""1.50""#, #""tab\t\u00fc\ud83d\ude80 \u0000""#, #""a/b""#, "0",
    "-0", "5", "-7", "2.0", "1.9", "-1.9", "1e3", "1E-5", "0.00123", "12345678.9", "1.0e25",
    "1e400", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "true", "false",
    "null", "[]", #"[1,2.0,"x/y",null,true]"#, "{}", #"{"b":1.0,"a":[{"c":"é"}]}"#,
  ]
  static let paths = ["v", "o.v", "a.v", "deep.a.v"]

  /// One element for each value, with the value at each of the paths, and one without.
  static var elements: [String] {
    values.enumerated().map { index, value in
      "{\"Id\":\"a0\(index)\",\"v\":\(value),\"o\":{\"v\":\(value)},"
        + "\"a\":[{\"v\":\(value)},{\"w\":1},{\"v\":\(value)}],"
        + "\"deep\":{\"a\":[[{\"v\":\(value)}],{\"v\":{\"v\":1}}]}}"
    } + ["{\"Id\":\"none\"}", "{\"v\":{\"v\":3},\"o\":7,\"a\":{},\"deep\":null}"]
  }

  static var specs: [IndexSpec] {
    [IndexSpec(path: "Id", type: .string)]
      + zip(paths, [IndexType.fullText, .string, .json1, .integer]).map(IndexSpec.init)
  }

  /// A store with a soup for each index type on each path, and one with all types.
  func make(_ platform: Platform, elements: Int = .max) throws -> TestStore {
    let test = try TestStore(platform)
    for type in IndexType.allCases {
      let specs =
        [IndexSpec(path: "Id", type: .string)] + Self.paths.map { IndexSpec(path: $0, type: type) }
      try test.store.registerSoup("soup of \(type.rawValue)", indexSpecs: specs)
      try test.store.upsert(Array(Self.elements.prefix(elements)), into: "soup of \(type.rawValue)")
    }
    try test.store.registerSoup("s", indexSpecs: Self.specs)
    _ = try load(
      .incremental, ["[" + Self.elements.dropLast().joined(separator: ",") + "]"], into: [test],
      specs: Self.specs)
    try test.store.remove([3], from: "s")
    return test
  }

  @Test(arguments: Platform.allCases)
  func `two readers of the format agree that a store is sound`(_ platform: Platform) throws {
    let test = try make(platform)
    let cold = try TestStore(platform)
    _ = try load(
      .cold, ["[" + Self.elements.dropLast().joined(separator: ",") + "]"], into: [cold],
      specs: Self.specs)
    try cold.store.close()
    try test.store.close()
    for path in [test.store.path, cold.store.path] {
      let check = StoreCheck(origin: .server, platform: platform)
      let found = try check.violations(at: path)
      #expect(found.isEmpty, "\(found)")
      let lines = try IndependentReader.violations([path], platform)
      #expect(lines.isEmpty, "\(lines)")
      let other = Platform.allCases.first { $0 != platform }
      #expect(try !StoreCheck(platform: other).violations(at: path).isEmpty)
    }
  }

  static let damage: KeyValuePairs = [
    "UPDATE TABLE_6 SET soup = '[1]' WHERE id = 2":
      "TABLE_6 row 2: the element is not a JSON object",
    "UPDATE TABLE_1 SET soup = '{' WHERE id = 2": "TABLE_1 row 2: the element is not a JSON object",
    "UPDATE TABLE_1 SET soup = x'7b7d' WHERE id = 2": "TABLE_1 row 2: the element is not text",
    "UPDATE TABLE_6 SET soup = NULL WHERE id = 2": "TABLE_6 row 2: the element is not text",
    "UPDATE TABLE_6 SET soup = json_set(soup, '$._soupEntryId', 9) WHERE id = 2":
      "TABLE_6 row 2: _soupEntryId is not",
    "UPDATE TABLE_6 SET soup = json_remove(soup, '$._soupEntryId') WHERE id = 2":
      "TABLE_6 row 2: _soupEntryId is not",
    "UPDATE TABLE_6 SET lastModified = 1 WHERE id = 2": "TABLE_6 row 2: _soupLastModifiedDate",
    "UPDATE TABLE_6 SET created = 'x' WHERE id = 2": "TABLE_6 row 2: created is not a time",
    "UPDATE TABLE_6 SET soup = json_set(soup, '$._soupCreatedDate', 9) WHERE id = 2":
      "TABLE_6 row 2: the element contains _soupCreatedDate",
    "UPDATE TABLE_6 SET TABLE_6_0 = 'other' WHERE id = 2": "TABLE_6 row 2 path Id: the column",
    "UPDATE TABLE_6 SET TABLE_6_2 = NULL WHERE id = 2": "TABLE_6 row 2 path o.v: the column",
    "UPDATE TABLE_6 SET TABLE_6_4 = 77 WHERE id = 2": "TABLE_6 row 2 path deep.a.v: the column",
    "UPDATE TABLE_6 SET soup = json_set(soup, '$.Id', 'a01'), TABLE_6_0 = 'a01' WHERE id = 7":
      "TABLE_6 row 2 path Id: several elements have this ID",
    "UPDATE sqlite_sequence SET seq = 3 WHERE name = 'TABLE_6'": "TABLE_6: sqlite_sequence is less",
    "DELETE FROM sqlite_sequence WHERE name = 'TABLE_6'": "TABLE_6: sqlite_sequence is less",
    "DELETE FROM TABLE_6_fts WHERE rowid = 5": "TABLE_6_fts row 5: the row is missing",
    "INSERT INTO TABLE_6_fts(rowid, TABLE_6_1) VALUES (999, 'x')":
      "TABLE_6_fts row 999: its element does not exist",
    "UPDATE TABLE_6_fts SET TABLE_6_1 = 'y' WHERE rowid = 5": "TABLE_6_fts row 5 path v: the words",
    "INSERT INTO TABLE_6_fts_docsize VALUES (7777, x'01')":
      "TABLE_6_fts row 7777: it has a length but no words",
    "UPDATE TABLE_6 SET created = lastModified + 1 WHERE id = 2":
      "TABLE_6 row 2: created is after lastModified",
    """
    UPDATE TABLE_6 SET soup = substr(soup, 1, length(soup) - 1) || ',"o":' ||
      json_extract(soup, '$.o') || '}' WHERE id = 2
    """: "TABLE_6 row 2: a name appears twice",
    """
    UPDATE TABLE_6 SET soup = substr(soup, 1, length(soup) - 1) || ',"x":[{"k":":","k":1}]}'
      WHERE id = 2
    """: "TABLE_6 row 2: a name appears twice",
    "DELETE FROM sqlite_sequence WHERE name = 'soup_attrs'": "sqlite_sequence: soup_attrs is less",
    "UPDATE sqlite_sequence SET seq = 5 WHERE name = 'soup_attrs'":
      "sqlite_sequence: soup_attrs is less",
    "INSERT INTO sqlite_sequence SELECT * FROM sqlite_sequence WHERE name = 'soup_attrs'":
      "sqlite_sequence: soup_attrs is less",
    "DROP INDEX TABLE_6_0_idx": "TABLE_6_0_idx: it is missing",
    "DROP INDEX TABLE_6_created_idx": "TABLE_6_created_idx: it is missing",
    "DROP INDEX TABLE_6_0_idx; CREATE INDEX TABLE_6_0_idx ON TABLE_6 ( TABLE_6_2 )":
      "TABLE_6_0_idx: it does not match",
    "DROP INDEX TABLE_6_0_idx; CREATE UNIQUE INDEX TABLE_6_0_idx ON TABLE_6 ( TABLE_6_0 )":
      "TABLE_6_0_idx: it does not match",
    "DROP INDEX TABLE_6_0_idx; CREATE INDEX TABLE_6_0_idx ON TABLE_6 ( TABLE_6_0 ) WHERE id > 3":
      "TABLE_6_0_idx: it does not match",
    "CREATE TRIGGER t AFTER INSERT ON TABLE_6 BEGIN SELECT 1; END": "t: a store has no trigger",
    "CREATE VIEW v AS SELECT 1": "v: a store has no view",
    "CREATE VIRTUAL TABLE r USING rtree(id, a, b)": "r: no registered soup has this table",
    "CREATE TABLE other (a)": "other: no registered soup has this table",
    "ALTER TABLE TABLE_6 ADD COLUMN extra TEXT": "TABLE_6: it does not match the meta tables",
    "ALTER TABLE TABLE_6 ADD COLUMN g TEXT GENERATED ALWAYS AS (upper(soup))":
      "TABLE_6: it does not match the meta tables",
    "ALTER TABLE soup_attrs RENAME soupName TO name": "soup_attrs: it does not match the SDK's",
    "DROP INDEX soup_attrs_0": "soup_attrs_0: it is missing",
    "DROP TABLE long_operations_status": "long_operations_status: it is missing",
    "DROP TABLE soup_index_map": "file: it has no table soup_index_map",
    "INSERT INTO long_operations_status (type) VALUES ('alterSoup')":
      "long_operations_status row 1: it contains a change that no SDK makes",
    "INSERT INTO soup_attrs (soupName) VALUES ('s')": "soup_attrs row 7: the soup is registered",
    "INSERT INTO soup_attrs (soupName) VALUES ('t')": "soup_attrs row 7: the soup has no index",
    "INSERT INTO soup_attrs (soupName) VALUES (NULL)": "soup_attrs row 7: a soup has no name",
    "INSERT INTO soup_index_map VALUES ('x', 'p', 'c', 'string')":
      "soup_index_map: it has indexes of an unregistered soup",
    "DELETE FROM soup_attrs WHERE soupName = 's'": "soup_index_map: it has indexes of an unreg",
    "UPDATE soup_index_map SET columnType = 'date' WHERE columnName = 'TABLE_6_2'":
      "soup_index_map row 28: an index of an unknown type",
    "UPDATE soup_index_map SET columnName = 'id; DROP' WHERE columnName = 'TABLE_6_2'":
      "soup_index_map row 28 path o.v: the column does not match the SDK's",
    "UPDATE soup_index_map SET columnType = 'string' WHERE columnName = 'TABLE_6_1'": "TABLE_6_fts",
  ]

  func damaged(_ sound: TestStore, _ number: Int) throws -> String {
    let path = sound.directory.file("damaged-\(number).sqlite")
    try FileManager.default.copyItem(atPath: sound.store.path, toPath: path)
    let connection = try Connection(path)
    try connection.execute(Self.damage[number].key)
    connection.close()
    return path
  }

  @Test(arguments: Platform.allCases)
  func `each kind of damage is found by both readers`(_ platform: Platform) throws {
    let sound = try make(platform, elements: 9)
    try sound.store.close()
    var paths: [String] = []
    // iOS treats an index of an unknown type as text.
    let damages = Self.damage.enumerated().filter {
      platform == .android || !$0.element.key.contains("columnType = 'date'")
    }
    for (number, damage) in damages {
      let path = try damaged(sound, number)
      paths.append(path)
      let found = try StoreCheck(origin: .server).violations(at: path).map(\.description)
      #expect(found.contains { $0.hasPrefix(damage.value) }, "\(damage.key): \(found)")
    }
    let lines = try IndependentReader.violations(paths, platform)
    for (path, damage) in zip(paths, damages.map(\.element)) {
      #expect(lines.contains { $0.hasPrefix(path + ":") }, "\(damage.key)")
    }
  }

  @Test(arguments: Platform.allCases)
  func `a store is compared with its configuration`(_ platform: Platform) throws {
    let test = try make(platform, elements: 3)
    try test.store.close()
    func found(_ soups: [StoreConfig.Soup]) throws -> [String] {
      try StoreCheck(config: StoreConfig(soups: soups)).violations(at: test.store.path)
        .map(\.description)
    }
    #expect(try found([.init(soupName: "s", indexes: Self.specs)]) == [])
    #expect(
      try found([.init(soupName: "t", indexes: Self.specs)])
        == [#"soup_attrs: the soup "t" from the configuration is missing"#])
    var specs = Array(Self.specs.dropLast())
    specs[0] = IndexSpec(path: "Id", type: .json1)
    specs.append(IndexSpec(path: "new", type: .string))
    #expect(
      try found([.init(soupName: "s", indexes: specs)]) == [
        "TABLE_6 path Id: it is not indexed as json1, as in the configuration",
        "TABLE_6 path new: the index from the configuration is missing",
        "TABLE_6 path deep.a.v: the configuration has no such index",
      ])
  }

  @Test func `a file that is not a store is reported, not thrown`() throws {
    let directory = TemporaryDirectory()
    let path = directory.file("x.sqlite")
    for bytes in [[], Array("no database at all".utf8), [UInt8](repeating: 0, count: 8192)] {
      try Data(bytes).write(to: URL(filePath: path))
      #expect(try StoreCheck().violations(at: path).count == 1)
      #expect(throws: StoreError.self) { try Store(untrusted: path) }
    }
    #expect(throws: StoreError.self) { try StoreCheck().violations(at: directory.file("none")) }
  }

  @Test(arguments: Platform.allCases)
  func `remains that a device leaves are not damage in a returned file`(_ platform: Platform) throws
  {
    let test = try make(platform)
    let connection = test.store.connection
    // The words of a removed element: `make` removes it.
    try connection.execute("INSERT INTO TABLE_6_fts(rowid, TABLE_6_1) VALUES (3, 'x')")
    try connection.execute("ALTER TABLE soup_attrs ADD COLUMN externalStorage INTEGER DEFAULT 0")
    try test.store.registerSoup("of the app", indexSpecs: [IndexSpec(path: "x", type: .fullText)])
    try test.store.close()
    #expect(try StoreCheck(origin: .device).violations(at: test.store.path) == [])
    #expect(try Store(untrusted: test.store.path).soupNames().last == "of the app")
  }

  /// The damage to the sync states of a sound store, and the start of its violation.
  static let syncDamage: KeyValuePairs = [
    "UPDATE TABLE_1 SET soup = json_set(soup, '$.status', 'Done') WHERE id = 2":
      "TABLE_1 row 2 path status: no SDK has this state of a sync",
    "UPDATE TABLE_1 SET soup = json_remove(soup, '$.status') WHERE id = 1":
      "TABLE_1 row 1 path status: no SDK",
    "UPDATE TABLE_1 SET soup = json_set(soup, '$.type', 'syncdown') WHERE id = 1":
      "TABLE_1 row 1 path type: no SDK has this type of sync",
    "UPDATE TABLE_1 SET soup = json_set(soup, '$.name', 'one') WHERE id = 3":
      "TABLE_1 row 3 path name: the sync in row 1 has the same name",
  ]

  @Test(arguments: Platform.allCases)
  func `invalid sync states, and two syncs with one name, are found by both readers`(
    _ platform: Platform
  ) throws {
    let sound = try TestStore(platform)
    let specs = ["type", "name", "status"].map { IndexSpec(path: $0, type: .json1) }
    try sound.store.registerSoup("syncs_soup", indexSpecs: specs)
    try sound.store.upsert(
      [
        #"{"type":"syncDown","name":"one","status":"DONE"}"#,
        #"{"type":"syncUp","name":"two","status":"NEW"}"#,
        #"{"type":"syncDown","name":"three","status":"STOPPED"}"#,
        #"{"type":"syncDown","status":"RUNNING"}"#, #"{"type":"syncUp","status":"FAILED"}"#,
      ], into: "syncs_soup")
    try sound.store.close()
    #expect(try StoreCheck(origin: .server).violations(at: sound.store.path) == [])
    #expect(try IndependentReader.violations([sound.store.path], platform) == [])
    for (number, damage) in Self.syncDamage.enumerated() {
      let path = sound.directory.file("damaged-\(number).sqlite")
      try FileManager.default.copyItem(atPath: sound.store.path, toPath: path)
      let connection = try Connection(path)
      try connection.execute(damage.key)
      connection.close()
      for origin in [StoreCheck.Origin.server, .device] {
        let found = try StoreCheck(origin: origin).violations(at: path).map(\.description)
        #expect(found.count == 1 && found[0].hasPrefix(damage.value), "\(damage.key): \(found)")
      }
      #expect(try !IndependentReader.violations([path], platform).isEmpty, "\(damage.key)")
    }
  }

  @Test(arguments: Platform.allCases)
  func `words of a missing element are damage in any file`(_ platform: Platform) throws {
    let test = try make(platform, elements: 9)
    try test.store.connection.execute("INSERT INTO TABLE_6_fts(rowid, TABLE_6_1) VALUES (999, 'x')")
    try test.store.close()
    #expect(
      try StoreCheck(origin: .device).violations(at: test.store.path).map(\.description)
        == ["TABLE_6_fts row 999: its element does not exist and never did"])
  }
}
