import JSON
import Ledger
import MobileSync
import Salesforce

// Parents with their children: what a sync up of families sends in one request.
extension SnapshotPlanner {
  /// Puts the changes of families into their trees.
  ///
  /// As on a device: LEAVE_IF_CHANGED leaves all of a tree where it leaves one of its records; children
  /// get the id of a parent that is made; details go with a master that is deleted.
  func growTrees(_ candidates: [Candidate], _ plan: inout SnapshotPlan) throws {
    guard rules.contains(where: { $0.place != nil }) else { return }
    var keys: [Int64: String] = [:]
    for candidate in candidates where rules[candidate.sync].place != nil {
      keys[candidate.edit.id] = try treeKey(candidate)
    }
    if keys.isEmpty { return }
    var left = try leftBefore()
    left.formUnion(
      plan.settled.compactMap { edit, settlement -> String? in
        guard settlement.verdict.leavesEdit, let sync = sync(for: edit),
          rules[sync].mode == .leaveIfChanged
        else { return nil }
        return keys[edit.id]
      })
    for index in plan.sends.indices {
      let send = plan.sends[index]
      guard let place = rules[send.sync].place, let key = keys[send.edit.id] else { continue }
      switch place {
      case .parent: plan.sends[index].tree = PlannedSend.Tree(key: key)
      case .child(let targets):
        plan.sends[index].tree = PlannedSend.Tree(key: key, field: targets.key)
      }
    }
    let words = "a record of its family was left, and the others with it"
    plan.settled += plan.sends.filter { $0.tree.map { left.contains($0.key) } ?? false }.map {
      ($0.edit, Settlement(.blocked, .because(words)))
    }
    plan.sends.removeAll { $0.tree.map { left.contains($0.key) } ?? false }
    let parents = Dictionary(
      plan.sends.filter { $0.tree?.isParent == true }.map { ($0.tree?.key ?? "", $0) },
      uniquingKeysWith: { first, _ in first })
    for (key, parent) in parents { bind(parent, key, &plan) }
  }

  /// The trees of which a record was left in an earlier run and still waits for a person: the others of
  /// such a tree wait with it.
  private func leftBefore() throws -> Set<String> {
    var keys: Set<String> = []
    for edit in try state.leftEdits(snapshotID: snapshotID) {
      // What cannot be read any more is of no tree.
      guard let candidate = try? candidate(edit), rules[candidate.sync].place != nil,
        rules[candidate.sync].mode == .leaveIfChanged
      else { continue }
      keys.insert(try treeKey(candidate))
    }
    return keys
  }

  /// Binds the children of a parent that is sent to it.
  private func bind(_ parent: PlannedSend, _ key: String, _ plan: inout SnapshotPlan) {
    let isMade = parent.action == .create || parent.action == .upsert
    var followers: [OpenEdit] = []
    for index in plan.sends.indices {
      let child = plan.sends[index]
      guard child.tree?.key == key, child.tree?.isParent == false else { continue }
      if parent.action == .delete, rules[child.sync].place?.targets.isMasterDetail == true {
        followers.append(child.edit)
      } else if isMade, child.action != .delete {
        plan.sends[index].tree?.takesParentID = true
        if let creation = parent.edit.creation?.id { plan.sends[index].needs.remove(creation) }
        plan.sends[index].waiting.remove(child.tree?.field ?? "")
      }
    }
    let gone = Set(followers.map(\.id))
    plan.sends.removeAll { gone.contains($0.edit.id) }
    if let index = plan.sends.firstIndex(where: { $0.edit.id == parent.edit.id }) {
      plan.sends[index].followers = followers
    }
  }

  /// Names the tree of a record: by the Id of its parent, or by the creation that makes that.
  private func treeKey(_ candidate: Candidate) throws -> String {
    let edit = candidate.edit
    guard case .child(let targets)? = rules[candidate.sync].place else {
      return edit.recordID ?? edit.creation.map { "creation \($0.id)" } ?? "edit \(edit.id)"
    }
    guard let parent = candidate.element[targets.key]?.string, !parent.isEmpty else {
      return "edit \(edit.id)"
    }
    if let id = parent.recordID18 { return id }
    guard let creation = try state.creation(localID: parent, of: edit) else {
      return "edit \(edit.id)"
    }
    return creation.recordID ?? creation.deviceRecordID ?? "creation \(creation.id)"
  }

  // MARK: order

  /// Orders what is sent; a tree goes as one, its parent first, or last where that is deleted.
  func order(_ plan: inout SnapshotPlan) {
    var units: [[PlannedSend]] = []
    var places: [String: Int] = [:]
    for send in plan.sends {
      let key = send.tree.map { "\(rules[send.sync].definition.syncName) \($0.key)" }
      if let key, let place = places[key] {
        if send.tree?.isParent == true, send.action != .delete {
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
      let isLast: (PlannedSend) -> Bool = { $0.tree?.isParent == true && $0.action == .delete }
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
    let words = "it and the records it refers to need each other's Id"
    plan.settled += plan.sends.filter { cyclic.contains($0.edit.id) }.map {
      ($0.edit, Settlement(.blocked, .because(words)))
    }
    plan.sends.removeAll { cyclic.contains($0.edit.id) }
  }

  private static func node(_ unit: [PlannedSend]) -> DependencyOrder.Node {
    let first = unit[0]
    let isDelete = first.tree == nil && first.action == .delete
    var node = DependencyOrder.Node(
      editID: first.edit.id, deletes: isDelete ? first.recordID : nil,
      refersTo: isDelete ? references(first.edit) : [], floor: unit.map(\.floor).max() ?? 0)
    node.creates = Set(unit.compactMap { makes($0) })
    node.needs = Set(unit.flatMap(\.needs)).subtracting(node.creates)
    return node
  }

  static func makes(_ send: PlannedSend) -> Int64? {
    send.action == .create || send.action == .upsert ? send.edit.creation?.id : nil
  }

  /// The Ids in an element's members: lookups, for all we know.
  private static func references(_ edit: OpenEdit) -> Set<String> {
    guard let element = (try? JSONValue(parsing: edit.element))?.object else { return [] }
    var ids: Set<String> = []
    for (name, value) in element where name != "Id" {
      if let id = value.string?.recordID18 { ids.insert(id) }
    }
    return ids
  }
}
