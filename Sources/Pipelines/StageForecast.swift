import JSON
import Ledger
import System

/// What a stage will probably ask of the org.
package struct StageForecast: Sendable {
  /// The requests, records and bytes that are expected; of the time nothing is said.
  package var cost: StageCost
  /// Whether there may well be more: it was never done, and not all can be counted ahead.
  package var isAtLeast = false
  /// Whether the bytes can be told.
  package var knowsBytes = true
  /// What the stage took when it was last done, and in which run.
  package var last: (run: String, cost: StageCost)?

  /// As one JSON object.
  package var json: JSONValue {
    var object: JSONObject = [
      "stage": .string(cost.stage.rawValue), "requests": JSONValue(cost.requests),
      "records": JSONValue(cost.records), "bytes": knowsBytes ? JSONValue(cost.bytes) : .null,
      "atLeast": .bool(isAtLeast), "last": .null,
    ]
    if let last {
      var told = last.cost.json.object ?? [:]
      told["stage"] = nil
      told["run"] = .string(last.run)
      object["last"] = .object(told)
    }
    return .object(object)
  }

  /// A line for what is expected, and one for the last time.
  package var lines: [String] {
    let name = cost.stage.rawValue
    let unit = cost.stage == .prime ? "record" : "edit"
    let parts = [
      ByteCount.count(cost.requests, "request"), ByteCount.count(cost.records, unit),
      knowsBytes ? ByteCount.text(cost.bytes) : nil,
    ].compactMap(\.self)
    var lines = ["\(name): \(isAtLeast ? "at least" : "about") \(parts.joined(separator: ", "))"]
    if let last {
      lines.append(
        "\(name): last time \(last.cost.words), in \(last.cost.duration) (run \(last.run))")
    }
    return lines
  }
}

/// What earlier runs took, from the ledger.
struct RunHistory {
  /// A run that did a stage.
  private struct Past {
    var run: String
    var cost: StageCost
    /// Records that were fetched, by snapshot and soup.
    var fetched: [String: [String: Int]]
  }

  private let past: [Past]

  /// So many of the last runs are looked at.
  private static let length = 50

  /// The runs of a ledger that did a stage to its end, the newest first.
  init(_ stage: Stage, _ ledger: LedgerDatabase) throws {
    past = try ledger.runs(limit: Self.length).compactMap { row in
      guard let text = row.summary, let summary = try? JSONValue(parsing: Array(text.utf8)),
        let cost = summary["stages"]?.array?.compactMap(StageCost.init).first(where: {
          $0.stage == stage
        })
      else { return nil }
      var fetched: [String: [String: Int]] = [:]
      for snapshot in summary["snapshots"]?.array ?? [] {
        guard let id = snapshot["id"]?.string else { continue }
        for soup in snapshot["soups"]?.array ?? [] {
          guard let name = soup["soup"]?.string, let count = soup["fetched"]?.int else { continue }
          fetched[id, default: [:]][name] = Int(count)
        }
      }
      return Past(run: row.id, cost: cost, fetched: fetched)
    }
  }

  /// What the stage took when it was last done.
  var last: (run: String, cost: StageCost)? { past.first.map { ($0.run, $0.cost) } }

  /// How many records of each soup the last run fetched that primed a snapshot; nil for none.
  func fetched(of snapshot: String) -> [String: Int]? {
    past.lazy.compactMap { $0.fetched[snapshot] }.first
  }

  /// How many snapshots the last run primed.
  var snapshots: Int { past.first?.fetched.count ?? 0 }

  /// The bytes of a record, as the run with the most of them tells; nil where none was fetched.
  var bytesOfRecord: Double? {
    guard let most = past.map(\.cost).max(by: { $0.records < $1.records }), most.records > 0 else {
      return nil
    }
    return Double(most.bytes) / Double(most.records)
  }
}
