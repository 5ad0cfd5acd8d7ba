import SmartStore
import System

/// The statements of a family: SOQL for the org, Smart SQL for the store.
package struct ParentChildrenQuery: Sendable, Hashable {
  private let target: ParentChildrenTarget
  /// The parents' condition; empty for all.
  private let filter: String

  private var parent: FamilyMember { target.family.parent }
  private var children: FamilyMember { target.family.children }

  /// Prepares the statements; `variables` are SOQL literals for `:name` in the parents' condition.
  package init(
    _ target: ParentChildrenTarget, variables: [String: String] = [:]
  ) throws(SyncError) {
    self.target = target
    filter = try Self.filter(target, variables: variables)
  }

  /// The parents' condition with its variables filled in, so that others can be added to it.
  static func filter(
    _ target: ParentChildrenTarget, variables: [String: String]
  ) throws(SyncError) -> String {
    let filter = try SOQLVariables.substitute(variables, in: target.parentSoqlFilter)
    guard filter.contains(where: { $0 != " " && !$0.isNewline && $0 != "\t" }) else { return "" }
    var query = try SOQLText("select Id from Parent where \(filter)")
    query.closeConditions()
    return query[.where] ?? ""
  }

  // MARK: the org

  /// The query for parents with their children: all, or the parents that were modified after
  /// `since`, with those of their children that were.
  ///
  /// `onward` takes up a chain of pages that broke off: parents from that date on.
  package func records(since: Int64? = nil, from onward: String? = nil) -> String {
    let after = since.map { " > \(Dates.utc($0))" }
    var conditions: [String] = []
    if let onward {
      conditions.append("\(parent.modificationDateFieldName) >= \(onward)")
    } else if let after {
      conditions.append(parent.modificationDateFieldName + after)
    }
    let nested = select(
      fields(target.childrenFieldlist, children), from: children.sobjectTypePlural ?? "",
      where: after.map { children.modificationDateFieldName + $0 } ?? "")
    return select(
      fields(target.parentFieldlist, parent) + ["(\(nested))"], from: parent.sobjectType,
      where: (conditions + [filter]).filter { !$0.isEmpty }.joined(separator: " and "))
      + " order by \(parent.modificationDateFieldName)"
  }

  /// The query for the children that were modified after `since`, whatever their parents were.
  package func changedChildren(since: Int64, isCount: Bool = false) -> String {
    let key = children.parentIdFieldName ?? ""
    let date = "\(children.modificationDateFieldName) > \(Dates.utc(since))"
    // Only record ids can be compared with a subquery's.
    return select(
      isCount ? ["COUNT()"] : ownChildrenFields, from: children.sobjectType,
      where: "\(date) and \(key) in (\(select(["Id"], from: parent.sobjectType, where: filter)))")
  }

  /// The query for all children of these parents, whenever they were modified.
  package func children(of parents: [String]) -> String {
    let ids = parents.map(SOQLVariables.literal).joined(separator: ", ")
    return select(
      ownChildrenFields, from: children.sobjectType,
      where: "\(children.parentIdFieldName ?? "") in (\(ids))")
  }

  /// The fields of children that come without their parent, in the order in which a child under its
  /// parent has them: the store's bytes stay the same.
  private var ownChildrenFields: [String] {
    let key = children.parentIdFieldName ?? ""
    let list = fields(target.childrenFieldlist, children)
    return list.contains(key) ? list : list + [key]
  }

  /// The query for the ids of all parents that match now.
  package var parentIDs: String {
    select([parent.idFieldName], from: parent.sobjectType, where: filter)
  }

  /// The query for the ids of all parents that match now, with those of their children.
  package var childrenIDs: String {
    let nested = select(
      [children.idFieldName], from: children.sobjectTypePlural ?? "", where: "")
    return select(
      [parent.idFieldName, "(\(nested))"], from: parent.sobjectType, where: filter)
  }

  /// The query for how many parents match.
  package func count(since: Int64? = nil, from onward: String? = nil) -> String {
    let date = parent.modificationDateFieldName
    let condition = onward.map { "\(date) >= \($0)" } ?? since.map { "\(date) > \(Dates.utc($0))" }
    return select(
      ["COUNT()"], from: parent.sobjectType,
      where: [condition ?? "", filter].filter { !$0.isEmpty }.joined(separator: " and "))
  }

  private func fields(_ list: [String], _ member: FamilyMember) -> [String] {
    [member.idFieldName, member.modificationDateFieldName].reduce(into: list) { list, field in
      if !list.contains(field) { list.append(field) }
    }
  }

  private func select(_ fields: [String], from: String, where condition: String) -> String {
    "select \(fields.joined(separator: ", ")) from \(from)"
      + (condition.isEmpty ? "" : " where \(condition)")
  }
}

/// The Smart SQL that looks at parents and children together.
package struct FamilySQL: Sendable, Hashable {
  private let family: ParentChildrenFamily
  /// How true and false are written in SQL for each soup's `__local__`.
  private let parentFlags: Flags
  private let childFlags: Flags

  private struct Flags: Sendable, Hashable {
    var yes: String
    var no: String
    /// The rows that are dirty though `yes` does not find them.
    var oddRows: [Int64] = []
    static let numbers = Flags(yes: "1", no: "0")
  }

  /// The statements as a platform's SDK has them.
  package init(_ family: ParentChildrenFamily, platform: Platform) {
    self.family = family
    parentFlags = platform == .ios ? .numbers : Flags(yes: "'true'", no: "'false'")
    childFlags = parentFlags
  }

  /// The statements for a store, where `__local__` may be indexed in another way or not at all.
  package init(_ family: ParentChildrenFamily, _ store: Store) throws(SyncError) {
    func flags(_ soup: String, _ paths: [String]) throws(SyncError) -> Flags {
      let specs = try SyncError.inStore { () throws(StoreError) in try store.indexSpecs(of: soup) }
      for path in paths where !specs.contains(where: { $0.path == path && $0.type != .json1 }) {
        throw SyncError(
          .definition, "soup \"\(soup)\" has no index on \"\(path)\", which binds the families",
          fix: "add {\"path\": \"\(path)\", \"type\": \"string\"} to the soup's indexes")
      }
      let isIndexed = specs.contains { $0.path == LocalFields.local && $0.type != .json1 }
      var flags = Flags.numbers
      if isIndexed, store.platform == .android { flags = Flags(yes: "'true'", no: "'false'") }
      flags.oddRows = try SyncError.inStore { () throws(StoreError) in
        try store.oddlyDirtyRows(of: soup)
      }
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

  /// The values at a path of the parents that are dirty or have a dirty child.
  package func dirty(_ path: String) -> String {
    "SELECT DISTINCT {\(parents):\(path)} FROM {\(parents)} "
      + "WHERE \(isDirty(parents, parentFlags)) OR EXISTS (\(dirtyChildren))"
  }

  /// The values at a path of the parents that are clean, as all of their children are; `predicate`
  /// stands between, such as `AND {soup:__sync_id__} = 1`.
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

  /// The values at a path of the children whose parent is dirty or has a dirty child.
  package func childrenOfDirty(_ path: String) -> String {
    "SELECT {\(children):\(path)} FROM {\(children)} WHERE {\(children):\(foreignKey)} IN "
      + "(\(dirty(family.parent.idFieldName)))"
  }
}
