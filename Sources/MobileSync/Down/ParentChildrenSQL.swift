import SmartStore

/// The Smart SQL that queries parents and children together.
package struct ParentChildrenSQL: Sendable, Hashable {
  private let family: ParentChildrenFamily
  /// The SQL literals for true and false in each soup's `__local__`.
  private let parentFlags: Flags
  private let childFlags: Flags

  private struct Flags: Sendable, Hashable {
    var yes: String
    var no: String
    /// The rows that are dirty but not found by `yes`.
    var oddRows: [Int64] = []

    /// The literals as an index stores them; without an index, those to which SQLite converts
    /// JSON's `true` and `false`.
    init(_ platform: Platform, isIndexed: Bool = true) {
      func literal(_ flag: Bool) -> String {
        isIndexed && platform == .android
          ? "'\(platform.text(of: flag))'" : Platform.ios.text(of: flag)
      }
      (yes, no) = (literal(true), literal(false))
    }
  }

  /// Creates the queries that a platform's SDK uses.
  package init(_ family: ParentChildrenFamily, platform: Platform) {
    self.family = family
    parentFlags = Flags(platform)
    childFlags = parentFlags
  }

  /// Creates the queries for a store, in which `__local__` may be indexed differently or not at
  /// all.
  package init(_ family: ParentChildrenFamily, _ store: Store) throws(SyncError) {
    func flags(_ soup: String, _ paths: [String]) throws(SyncError) -> Flags {
      let specs = try SyncError.inStore { try store.indexSpecs(of: soup) }
      for path in paths where !specs.contains(where: { $0.path == path && $0.type != .json1 }) {
        throw SyncError(
          .definition,
          "soup \"\(soup)\" has no index on \"\(path)\", which links parents and children",
          fix: "add {\"path\": \"\(path)\", \"type\": \"string\"} to the soup's indexes")
      }
      let isIndexed = specs.contains { $0.path == LocalFields.local && $0.type != .json1 }
      var flags = Flags(store.platform, isIndexed: isIndexed)
      flags.oddRows = try SyncError.inStore { try store.oddlyDirtyRows(of: soup) }
      return flags
    }
    self.family = family
    parentFlags = try flags(family.parent.soupName, [family.parent.idFieldName])
    childFlags = try flags(
      family.children.soupName,
      [family.children.idFieldName, family.children.parentIdFieldName ?? ""])
  }

  private var parents: String { family.parent.soupName }
  private var children: String { family.children.soupName }

  /// Returns the query for the values at a path of the parents that are dirty or have a dirty
  /// child.
  package func dirty(_ path: String) -> String {
    "SELECT DISTINCT {\(parents):\(path)} FROM {\(parents)} "
      + "WHERE \(isDirty(parents, parentFlags)) OR EXISTS (\(dirtyChildren))"
  }

  /// Returns the query for the values at a path of the clean parents with only clean children;
  /// `predicate` is inserted, such as `AND {soup:__sync_id__} = 1`.
  package func clean(_ path: String, _ predicate: String = "") -> String {
    "SELECT DISTINCT {\(parents):\(path)} FROM {\(parents)} "
      + "WHERE {\(parents):\(LocalFields.local)} = \(parentFlags.no) \(predicate) "
      + "AND NOT EXISTS (\(dirtyChildren))"
  }

  private var dirtyChildren: String {
    "SELECT {\(children):\(family.children.idFieldName)} FROM {\(children)} "
      + "WHERE {\(children):\(foreignKey)} = {\(parents):\(family.parent.idFieldName)} "
      + "AND \(isDirty(children, childFlags))"
  }

  private func isDirty(_ soup: String, _ flags: Flags) -> String {
    let found = "{\(soup):\(LocalFields.local)} = \(flags.yes)"
    if flags.oddRows.isEmpty { return found }
    let rows = flags.oddRows.map(String.init).joined(separator: ",")
    return "(\(found) OR {\(soup):\(StoreField.soupEntryID)} IN (\(rows)))"
  }

  private var foreignKey: String { family.children.parentIdFieldName ?? "" }

  /// Returns the query for the values at a path of the children whose parent is dirty or has a
  /// dirty child.
  func childrenOfDirty(_ path: String) -> String {
    "SELECT {\(children):\(path)} FROM {\(children)} WHERE {\(children):\(foreignKey)} IN "
      + "(\(dirty(family.parent.idFieldName)))"
  }
}
