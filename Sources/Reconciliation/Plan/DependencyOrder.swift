import Ledger

/// A record without an ID, until a change creates it.
package enum NewRecord: Sendable, Hashable {
  /// The record of a creation.
  case of(creation: Int64)
  /// The record that is recreated in place of a deleted one, by the ID of the latter.
  case inPlace(of: String)
}

/// The order in which changes are sent: first records restored from the recycle bin, then parents
/// before children, and deletions last, children first.
package struct DependencyOrder: Sendable, Hashable {
  /// One change.
  package struct Node: Sendable, Hashable {
    /// The edit.
    package var editID: Int64
    /// The records that the change creates.
    package var creates: Set<NewRecord>
    /// The records whose IDs it needs.
    package var needs: Set<NewRecord>
    /// The records that it deletes.
    package var deletes: Set<String>
    /// The record that it restores from the recycle bin.
    package var restores: String?
    /// The records that the deleted or restored records refer to.
    package var refersTo: Set<String>
    /// The first level at which it may be sent.
    package var floor: Int

    package init(
      editID: Int64, creates: NewRecord? = nil, needs: Set<NewRecord> = [],
      deletes: Set<String> = [], restores: String? = nil, refersTo: Set<String> = [], floor: Int = 0
    ) {
      self.editID = editID
      self.creates = Set([creates].compactMap(\.self))
      self.needs = needs
      self.deletes = deletes
      self.restores = restores
      self.refersTo = refersTo
      self.floor = floor
    }
  }

  /// The edits of each level, in order, which may be sent together; a level may be empty.
  package var levels: [[Int64]] = []
  /// The edits that need each other in a cycle.
  package var cyclic: Set<Int64> = []

  /// Orders changes; within a level they keep the given order.
  package init(_ nodes: [Node]) {
    let restores = nodes.filter { $0.restores != nil }
    let writes = nodes.filter { $0.deletes.isEmpty && $0.restores == nil }
    let deletes = nodes.filter { !$0.deletes.isEmpty }
    let makers = Dictionary(
      writes.flatMap { node in node.creates.map { ($0, node.editID) } },
      uniquingKeysWith: { first, _ in first })
    let restorers = Dictionary(
      restores.map { ($0.restores ?? "", $0.editID) }, uniquingKeysWith: { first, _ in first })
    arrange(restores) { node in
      Set(node.refersTo.filter { $0 != node.restores }.compactMap { restorers[$0] })
    }
    arrange(writes) { node in Set(node.needs.compactMap { makers[$0] }) }
    // A record is deleted after the records that refer to it.
    var referrers: [String: Set<Int64>] = [:]
    for node in deletes {
      for parent in node.refersTo.subtracting(node.deletes) {
        referrers[parent, default: []].insert(node.editID)
      }
    }
    arrange(deletes) { node in Set(node.deletes.flatMap { referrers[$0] ?? [] }) }
  }

  private mutating func arrange(_ nodes: [Node], after: (Node) -> Set<Int64>) {
    var waiting = nodes.map { (node: $0, after: after($0)) }
    var done: Set<Int64> = []
    while !waiting.isEmpty {
      let free = waiting.filter { $0.after.isSubset(of: done) }.map(\.node)
      let ready = free.filter { $0.floor <= levels.count }.map(\.editID)
      if free.isEmpty {
        // Deletions and restores that refer to each other in a cycle are sent together, and the org
        // decides.
        let rest = waiting.map(\.node)
        if rest.allSatisfy({ !$0.deletes.isEmpty || $0.restores != nil }) {
          levels.append(rest.map(\.editID))
        } else {
          cyclic.formUnion(rest.map(\.editID))
        }
        return
      }
      levels.append(ready)
      done.formUnion(ready)
      let members = Set(ready)
      waiting.removeAll { members.contains($0.node.editID) }
    }
  }
}
