import JSON
import Ledger
import MobileSync
import Salesforce

// The order in which a plan is sent.
extension SnapshotPlanner {
  /// Orders the sends.
  ///
  /// A tree is kept together, with its parent first. Its deletions follow all writes, of the tree
  /// and of others, with the parent last: with a record the org deletes everything that is still
  /// below it.
  func order(_ plan: inout SnapshotPlan) {
    if plan.sends.allSatisfy(Self.mayGoAtOnce) {
      plan.levels = plan.sends.isEmpty ? [] : [plan.sends.map(\.edit.id)]
      return
    }
    var units: [[Write]] = []
    var places: [String: Int] = [:]
    for send in plan.sends {
      let isDeletion = send.action == .delete
      let key = send.tree.map {
        "\(rules[send.sync].definition.syncName) \(isDeletion ? "deletes" : "writes") \($0.key)"
      }
      if let key, let place = places[key] {
        if send.tree?.isParent == true, !isDeletion {
          units[place].insert(send, at: 0)
        } else {
          units[place].append(send)
        }
      } else {
        if let key { places[key] = units.count }
        units.append([send])
      }
    }
    for index in units.indices {
      let isLast: (Write) -> Bool = { $0.tree?.isParent == true && $0.action == .delete }
      units[index] = units[index].filter { !isLast($0) } + units[index].filter(isLast)
    }
    let order = DependencyOrder(units.map(Self.node))
    let byFirst = Dictionary(
      units.map { ($0[0].edit.id, $0.map(\.edit.id)) }, uniquingKeysWith: { first, _ in first })
    plan.levels = order.levels.map { $0.flatMap { byFirst[$0] ?? [] } }
    let levels = Dictionary(
      plan.levels.enumerated().flatMap { level, edits in edits.map { ($0, level) } },
      uniquingKeysWith: { first, _ in first })
    for index in plan.sends.indices {
      plan.sends[index].level = levels[plan.sends[index].edit.id] ?? 0
    }
    let cyclic = Set(order.cyclic.flatMap { byFirst[$0] ?? [] })
    let words = "it and the records that it refers to need each other's IDs"
    plan.settled += plan.sends.filter { cyclic.contains($0.edit.id) }.map {
      ($0.edit, $0.blocked(because: words))
    }
    plan.sends.removeAll { cyclic.contains($0.edit.id) }
  }

  /// Whether a change neither waits for another nor is waited for, provided that this is true of
  /// all sends of the plan.
  private static func mayGoAtOnce(_ send: Write) -> Bool {
    send.tree == nil && send.needs.isEmpty && send.floor == 0 && send.action != .delete
      && send.action != .undelete
  }

  private static func node(_ unit: [Write]) -> DependencyOrder.Node {
    let first = unit[0]
    let deletions = unit.filter { $0.action == .delete }
    var node = DependencyOrder.Node(
      editID: first.edit.id, deletes: Set(deletions.compactMap(\.recordID)),
      restores: first.action == .undelete ? first.recordID : nil,
      refersTo: deletions.reduce(into: first.parents) { $0.formUnion($1.parents) },
      floor: unit.map(\.floor).max() ?? 0)
    node.creates = Set(unit.compactMap { makes($0) })
    node.needs = Set(unit.flatMap(\.needs)).subtracting(node.creates)
    return node
  }

  static func makes(_ send: Write) -> NewRecord? {
    guard send.action == .create || send.action == .upsert else { return nil }
    if let id = send.edit.recordID { return .inPlace(of: id.recordID18 ?? id) }
    return send.edit.creation.map { .of(creation: $0.id) }
  }
}
