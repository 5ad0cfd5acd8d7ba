import Bundles
import JSON
import Testing

/// A store and its delta, for `ForeignSQLCipher.apply`.
struct DeltaJob {
  let device: String
  /// The passphrase of the store; nil if it is plain.
  var key: String?
  /// The passphrase that it gets first.
  var rekey: String?
  let delta: String
  /// The passphrase of the delta; nil if it is plain.
  var deltaKey: String?
  let soups: [StoreDelta.Soup]
  /// The numbers of changes after which the program is killed on a copy.
  var kills: [Int] = []

  /// The statements that change the rows.
  static func changes(_ soups: [StoreDelta.Soup]) -> [String] {
    soups.flatMap { StoreDelta.statements($0) } + StoreDelta.sequences
  }

  func value() throws -> JSONValue {
    func texts(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
    func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
    let mark = try #require(StoreDelta.mark(soups))
    var value: JSONObject = [:]
    value["device"] = .string(device)
    value["key"] = text(key)
    value["rekey"] = text(rekey)
    value["export"] = .bool(key == nil && rekey != nil)
    value["delta"] = .string(delta)
    value["deltaKey"] = text(deltaKey)
    value["checks"] = texts(StoreDelta.conditions(soups).map(\.query))
    value["changes"] = texts(Self.changes(soups))
    value["results"] = texts(StoreDelta.results(soups).map(\.query))
    value["mark"] = .string(mark)
    value["kills"] = .array(kills.map { JSONValue($0) })
    return .object(value)
  }
}
