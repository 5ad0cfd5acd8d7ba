import JSON
import Testing

@testable import SmartStore

/// Random operations on a store, compared after each with a model in memory.
@Suite struct ModelTests {
  /// What a soup should hold.
  struct Model {
    var elements: [Int64: JSONObject] = [:]
    var lastID: Int64 = 0
  }

  let kinds = StoreCheckTests.values

  func element(_ random: inout SplitMix) throws -> JSONObject {
    var text = "{\"key\":\"k\(Int.random(in: 0..<40, using: &random))\""
    for path in ["s", "i", "f", "t", "j"] where Bool.random(using: &random) {
      text += ",\"\(path)\":\(kinds.randomElement(using: &random) ?? "null")"
    }
    return try JSONValue(parsing: text + "}").object ?? JSONObject()
  }

  @Test(arguments: Platform.allCases)
  func `a store holds what a dictionary would`(_ platform: Platform) throws {
    let seed: UInt64 = 77
    var random = SplitMix(state: seed)
    let test = try TestStore(platform)
    var specs = [IndexSpec(path: "key", type: .string)]
    for (path, type) in zip(["s", "i", "f", "t", "j"], IndexType.allCases) {
      specs.append(IndexSpec(path: path, type: type))
    }
    try test.store.registerSoup("s", indexSpecs: specs)
    var model = Model()
    for step in 0..<250 {
      test.now += 1
      try change(test, &model, &random)
      let stored = try test.store.retrieve(model.elements.keys.sorted(), from: "s")
      let expected = model.elements.sorted { $0.key < $1.key }.map { JSONValue.object($0.value) }
      #expect(
        try stored.map { try JSONValue(parsing: $0) } == expected, "seed \(seed) step \(step)")
      #expect(try test.store.count(of: "s") == model.elements.count)
    }
    try test.store.close()
    let found = try StoreCheck(origin: .server).violations(at: test.store.path)
    #expect(found.isEmpty, "seed \(seed): \(found)")
  }

  func change(_ test: TestStore, _ model: inout Model, _ random: inout SplitMix) throws {
    let ids = model.elements.keys.sorted()
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<9:
      let element = try element(&random)
      try test.store.upsert([.object(element)], into: "s")
      model.lastID += 1
      var stored = element
      stored["_soupEntryId"] = JSONValue(model.lastID)
      stored["_soupLastModifiedDate"] = JSONValue(test.now)
      model.elements[model.lastID] = stored
    case 9..<13:
      guard let id = ids.randomElement(using: &random) else { return }
      var element = try element(&random)
      element["_soupEntryId"] = JSONValue(id)
      try test.store.upsert([.object(element)], into: "s")
      element["_soupLastModifiedDate"] = JSONValue(test.now)
      model.elements[id] = element
    case 13..<16: try upsertByKey(test, &model, &random)
    case 16..<19:
      let gone = ids.filter { _ in Int.random(in: 0..<8, using: &random) == 0 }
      try test.store.remove(gone, from: "s")
      for id in gone { model.elements[id] = nil }
    default:
      guard Int.random(in: 0..<4, using: &random) == 0 else { return }
      try test.store.clearSoup("s")
      model.elements = [:]
    }
  }

  func upsertByKey(
    _ test: TestStore, _ model: inout Model, _ random: inout SplitMix
  ) throws {
    var element = try element(&random)
    let same = model.elements.filter { $0.value["key"] == element["key"] }.keys.sorted()
    if same.count > 1 {
      #expect(throws: StoreError.externalIDNotUnique(soup: "s", path: "key", element: 0)) {
        try test.store.upsert([.object(element)], into: "s", externalIDPath: "key")
      }
      return
    }
    try test.store.upsert([.object(element)], into: "s", externalIDPath: "key")
    if same.isEmpty { model.lastID += 1 }
    let id = same.first ?? model.lastID
    element["_soupEntryId"] = JSONValue(id)
    element["_soupLastModifiedDate"] = JSONValue(test.now)
    model.elements[id] = element
  }
}
