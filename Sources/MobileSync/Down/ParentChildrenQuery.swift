import Salesforce
import System

/// The queries of a family: SOQL for the org, Smart SQL for the store.
package struct ParentChildrenQuery: Sendable, Hashable {
  private let target: ParentChildrenTarget
  /// The parents' condition; empty for all.
  private let filter: String

  private var parent: FamilyMember { target.family.parent }
  private var children: FamilyMember { target.family.children }

  /// Creates the queries; `variables` are SOQL literals for `:name` in the parents' condition.
  package init(
    _ target: ParentChildrenTarget, variables: [String: String] = [:]
  ) throws(SyncError) {
    self.target = target
    filter = try Self.filter(target, variables: variables)
  }

  /// Returns the parents' condition with its variables replaced, in a form that can be combined
  /// with others.
  static func filter(
    _ target: ParentChildrenTarget, variables: [String: String]
  ) throws(SyncError) -> String {
    try SyncError.inQuery {
      let filter = try SOQLVariables.substitute(variables, in: target.parentSoqlFilter)
      guard filter.contains(where: { $0 != " " && !$0.isNewline && $0 != "\t" }) else { return "" }
      var query = try SOQLText("select Id from Parent where \(filter)")
      query.closeConditions()
      return query[.where] ?? ""
    }
  }

  // MARK: SOQL

  /// Returns the query for parents with their children: all of them, or the parents modified after
  /// `since` with those of their children that were modified too.
  ///
  /// `onward` continues an interrupted chain of pages with the parents from that date on. `ids`
  /// selects only these parents.
  package func records(
    since: Int64? = nil, from onward: String? = nil, among ids: [String] = []
  ) -> String {
    let after = since.map { " > \(SOQLLiteral.date($0))" }
    var conditions = [parent.condition(ids)]
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

  /// Returns the query for the children modified after `since`, even if their parents were not.
  package func changedChildren(since: Int64, isCount: Bool = false) -> String {
    matchingChildren(
      where: "\(children.modificationDateFieldName) > \(SOQLLiteral.date(since))", isCount)
  }

  /// Returns the query for those of these children whose parents match.
  func children(among ids: [String], isCount: Bool = false) -> String {
    matchingChildren(where: children.condition(ids), isCount)
  }

  /// Returns the query for the IDs of those of these children whose parents match.
  func childrenIDs(among ids: [String]) -> String {
    matchingChildren(where: children.condition(ids), fields: [children.idFieldName])
  }

  private func matchingChildren(where condition: String, _ isCount: Bool) -> String {
    matchingChildren(where: condition, fields: isCount ? ["COUNT()"] : ownChildrenFields)
  }

  private func matchingChildren(where condition: String, fields: [String]) -> String {
    let key = children.parentIdFieldName ?? ""
    // Only record IDs can be compared with those of a subquery.
    return select(
      fields, from: children.sobjectType,
      where:
        "\(condition) and \(key) in (\(select(["Id"], from: parent.sobjectType, where: filter)))")
  }

  /// Returns the query for all children of these parents, regardless of their modification date.
  func children(of parents: [String]) -> String {
    select(
      ownChildrenFields, from: children.sobjectType,
      where: "\(children.parentIdFieldName ?? "") in (\(SOQLLiteral.list(parents)))")
  }

  /// The fields of children fetched without their parent, in the same order as in a child under its
  /// parent, so that the stored bytes are identical.
  private var ownChildrenFields: [String] {
    let key = children.parentIdFieldName ?? ""
    let list = fields(target.childrenFieldlist, children)
    return list.contains(key) ? list : list + [key]
  }

  package var parentIDs: String {
    select([parent.idFieldName], from: parent.sobjectType, where: filter)
  }

  /// Returns the query for the IDs of those of these parents that match.
  func parentIDs(among ids: [String]) -> String {
    select(
      [parent.idFieldName], from: parent.sobjectType,
      where: [parent.condition(ids), filter].filter { !$0.isEmpty }.joined(separator: " and "))
  }

  /// The query for the IDs and modification dates of all parents that match now and of their
  /// children.
  package var childrenIDs: String {
    let nested = select(
      fields([], children), from: children.sobjectTypePlural ?? "", where: "")
    return select(
      fields([], parent) + ["(\(nested))"], from: parent.sobjectType, where: filter)
  }

  func count(
    since: Int64? = nil, from onward: String? = nil, among ids: [String] = []
  ) -> String {
    let date = parent.modificationDateFieldName
    let condition =
      onward.map { "\(date) >= \($0)" } ?? since.map { "\(date) > \(SOQLLiteral.date($0))" }
    return select(
      ["COUNT()"], from: parent.sobjectType,
      where: [parent.condition(ids), condition ?? "", filter].filter { !$0.isEmpty }
        .joined(separator: " and "))
  }

  private func fields(_ list: [String], _ member: FamilyMember) -> [String] {
    IDQuery.fields(list, adding: [member.idFieldName, member.modificationDateFieldName])
  }

  private func select(_ fields: [String], from: String, where condition: String) -> String {
    "select \(fields.joined(separator: ", ")) from \(from)"
      + (condition.isEmpty ? "" : " where \(condition)")
  }
}

extension FamilyMember {
  /// Returns the condition for records with these IDs; empty for all.
  fileprivate func condition(_ ids: [String]) -> String {
    ids.isEmpty ? "" : "\(idFieldName) in (\(SOQLLiteral.list(ids)))"
  }
}
