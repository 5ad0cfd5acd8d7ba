import JSON

/// What goes and what stays, by `KeepRule`.
package struct KeepPlan: Sendable {
  /// The sorts of things that may go.
  package enum Kind: String, Sendable, CaseIterable {
    /// The stores and bundles of an old generation.
    case generation
    /// What a generation issued, for the comparison.
    case issued
    /// What says of a generation whose stores and issued records are gone what it was.
    case record
    /// A return whose edits are in the ledger.
    case returned
    /// A refused return that was taken in after all.
    case quarantined
    /// A report.
    case report
    /// The values of edits that are settled, in the ledger.
    case values
    /// What the ledger keeps of a run beside its edits.
    case run

    /// Things of the sort, counted.
    package func words(_ count: Int) -> String {
      switch self {
      case .generation: "stores and bundles of \(ByteCount.count(count, "generation"))"
      case .issued: "issued records of \(ByteCount.count(count, "generation"))"
      case .record: "records of \(ByteCount.count(count, "generation"))"
      case .returned: ByteCount.count(count, "finished return")
      case .quarantined: ByteCount.count(count, "refused return") + ", taken in since"
      case .report: ByteCount.count(count, "report")
      case .values: "values of \(ByteCount.count(count, "settled edit"))"
      case .run: "summaries of \(ByteCount.count(count, "run"))"
      }
    }
  }

  /// One thing.
  package struct Item: Sendable, Hashable {
    /// Its sort.
    package var kind: Kind
    /// The snapshot that it belongs to; nil for none.
    package var snapshot: String?
    /// What it is called: a generation's number, a digest, a run.
    package var id: String
    /// What a person calls it.
    package var name: String
    /// The bytes of its files.
    package var bytes: Int64
    /// Why it stays, each in words; none for what goes.
    package var because: [String] = []
  }

  /// The time that it is of, in ms of the org's.
  var now: Int64 = 0
  /// Until when bundles are good that hold a generation of the global stores, by its number.
  var globals: [Int: Int64] = [:]
  /// What goes, in this order.
  package var going: [Item] = []
  /// What would go by its age or number, and stays.
  package var staying: [Item] = []
  /// The edits whose values go from the ledger.
  package var values: [Int64] = []
  /// The runs whose summaries go from the ledger.
  package var runs: [String] = []

  /// The bytes that the files of what goes take.
  package var bytes: Int64 { going.reduce(0) { $0 + $1.bytes } }
  /// Whether there is nothing to do.
  package var isEmpty: Bool { going.isEmpty && values.isEmpty && runs.isEmpty }

  /// How many things of a sort go.
  package func count(_ kind: Kind) -> Int {
    switch kind {
    case .values: values.count
    case .run: runs.count
    default: going.count { $0.kind == kind }
    }
  }

  /// What goes, counted by sort, and the bytes of its files.
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
