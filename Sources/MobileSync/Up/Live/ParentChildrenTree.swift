import JSON
import SmartStore

/// A parent with its children, as stored.
package struct ParentChildrenTree: Sendable {
  package let parent: SyncUpRecord
  let children: [SyncUpRecord]
}

/// A record's position in its family.
package enum ParentChildrenPlace: Sendable, Hashable {
  case parent
  /// The child in a row.
  case child(Int64)
}

/// The elements of two soups, read as trees of a parent and its children.
package struct ParentChildrenElements {
  let targets: ParentChildrenUpTargets
  let parents: SyncUpElements
  let children: SyncUpElements
  private let store: Store

  package init(_ targets: ParentChildrenUpTargets, _ store: Store) {
    self.targets = targets
    self.store = store
    parents = SyncUpElements(
      store: store, soupName: targets.family.parent.soupName, target: targets.parents)
    children = SyncUpElements(
      store: store, soupName: targets.family.children.soupName, target: targets.children)
  }

  /// The rows of parents that are dirty or have a dirty child, in numeric order.
  func dirtyRows() throws(SyncError) -> [Int64] {
    let sql = try ParentChildrenSQL(targets.family, store)
    return try rows(sql.dirty(StoreField.soupEntryID)).sorted()
  }

  /// The tree of a parent's row; nil if the row no longer exists.
  package func tree(_ row: Int64) throws(SyncError) -> ParentChildrenTree? {
    guard let parent = try parents.read(row) else { return nil }
    guard let id = parent.id else { return ParentChildrenTree(parent: parent, children: []) }
    var offspring: [SyncUpRecord] = []
    // An unreadable child is reported separately.
    try children.forEach(try childRows(of: id), damaged: { _ in }) { offspring.append($0) }
    return ParentChildrenTree(parent: parent, children: offspring)
  }

  /// The changed children without a parent in the store; they are not sent with any family.
  func orphans() throws(SyncError) -> [Int64] {
    let (parent, child) = (targets.family.parent, targets.family.children)
    let dirty = Set(try children.dirtyIDs())
    guard !dirty.isEmpty else { return [] }
    let kept = try rows(
      "SELECT {\(child.soupName):\(StoreField.soupEntryID)} FROM {\(child.soupName)} "
        + "WHERE {\(child.soupName):\(targets.key)} IN "
        + "(SELECT {\(parent.soupName):\(parent.idFieldName)} FROM {\(parent.soupName)})")
    return dirty.subtracting(kept).sorted()
  }

  private func childRows(of id: String) throws(SyncError) -> [Int64] {
    let soup = targets.family.children.soupName
    return try rows(
      "SELECT {\(soup):\(StoreField.soupEntryID)} FROM {\(soup)} "
        + "WHERE {\(soup):\(targets.key)} = ? ORDER BY 1", [id])
  }

  private func rows(_ sql: String, _ arguments: [String] = []) throws(SyncError) -> [Int64] {
    try SyncError.inStore {
      var rows: [Int64] = []
      try store.forEachRow(ofSmartSQL: sql, arguments: arguments) { _, values in
        if let row = values.first?.int { rows.append(row) }
      }
      return rows
    }
  }

  /// Stores outcomes of one tree's records, and what belongs to them, in one transaction.
  ///
  /// If the parent got another ID, all of its children get it in the same transaction, including
  /// those that were refused or are still to be sent.
  func commit(_ settled: [SyncUpSettled], also body: () throws -> Void) throws(SyncError) {
    let ofParent = settled.filter(\.isParent)
    try parents.commit(ofParent) {
      try children.commit(settled.filter { !$0.isParent })
      try rekey(ofParent)
      try body()
    }
  }

  /// Updates the children of parents whose ID has changed.
  func rekey(_ parents: [SyncUpSettled]) throws(SyncError) {
    for one in parents {
      guard case .sent(let id?) = one.end, let old = one.record.id, old != id else { continue }
      let soup = targets.family.children.soupName
      try SyncError.inStore {
        for element in try store.elements(in: soup, where: targets.key, is: old) {
          guard var object = element.object else { continue }
          object[targets.key] = .string(id)
          try store.upsert([.object(object)], into: soup)
        }
      }
    }
  }
}
