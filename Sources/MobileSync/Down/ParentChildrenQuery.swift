import Salesforce
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
    try SyncError.inQuery {
      let filter = try SOQLVariables.substitute(variables, in: target.parentSoqlFilter)
      guard filter.contains(where: { $0 != " " && !$0.isNewline && $0 != "\t" }) else { return "" }
      var query = try SOQLText("select Id from Parent where \(filter)")
      query.closeConditions()
      return query[.where] ?? ""
    }
  }

  // MARK: the org

  /// The query for parents with their children: all, or the parents that were modified after
  /// `since`, with those of their children that were.
  ///
  /// `onward` takes up a chain of pages that broke off: parents from that date on. `ids` asks for these
  /// parents alone.
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

  /// The query for the children that were modified after `since`, whatever their parents were.
  package func changedChildren(since: Int64, isCount: Bool = false) -> String {
    matchingChildren(
      where: "\(children.modificationDateFieldName) > \(SOQLLiteral.date(since))", isCount)
  }

  /// The query for these children, as far as their parents match.
  func children(among ids: [String], isCount: Bool = false) -> String {
    matchingChildren(where: children.condition(ids), isCount)
  }

  /// The query for the ids of those of these children whose parents match.
  func childrenIDs(among ids: [String]) -> String {
    matchingChildren(where: children.condition(ids), fields: [children.idFieldName])
  }

  private func matchingChildren(where condition: String, _ isCount: Bool) -> String {
    matchingChildren(where: condition, fields: isCount ? ["COUNT()"] : ownChildrenFields)
  }

  private func matchingChildren(where condition: String, fields: [String]) -> String {
    let key = children.parentIdFieldName ?? ""
    // Only record ids can be compared with a subquery's.
    return select(
      fields, from: children.sobjectType,
      where:
        "\(condition) and \(key) in (\(select(["Id"], from: parent.sobjectType, where: filter)))")
  }

  /// The query for all children of these parents, whenever they were modified.
  func children(of parents: [String]) -> String {
    select(
      ownChildrenFields, from: children.sobjectType,
      where: "\(children.parentIdFieldName ?? "") in (\(SOQLLiteral.list(parents)))")
  }

  /// The fields of children that come without their parent, in the order in which a child under its
  /// parent has them: the store's bytes stay the same.
  private var ownChildrenFields: [String] {
    let key = children.parentIdFieldName ?? ""
    let list = fields(target.childrenFieldlist, children)
    return list.contains(key) ? list : list + [key]
  }

  package var parentIDs: String {
    select([parent.idFieldName], from: parent.sobjectType, where: filter)
  }

  /// The query for the ids of those of these parents that match.
  func parentIDs(among ids: [String]) -> String {
    select(
      [parent.idFieldName], from: parent.sobjectType,
      where: [parent.condition(ids), filter].filter { !$0.isEmpty }.joined(separator: " and "))
  }

  /// The query for the ids of all parents that match now, with those of their children, and when each last
  /// changed.
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
  /// The condition for records with these ids; empty for all.
  fileprivate func condition(_ ids: [String]) -> String {
    ids.isEmpty ? "" : "\(idFieldName) in (\(SOQLLiteral.list(ids)))"
  }
}
