import JSON
import LocalOrg
import SQLite
import SmartStore
import System
import Testing

/// A served org, and `attache sync` called on a store as a user calls it.
struct SyncScene {
  let world: World
  let store: String
  init(
    server: (inout OrgServer.Options) -> Void = { _ in },
    _ change: (World) throws -> Void = { _ in }
  ) throws {
    world = try World(server: server)
    store = world.directory.file("store.sqlite")
    try change(world)
  }

  /// A scene whose store is created from a sample, with all its syncs run.
  init(primed sample: String) throws {
    try self.init()
    try prime(sample)
  }

  struct Outcome {
    let status: Int32
    let output: String
    let error: String

    func lines() throws -> [JSONValue] {
      try output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
    }

    func summary() throws -> JSONValue { try #require(try lines().last) }
  }

  func attache(_ words: [String], without: [String] = []) throws -> Outcome {
    var variables = ProcessEnvironment.variables()
    variables.merge(world.variables) { $1 }
    for name in without { variables[name] = nil }
    let result = try ChildProcess.run(ChildRun.executable, words, environment: variables)
    let outcome = Outcome(
      status: result.status, output: String(decoding: result.output, as: UTF8.self),
      error: String(decoding: result.error, as: UTF8.self))
    #expect(!(outcome.output + outcome.error).contains("PRIVATE KEY"))
    return outcome
  }

  static let login = ["--key-env", "ATTACHE_JWT_KEY", "--username", "ada@example.com"]

  func sync(_ words: String...) throws -> Outcome {
    try attache(["sync", "run", "--store", store] + words + Self.login)
  }

  static func files(_ sample: String, _ platform: Platform = .ios) -> [String] {
    let path = World.repository + "/pipelines/samples/" + sample
    return [
      "--config", path + ".usersyncs.json", "--store-config", path + ".userstore.json",
      "--platform", platform.rawValue,
    ]
  }

  @discardableResult func prime(_ sample: String, _ platform: Platform = .ios) throws -> Outcome {
    try attache(
      ["sync", "run", "--store", store, "--all"] + Self.files(sample, platform) + Self.login)
  }

  func elements(_ soup: String) throws -> [JSONValue] {
    let opened = try Store(opening: store, readOnly: true)
    var elements: [JSONValue] = []
    try opened.forEachElement(in: soup) { elements.append(try $0.value()) }
    try opened.close()
    return elements
  }

  /// The elements that an app considers changed.
  func dirty(_ soup: String) throws -> [JSONValue] {
    try elements(soup).filter { $0["__local__"] == true }
  }

  func edit(_ soup: String, _ id: String, _ change: (inout JSONObject) -> Void) throws {
    let opened = try Store(opening: store)
    var object = try #require(try opened.elements(in: soup, where: "Id", is: id).first?.object)
    object["__local__"] = true
    change(&object)
    try opened.upsert([.object(object)], into: soup)
    try opened.close()
  }

  func rename(_ soup: String, _ id: String, _ field: String, _ value: String) throws {
    try edit(soup, id) {
      $0[field] = .string(value)
      $0["__locally_updated__"] = true
    }
  }

  /// Changes the text of elements as no SDK does.
  func rewrite(_ soup: String, _ old: String, _ new: String) throws {
    let connection = try Connection(store, mode: .readWrite)
    let number = try connection.integer("SELECT id FROM soup_attrs WHERE soupName = \(soup)")
    let table = "TABLE_\(try #require(number))"
    try connection.run("UPDATE \(raw: table) SET soup = replace(soup, \(old), \(new))")
  }

  func create(_ soup: String, _ type: String, _ fields: JSONObject) throws {
    let opened = try Store(opening: store)
    var object: JSONObject = [
      "Id": "local_17", "attributes": .object(["type": .string(type)]), "__local__": true,
      "__locally_created__": true, "__locally_updated__": false, "__locally_deleted__": false,
    ]
    for (name, value) in fields { object[name] = value }
    try opened.upsert([.object(object)], into: soup)
    try opened.close()
  }

  func ownIDs(_ soup: String, _ type: String) throws -> [String] {
    let ada = try world.user("ada")
    return try elements(soup).compactMap { $0["Id"]?.string }
      .filter { try world.record(type, $0)["OwnerId"]?.string == ada.id }.sorted()
  }
}
