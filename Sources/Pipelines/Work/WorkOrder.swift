import JSON
import Reports
import Snapshots

/// The snapshots that one worker primes together, as the document that it reads.
struct WorkOrder: Sendable {
  /// One snapshot.
  struct Snapshot: Sendable {
    var order: PrimeOrder
    /// The newest generation; 0 if there is none.
    var generation = 0
    /// Its files, as far as a prime can use them.
    var files: [WorkFile] = []
  }

  var snapshots: [Snapshot]

  var json: JSONValue {
    [
      "format": JSONValue(OrderList.format),
      "snapshots": .array(
        snapshots.map {
          [
            "order": $0.order.json, "generation": JSONValue($0.generation),
            "files": .array($0.files.map(\.json)),
          ]
        }),
    ]
  }

  init(_ snapshots: [Snapshot]) { self.snapshots = snapshots }

  init(_ reader: MemberReader, mask: ReportMask) throws(SnapshotError) {
    snapshots = []
    for item in try reader.items("snapshots") {
      var snapshot = Snapshot(order: try PrimeOrder(item.member("order"), mask: mask))
      snapshot.generation = try item.integer("generation")
      for file in try item.items("files") { snapshot.files.append(try WorkFile(file)) }
      snapshots.append(snapshot)
    }
  }
}
