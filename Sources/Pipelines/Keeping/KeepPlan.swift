import JSON
import System

/// The files and values to remove and to keep, by `KeepRule`.
package struct KeepPlan: Sendable {
  /// The kinds of items that may be removed.
  package enum Kind: String, Sendable, CaseIterable {
    /// The stores and bundles of an old generation.
    case generation
    /// The issued records of a generation.
    case issued
    /// The description of a generation whose stores and issued records are gone.
    case record
    /// A return whose edits are in the ledger.
    case returned
    /// A refused return that was ingested after all.
    case quarantined
    case report
    /// The values of resolved edits in the ledger.
    case values
    /// The ledger's data about a run, other than its edits.
    case run

    /// Returns a count of items as text.
    package func words(_ count: Int) -> String {
      switch self {
      case .generation: "stores and bundles of \(CountText.of(count, "generation"))"
      case .issued: "issued records of \(CountText.of(count, "generation"))"
      case .record: "records of \(CountText.of(count, "generation"))"
      case .returned: CountText.of(count, "processed return")
      case .quarantined: CountText.of(count, "refused return") + ", ingested since"
      case .report: CountText.of(count, "report")
      case .values: "values of \(CountText.of(count, "resolved edit"))"
      case .run: "summaries of \(CountText.of(count, "run"))"
      }
    }
  }

  /// One item.
  package struct Item: Sendable, Hashable {
    package var kind: Kind
    /// The snapshot that it belongs to; nil for none.
    package var snapshot: String?
    /// Its ID: a generation's number, a digest, or a run.
    package var id: String
    /// The name shown to operators.
    package var name: String
    /// The size of its files in bytes.
    package var bytes: Int64
    /// The reasons to keep it; empty if it is removed.
    package var because: [String] = []
  }

  /// The time of the plan, in ms by the org's clock.
  var now: Int64 = 0
  /// The expiry of the bundles that contain a generation of the global stores, by its number.
  var globals: [Int: Int64] = [:]
  /// The items to remove, in this order.
  package var going: [Item] = []
  /// The items that are old enough to be removed, but are kept.
  package var staying: [Item] = []
  /// The edits whose values are removed from the ledger.
  package var values: [Int64] = []
  /// The runs whose summaries are removed from the ledger.
  package var runs: [String] = []

  /// The total size of the files to remove.
  package var bytes: Int64 { going.reduce(0) { $0 + $1.bytes } }
  /// Whether there is nothing to remove.
  package var isEmpty: Bool { going.isEmpty && values.isEmpty && runs.isEmpty }

  /// Returns the number of items of a kind to remove.
  package func count(_ kind: Kind) -> Int {
    switch kind {
    case .values: values.count
    case .run: runs.count
    default: going.count { $0.kind == kind }
    }
  }

  /// The number of items to remove by kind, and the size of their files.
  package var totals: JSONObject {
    var totals: JSONObject = [:]
    for kind in Kind.allCases where count(kind) > 0 {
      totals[kind.rawValue] = JSONValue(count(kind))
    }
    totals["bytes"] = JSONValue(bytes)
    return totals
  }

  /// The plan as one JSON document.
  package func json(_ pipeline: String, isDone: Bool) -> JSONValue {
    func list(_ items: [Item]) -> JSONValue {
      .array(
        items.map { item in
          var object: JSONObject = ["kind": .string(item.kind.rawValue), "id": .string(item.id)]
          object["snapshot"] = item.snapshot.map(JSONValue.string)
          object["name"] = .string(item.name)
          object["bytes"] = JSONValue(item.bytes)
          if !item.because.isEmpty { object["because"] = JSONValue(item.because) }
          return .object(object)
        })
    }
    return [
      "pipeline": .string(pipeline), "done": .bool(isDone), "totals": .object(totals),
      "going": list(going), "staying": list(staying),
    ]
  }
}
