import JSON
import SmartStore

/// A parent and its children as they are in the store.
struct FamilyTree: Sendable {
  let parent: UpRecord
  let children: [UpRecord]
}

/// A record's place in its family.
enum FamilyPlace: Sendable, Hashable {
  case parent
  /// The child of a row.
  case child(Int64)
}

/// The families of a store.
struct FamilyElements {
  let targets: FamilyTargets
  let parents: UpElements
  let children: UpElements
  private let store: Store

  init(_ targets: FamilyTargets, _ store: Store) {
    self.targets = targets
    self.store = store
    parents = UpElements(
      store: store, soupName: targets.family.parent.soupName, target: targets.parents)
    children = UpElements(
      store: store, soupName: targets.family.children.soupName, target: targets.children)
  }

  /// The rows of parents that are dirty or have a dirty child, in their numeric order.
  func dirtyRows() throws(SyncError) -> [Int64] {
    let sql = try ParentChildrenSQL(targets.family, store)
    return try rows(sql.dirty(StoreField.soupEntryID)).sorted()
  }

  /// The tree of a parent's row; nil when the row is gone.
  func tree(_ row: Int64) throws(SyncError) -> FamilyTree? {
    guard let parent = try parents.read(row) else { return nil }
    guard let id = parent.id else { return FamilyTree(parent: parent, children: []) }
    var offspring: [UpRecord] = []
    try children.forEach(try childRows(of: id)) { offspring.append($0) }
    return FamilyTree(parent: parent, children: offspring)
  }

  /// How many changed children have no parent in the store, so that no family brings them up.
  func orphans() throws(SyncError) -> Int {
    let (parent, child) = (targets.family.parent, targets.family.children)
    let dirty = Set(try children.dirtyIDs())
    guard !dirty.isEmpty else { return 0 }
    let kept = try rows(
      "SELECT {\(child.soupName):\(StoreField.soupEntryID)} FROM {\(child.soupName)} "
        + "WHERE {\(child.soupName):\(targets.key)} IN "
        + "(SELECT {\(parent.soupName):\(parent.idFieldName)} FROM {\(parent.soupName)})")
    return dirty.subtracting(kept).count
  }

  private func childRows(of id: String) throws(SyncError) -> [Int64] {
    let soup = targets.family.children.soupName
    return try rows(
      "SELECT {\(soup):\(StoreField.soupEntryID)} FROM {\(soup)} "
        + "WHERE {\(soup):\(targets.key)} = ? ORDER BY 1", [id])
  }

  private func rows(_ sql: String, _ arguments: [String] = []) throws(SyncError) -> [Int64] {
    try UpElements.mapping {
      var rows: [Int64] = []
      try store.forEachRow(ofSmartSQL: sql, arguments: arguments) { _, values in
        if let row = values.first?.int { rows.append(row) }
      }
      return rows
    }
  }

  /// Enters what became of records of one tree, and whatever belongs to it, in one transaction.
  ///
  /// Where the parent has got another id, all of its children learn it there and then, those too
  /// that were refused or are still to be sent.
  func commit(
    _ settled: [(place: FamilyPlace, settled: UpSettled)], also body: () throws -> Void
  ) throws(SyncError) {
    let ofParent = settled.filter { $0.place == .parent }.map(\.settled)
    let ofChildren = settled.filter { $0.place != .parent }.map(\.settled)
    try parents.commit(ofParent) {
      try children.commit(ofChildren)
      try rekey(ofParent)
      try body()
    }
  }

  /// Gives the children of parents that have got another id that id.
  func rekey(_ parents: [UpSettled]) throws(SyncError) {
    for one in parents {
      guard case .sent(let id?) = one.end, let old = one.record.id, old != id else { continue }
      let soup = targets.family.children.soupName
      try UpElements.mapping {
        for element in try store.elements(in: soup, where: targets.key, is: old) {
          guard var object = element.object else { continue }
          object[targets.key] = .string(id)
          try store.upsert([.object(object)], into: soup)
        }
      }
    }
  }
}
