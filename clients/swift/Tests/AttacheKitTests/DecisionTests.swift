import Foundation
import Testing

@testable import AttacheKit

/// The table of `clients/decisions.json`.
struct Table: Decodable {
  struct Rule: Decodable {
    let `if`: [String: Bool]
    let then: String
  }
  struct Case: Decodable {
    struct Expected: Decodable {
      let action: String
      let offer: Int?
      let isExpired: Bool?
    }
    let name: String
    let now: Date
    let installed: Installed?
    let offers: [Offered]
    let expect: Expected
  }
  struct Refused: Decodable {
    enum Value: Decodable {
      case text(String), number(Int)

      init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self =
          try (try? container.decode(Int.self)).map(Value.number)
          ?? .text(container.decode(String.self))
      }

      var any: Any {
        switch self {
        case .text(let text): text
        case .number(let number): number
        }
      }
    }
    let name: String
    let change: [String: Value]
    let code: String?
  }
  let facts: [String: String]
  let rules: [Rule]
  let cases: [Case]
  let refusals: [Refused]

  static func read() throws -> Table {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../decisions.json").standardizedFileURL
    return try JSON.decoder().decode(Table.self, from: Data(contentsOf: file))
  }
}

@Suite struct DecisionTests {
  @Test func everyCombinationOfTheFacts() throws {
    let table = try Table.read()
    let names: [(String, WritableKeyPath<Facts, Bool>)] = [
      ("newer", \.newer), ("delta", \.delta), ("work", \.work), ("changed", \.changed),
      ("returned", \.returned), ("included", \.included), ("overdue", \.overdue),
    ]
    #expect(Set(names.map(\.0)) == Set(table.facts.keys))
    for set in 0..<1 << names.count {
      var facts = Facts()
      var values: [String: Bool] = [:]
      for (index, name) in names.enumerated() {
        facts[keyPath: name.1] = set >> index & 1 == 1
        values[name.0] = set >> index & 1 == 1
      }
      let rule = table.rules.first { $0.if.allSatisfy { values[$0.key] == $0.value } }
      #expect(facts.action.rawValue == rule?.then, "\(values)")
    }
  }

  @Test func everyCase() throws {
    for one in try Table.read().cases {
      let decision = Decision(one.installed, one.offers, now: one.now)
      #expect(decision.action.rawValue == one.expect.action, "\(one.name)")
      #expect(decision.offer == one.expect.offer, "\(one.name)")
      #expect(decision.isExpired == (one.expect.isExpired ?? false), "\(one.name)")
    }
  }
}
