import Foundation
import JSON
import Pipelines
import TestSupport
import Testing

@Suite struct PipelineSchemaTests {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  let schema: JSONSchema
  /// Every key, as in the sample, with all sources of users and all secrets of a login.
  let full: JSONValue
  init() throws {
    func load(_ path: String) throws -> JSONValue {
      try JSONValue(parsing: Array(Data(contentsOf: Self.root.appendingPathComponent(path))))
    }
    schema = JSONSchema(root: try load("docs/pipeline.schema.json"))
    full = try load("pipelines/samples/pipeline-example.json")
  }

  func walk(
    _ schema: JSONValue, _ path: [String], _ visit: (_ schema: JSONValue, _ path: [String]) -> Void
  ) {
    let schema = self.schema.resolved(schema)
    visit(schema, path)
    for (name, property) in schema["properties"]?.object ?? JSONObject() {
      walk(property, path + [name], visit)
    }
    if let items = schema["items"] { walk(items, path + ["0"], visit) }
  }

  func with(_ value: JSONValue?, _ path: ArraySlice<String>, _ new: JSONValue) -> JSONValue {
    guard let name = path.first else { return new }
    if let index = Int(name) {
      var elements = value?.array ?? []
      let element = with(elements.first, path.dropFirst(), new)
      if elements.isEmpty { elements = [element] } else { elements[index] = element }
      return .array(elements)
    }
    var object = value?.object ?? JSONObject()
    object[name] = with(object[name], path.dropFirst(), new)
    return .object(object)
  }

  func problems(_ value: JSONValue) throws -> [Problem] {
    let directory = TemporaryDirectory("schema")
    let path = directory.file("p.json")
    try Data(value.bytes).write(to: URL(fileURLWithPath: path))
    return PipelineFile.reading(path: path).problems
  }

  @Test func `every object has the keys that the reader knows`() throws {
    var objects: [(path: [String], names: [String])] = []
    walk(schema.root, []) { schema, path in
      guard let names = schema["properties"]?.object?.names else { return }
      objects.append((path, names))
    }
    #expect(objects.count > 15)
    for (path, names) in objects {
      // A table of users is only read if it is the only source.
      let base = path.contains("csv") ? with(full, ["users"], [:]) : full
      let found = try problems(with(base, (path + ["qqqqqqqqqq"])[...], 1))
      let unknown = try #require(
        found.first { $0.message.hasSuffix("has no key \"qqqqqqqqqq\"") }, "\(path)")
      let known = unknown.fix.components(separatedBy: "the keys are ").last ?? ""
      let keys = known.components(separatedBy: ", ").map {
        $0.replacingOccurrences(of: "\"", with: "")
      }
      #expect(Set(keys) == Set(names.filter { $0 != "$schema" }), "\(path)")
    }
  }

  @Test func `every list of keywords is the one that the reader knows`() throws {
    var lists: [(path: [String], words: [String])] = []
    walk(schema.root, []) { schema, path in
      guard let words = schema["enum"]?.array else { return }
      lists.append((path, words.compactMap(\.string)))
    }
    #expect(lists.count > 15)
    for (path, words) in lists {
      let found = try problems(with(full, path[...], "qqqqqqqqqq"))
      let refused = try #require(found.first { $0.message.hasPrefix("\"qqqqqqqqqq\" is not") })
      let listed = refused.fix.replacingOccurrences(of: "write ", with: "")
        .replacingOccurrences(of: "one of ", with: "").components(separatedBy: ", ")
      #expect(listed == words.map { "\"\($0)\"" }, "\(path)")
    }
  }

  @Test func `every default is that of the typed struct`() throws {
    let directory = Self.root.appendingPathComponent("pipelines/samples").path
    let reading = PipelineFile.reading(path: directory + "/pipeline-minimal.json")
    let effective = try #require(reading.pipeline).effectiveJSON
    // The minimal file has no deltas.
    let deltas = PackSettings.Deltas()
    let withDeltas: JSONValue = [
      "pack": [
        "deltas": ["from": JSONValue(deltas.from), "atMost": .string("\(deltas.atMost)")]
      ]
    ]
    var defaults = 0
    walk(schema.root, []) { schema, path in
      guard let standard = schema["default"], !path.contains("seal"), !path.contains("sign"),
        path.first != "keep"
      else { return }
      defaults += 1
      var value: JSONValue? = path.contains("deltas") ? withDeltas : effective
      for name in path { value = Int(name) == nil ? value?[name] : value?[0] }
      #expect(value == standard, "\(path)")
    }
    #expect(defaults > 40)
  }

  @Test(arguments: ["pipelines", "pipelines/samples"])
  func `every pipeline file in the tree meets the schema`(directory: String) throws {
    let url = Self.root.appendingPathComponent(directory)
    let names = try FileManager.default.contentsOfDirectory(atPath: url.path)
    for name in names where name.hasSuffix(".json") {
      let bytes = Array(try Data(contentsOf: url.appendingPathComponent(name)))
      guard let value = try? JSONValue(parsing: bytes), value["format"] != nil else { continue }
      #expect(schema.faults(value) == [], "\(directory)/\(name)")
    }
  }

  @Test(
    arguments: [
      (["name"], "Upper"), (["format"], 2), (["org", "login", "key"], "secret"),
      (["org", "login", "method"], "sf"), (["users", "self"], true), (["zzz"], 1),
      (["prime", "ghosts", "maxDeletes"], 10), (["prime", "ghosts", "maxDeletes"], "101%"),
      (["platforms"], []), (["platforms"], ["ios", "ios"]), (["limits", "jobs"], 0),
      (["stores", "0", "scope"], "users"), (["reconcile", "detectEdits"], "guess"),
      (["inbox", "acceptExpired"], "true"), (["org", "url"], ["env": "A", "file": "b"]),
    ] as [([String], JSONValue)])
  func `the schema and the reader refuse the same files`(path: [String], value: JSONValue) throws {
    let broken = with(full, path[...], value)
    #expect(!schema.faults(broken).isEmpty)
    let before = try problems(full).count
    #expect(try problems(broken).count > before)
  }
}
