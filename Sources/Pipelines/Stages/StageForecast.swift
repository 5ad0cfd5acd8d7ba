import JSON
import Ledger
import System

/// The expected cost of a stage.
package struct StageForecast: Sendable {
  /// The expected requests, records and bytes; the time is not estimated.
  package var cost: StageCost
  /// Whether the cost is a lower bound: the stage never ran before, and not everything can be
  /// counted in advance.
  package var isAtLeast = false
  /// Whether the bytes can be estimated.
  package var knowsBytes = true
  /// The cost of the last run of the stage, and that run's ID.
  package var last: (run: String, cost: StageCost)?

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

  /// A line for the expected cost, and one for the last run.
  package var lines: [String] {
    let name = cost.stage.rawValue
    // A prime also reads records that have not changed, as it looks back before the last one.
    let work =
      cost.stage == .prime
      ? CountText.of(cost.records, "record") + " to read (changed or not)"
      : CountText.of(cost.records, "edit")
    let parts = [
      CountText.of(cost.requests, "request"), work,
      knowsBytes ? ByteCount.text(cost.bytes) : nil,
    ].compactMap(\.self)
    var lines = ["\(name): \(isAtLeast ? "at least" : "about") \(parts.joined(separator: ", "))"]
    if let last {
      lines.append(
        "\(name): for comparison, the last run: \(last.cost.words), in \(last.cost.duration) (run \(last.run))"
      )
    }
    return lines
  }
}

/// The costs of earlier runs, from the ledger.
struct RunHistory {
  /// A run that completed a stage.
  private struct Past {
    var run: String
    var cost: StageCost
    /// The number of records fetched, by snapshot and soup.
    var fetched: [String: [String: Int]]
  }

  private let past: [Past]

  /// The number of last runs that are examined.
  private static let length = 50

  /// Reads the runs of a ledger that completed a stage, newest first.
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

  /// The cost of the stage in its last run.
  var last: (run: String, cost: StageCost)? { past.first.map { ($0.run, $0.cost) } }

  /// Returns the number of records of each soup that the last prime of a snapshot fetched; nil if
  /// there was none.
  func fetched(of snapshot: String) -> [String: Int]? {
    past.lazy.compactMap { $0.fetched[snapshot] }.first
  }

  /// The number of snapshots that the last run primed.
  var snapshots: Int { past.first?.fetched.count ?? 0 }

  /// The bytes per record, from the run with the most records; nil if none were fetched.
  var bytesOfRecord: Double? {
    guard let most = past.map(\.cost).max(by: { $0.records < $1.records }), most.records > 0 else {
      return nil
    }
    return Double(most.bytes) / Double(most.records)
  }
}
