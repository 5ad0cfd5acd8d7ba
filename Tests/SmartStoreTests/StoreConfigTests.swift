import Foundation
import JSON
import SmartStore
import Testing

@Suite struct StoreConfigTests {
  static let samples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Fixtures/samples")

  @Test(arguments: ["accounts", "briefcase", "contacts", "users"])
  func `the documentation's samples are read and written`(name: String) throws {
    let url = Self.samples.appendingPathComponent("\(name).userstore.json")
    let bytes = Array(try Data(contentsOf: url))
    let config = try StoreConfig(json: bytes, file: name)
    #expect(config.json == (try JSONValue(parsing: bytes)))
    #expect(try StoreConfig(json: config.json.bytes, file: name) == config)
  }

  @Test func `soups and indexes keep their order, and ignore what the SDKs ignore`() throws {
    let text = """
      {"soups": [{"soupName": "b", "features": ["externalStorage"], "indexes": [
        {"path": "Id", "type": "string", "columnName": "TABLE_1_0"},
        {"path": "a.b", "type": "full_text"}, {"path": "n", "type": "floating"}]},
       {"soupName": "a b", "indexes": [{"path": "j", "type": "json1"}]}]}
      """
    let config = try StoreConfig(json: Array(text.utf8), file: "f")
    #expect(config.soups.map(\.soupName) == ["b", "a b"])
    #expect(config["b"]?.indexes.map(\.type) == [.string, .fullText, .floating])
    #expect(config["b"]?.indexType(of: "a.b") == .fullText)
    #expect(config["c"] == nil)
  }
}
