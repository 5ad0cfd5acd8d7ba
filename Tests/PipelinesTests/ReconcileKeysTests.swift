import Foundation
import JSON
import Testing

@Suite struct ReconcileKeysTests {
  /// A row of the table of the keys of `reconcile` in `docs/configuration.md`.
  struct Row: CustomTestStringConvertible {
    var keys: String
    var accepted: String

    var testDescription: String { keys }
  }

  static let rows: [Row] = {
    let path = PipelineSchemaTests.root.appending(path: "docs/configuration.md")
    let text = (try? String(contentsOf: path, encoding: .utf8)) ?? ""
    let section = text.split(separator: "### The keys of `reconcile` together\n").last ?? ""
    return section.prefix(while: { $0 != "#" }).split(separator: "\n").compactMap { line in
      guard line.hasPrefix("| `\"") else { return nil }
      let cells = line.split(separator: " | ")
      return Row(keys: String(cells[0].dropFirst(3).dropLast()), accepted: String(cells[1]))
    }
  }()

  @Test(arguments: rows)
  func `a combination of keys is accepted as the documentation says`(_ row: Row) throws {
    let accepting = try ["LEAVE_IF_CHANGED", "OVERWRITE"].filter { mode in
      try BrokenConfigurationTests().problems([
        .pipeline(#""limits""#, "\"reconcile\": {\(row.keys)}, \"limits\""),
        .syncs("LEAVE_IF_CHANGED", mode),
      ]) == ""
    }
    let expected = [
      "yes": ["LEAVE_IF_CHANGED", "OVERWRITE"], "with LEAVE_IF_CHANGED": ["LEAVE_IF_CHANGED"],
      "no": [],
    ]
    #expect(accepting == expected[row.accepted])
  }

  @Test func `the table has every key`() throws {
    let path = PipelineSchemaTests.root.appending(path: "docs/pipeline.schema.json")
    let schema = try JSONValue(parsing: Array(Data(contentsOf: path)))
    let keys = try #require(schema["properties"]?["reconcile"]?["properties"]?.object).names
    let named = try Self.rows.reduce(into: Set<String>()) { names, row in
      names.formUnion(try JSONValue(parsing: "{\(row.keys)}").object?.names ?? [])
    }
    #expect(keys.count == 13)
    #expect(named == Set(keys))
  }
}
