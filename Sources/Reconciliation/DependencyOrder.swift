import Ledger

/// A record that has no Id before a change makes it.
package enum NewRecord: Sendable, Hashable {
  /// That of a creation.
  case of(creation: Int64)
  /// The one that is made anew in the place of a deleted one, by the Id of that.
  case inPlace(of: String)
}

/// The order in which records go to an org: what comes back out of the recycle bin first, parents before
/// children, deletions last, their children first.
package struct DependencyOrder: Sendable, Hashable {
  /// One change.
  package struct Node: Sendable, Hashable {
    /// The edit.
    package var editID: Int64
    /// The records that this change makes.
    package var creates: Set<NewRecord>
    /// The records whose ids it needs.
    package var needs: Set<NewRecord>
    /// The record that it deletes.
    package var deletes: String?
    /// The record that it takes out of the recycle bin.
    package var restores: String?
    /// The records that a deleted one refers to.
    package var refersTo: Set<String>
    /// The first level at which it may go.
    package var floor: Int

    /// A change.
    package init(
      editID: Int64, creates: NewRecord? = nil, needs: Set<NewRecord> = [], deletes: String? = nil,
      restores: String? = nil, refersTo: Set<String> = [], floor: Int = 0
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

  /// Edits that may be sent together, in order; a level may be empty.
  package var levels: [[Int64]] = []
  /// Edits that need each other in a circle.
  package var cyclic: Set<Int64> = []

  /// Orders changes; within a level they keep the order given.
  package init(_ nodes: [Node]) {
    let restores = nodes.filter { $0.restores != nil }
    let writes = nodes.filter { $0.deletes == nil && $0.restores == nil }
    let deletes = nodes.filter { $0.deletes != nil }
    let makers = Dictionary(
      writes.flatMap { node in node.creates.map { ($0, node.editID) } },
      uniquingKeysWith: { first, _ in first })
    let restorers = Dictionary(
      restores.map { ($0.restores ?? "", $0.editID) }, uniquingKeysWith: { first, _ in first })
    arrange(restores) { node in
      Set(node.refersTo.filter { $0 != node.restores }.compactMap { restorers[$0] })
    }
    arrange(writes) { node in Set(node.needs.compactMap { makers[$0] }) }
    // A record is deleted after those that refer to it.
    var referrers: [String: Set<Int64>] = [:]
    for node in deletes {
      for parent in node.refersTo where parent != node.deletes {
        referrers[parent, default: []].insert(node.editID)
      }
    }
    arrange(deletes) { node in node.deletes.flatMap { referrers[$0] } ?? [] }
  }

  private mutating func arrange(_ nodes: [Node], after: (Node) -> Set<Int64>) {
    var waiting = nodes.map { (node: $0, after: after($0)) }
    var done: Set<Int64> = []
    while !waiting.isEmpty {
      let free = waiting.filter { $0.after.isSubset(of: done) }.map(\.node)
      let ready = free.filter { $0.floor <= levels.count }.map(\.editID)
      if free.isEmpty {
        // What goes, or comes back, and refers to each other in a circle goes together: the org says what it
        // thinks.
        let rest = waiting.map(\.node)
        if rest.allSatisfy({ $0.deletes != nil || $0.restores != nil }) {
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
