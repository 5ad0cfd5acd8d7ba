import JSON
import Ledger
import MobileSync
import Salesforce

// Parents with their children: the records that a parent-children sync up sends in one request.
extension SnapshotPlanner {
  /// Puts the changes of families into their trees.
  ///
  /// As on a device, LEAVE_IF_CHANGED leaves a whole tree if it leaves one of its records, and
  /// children get the ID of a parent that is created. Details are deleted with their master if they
  /// are still below it in the org, which deletes them with it.
  nonisolated(nonsending) func growTrees(
    _ candidates: [Candidate], _ plan: inout SnapshotPlan
  ) async throws {
    guard rules.contains(where: { $0.place != nil }) else { return }
    var keys: [Int64: String] = [:]
    for candidate in candidates where rules[candidate.sync].place != nil {
      keys[candidate.edit.id] = try await treeKey(candidate)
    }
    if keys.isEmpty { return }
    let syncs = Dictionary(candidates.map { ($0.edit.id, $0.sync) }) { first, _ in first }
    let standing = try await standingDeletions(plan)
    let survivors = try await survivors(
      among: candidates, of: Set(standing.keys), &keys, &plan)
    var left = try await leftBefore()
    left.formUnion(
      plan.settled.compactMap { edit, settlement -> String? in
        guard settlement.verdict.leavesEdit, let sync = syncs[edit.id] ?? sync(for: edit),
          rules[sync].mode == .leaveIfChanged
        else { return nil }
        return keys[edit.id]
      })
    for index in plan.sends.indices {
      let send = plan.sends[index]
      guard let place = rules[send.sync].place, let key = keys[send.edit.id] else { continue }
      switch place {
      case .parent: plan.sends[index].tree = Write.Tree(key: key)
      case .child(let targets):
        plan.sends[index].tree = Write.Tree(key: key, field: targets.key)
      }
    }
    try block(detailsOf: standing, but: survivors, &plan)
    let words = "another record of its family was not sent, so none of them was"
    plan.settled += plan.sends.filter { $0.tree.map { left.contains($0.key) } ?? false }.map {
      ($0.edit, $0.blocked(because: words))
    }
    plan.sends.removeAll { $0.tree.map { left.contains($0.key) } ?? false }
    let parents = Dictionary(
      plan.sends.filter { $0.tree?.isParent == true }.map { ($0.tree?.key ?? "", $0) },
      uniquingKeysWith: { first, _ in first })
    for (key, parent) in parents { try bind(parent, key, survivors, &plan) }
  }

  /// The parents that a device has deleted and the org still has, with the devices, because the
  /// deletion was refused, not attempted or unconfirmed, and is not part of this plan.
  private nonisolated(nonsending) func standingDeletions(
    _ plan: SnapshotPlan
  ) async throws -> [String: Set<Int64>] {
    var planned = Set(plan.sends.map(\.edit.id))
    planned.formUnion(plan.settled.filter(\.settlement.verdict.isSettled).map(\.edit.id))
    var devices: [String: Set<Int64>] = [:]
    for edit in try state.edits(.deletions(snapshotID: snapshotID))
    where !planned.contains(edit.id) {
      // An edit that can no longer be read is not in any tree.
      guard let candidate = try? candidate(edit), candidate.operation == .delete,
        case .parent(let targets)? = rules[candidate.sync].place, targets.isMasterDetail
      else { continue }
      let key = try await treeKey(candidate)
      devices[key, default: []].insert(try state.device(ofEdit: edit.id))
    }
    return devices
  }

  /// Blocks details whose parent was deleted on their device while the org still has it; a device
  /// sends none of them.
  private func block(
    detailsOf standing: [String: Set<Int64>], but survivors: Set<Int64>,
    _ plan: inout SnapshotPlan
  ) throws {
    if standing.isEmpty { return }
    var waiting: Set<Int64> = []
    for send in plan.sends {
      guard let tree = send.tree, !tree.isParent, !survivors.contains(send.edit.id),
        rules[send.sync].place?.targets.isMasterDetail == true,
        let devices = standing[tree.key], devices.contains(try state.device(ofEdit: send.edit.id))
      else { continue }
      waiting.insert(send.edit.id)
      plan.settled.append((send.edit, send.blocked(because: Write.parentStandsText)))
    }
    plan.sends.removeAll { waiting.contains($0.edit.id) }
  }

  /// The edits of children whose parent the device deleted, according to `parents` of earlier runs,
  /// and which the org does not delete with it.
  ///
  /// Children with a lookup are sent before their parent, in the same tree. Records that another
  /// user moved to another parent have a separate tree, and are not moved back by a value that the
  /// device never edited.
  private nonisolated(nonsending) func survivors(
    among candidates: [Candidate], of parents: Set<String>, _ keys: inout [Int64: String],
    _ plan: inout SnapshotPlan
  ) async throws -> Set<Int64> {
    var deleted = parents
    for candidate in candidates where candidate.operation == .delete {
      if case .parent? = rules[candidate.sync].place, let key = keys[candidate.edit.id] {
        deleted.insert(key)
      }
    }
    var survivors: Set<Int64> = []
    for candidate in candidates {
      let edit = candidate.edit
      guard case .child(let targets)? = rules[candidate.sync].place, let key = keys[edit.id],
        deleted.contains(key)
      else { continue }
      if try await !areDetails(targets) { survivors.insert(edit.id) }
      guard case .alive(_, let fields) = candidate.server, let parent = fields[targets.key],
        parent.string?.recordID18 != key
      else { continue }
      survivors.insert(edit.id)
      if let base = edit.base, base.knows(targets.key),
        !FieldValue.isSame(base.fields[targets.key], candidate.element[targets.key])
      {
        // The device itself has moved it there.
        continue
      }
      keys[edit.id] = "edit \(edit.id)"
      plan.leaveOut(targets.key, of: edit)
    }
    return survivors
  }

  /// Whether the org deletes the children of a family with their parent, as far as it says so.
  nonisolated(nonsending) func areDetails(
    _ targets: ParentChildrenUpTargets
  ) async throws -> Bool {
    guard targets.isMasterDetail else { return false }
    let child = targets.family.children.sobjectType.lowercased()
    do {
      let relation = try await records.describe(targets.family.parent.sobjectType).children.first {
        $0.sobject.lowercased() == child && $0.field.lowercased() == targets.key.lowercased()
      }
      return relation?.cascadesDelete ?? true
    } catch {
      guard error.isAboutTheObject else { throw error }
      return true
    }
  }

  /// The trees in which a record was left by an earlier run and still needs review; the other
  /// records of such a tree wait for it.
  private nonisolated(nonsending) func leftBefore() async throws -> Set<String> {
    var keys: Set<String> = []
    for edit in try state.edits(.left(snapshotID: snapshotID)) {
      // An edit that can no longer be read is not in any tree.
      guard let candidate = try? candidate(edit), rules[candidate.sync].place != nil,
        rules[candidate.sync].mode == .leaveIfChanged
      else { continue }
      keys.insert(try await treeKey(candidate))
    }
    return keys
  }

  /// Links the children of a parent that is sent to it.
  private func bind(
    _ parent: Write, _ key: String, _ survivors: Set<Int64>, _ plan: inout SnapshotPlan
  ) throws {
    let isMade = parent.action == .create || parent.action == .upsert
    let device = try state.device(ofEdit: parent.edit.id)
    var followers: [Write] = []
    for index in plan.sends.indices {
      let child = plan.sends[index]
      guard child.tree?.key == key, child.tree?.isParent == false else { continue }
      if parent.action == .delete, rules[child.sync].place?.targets.isMasterDetail == true,
        !survivors.contains(child.edit.id), try state.device(ofEdit: child.edit.id) == device
      {
        followers.append(child)
      } else if isMade, child.action != .delete {
        plan.sends[index].tree?.takesParentID = true
        if let made = Self.makes(parent) { plan.sends[index].needs.remove(made) }
        plan.sends[index].waiting[child.tree?.field ?? ""] = nil
      }
    }
    let gone = Set(followers.map(\.edit.id))
    plan.sends.removeAll { gone.contains($0.edit.id) }
    if let index = plan.sends.firstIndex(where: { $0.edit.id == parent.edit.id }) {
      plan.sends[index].followers += followers
    }
  }

  /// The key of a record's tree: the ID of its parent, or the creation of the parent.
  private nonisolated(nonsending) func treeKey(_ candidate: Candidate) async throws -> String {
    let edit = candidate.edit
    guard case .child(let targets)? = rules[candidate.sync].place else {
      return edit.recordID ?? edit.creation.map { "creation \($0.id)" } ?? "edit \(edit.id)"
    }
    guard let parent = candidate.element[targets.key]?.string, !parent.isEmpty else {
      return "edit \(edit.id)"
    }
    switch try await referent(parent, of: edit) {
    case .record(let id, _)?: return id
    case .new(let creation)?: return "creation \(creation.id)"
    case .unknown?, nil: return parent.recordID18 ?? "edit \(edit.id)"
    }
  }
}

extension SnapshotPlan {
  /// Sends an edit's update without a field.
  mutating func leaveOut(_ field: String, of edit: OpenEdit) {
    guard
      let place = sends.firstIndex(where: { $0.edit.id == edit.id && $0.action == .update }),
      sends[place].payload[field] != nil
    else { return }
    sends[place].payload[field] = nil
    sends[place].expected.detail.fields.removeAll { $0.name == field }
    if case .object(var seen)? = sends[place].seen {
      seen[field] = nil
      sends[place].seen = .object(seen)
    }
    if sends[place].payload.names.isEmpty {
      settled.append((edit, Settlement(.unchanged)))
      sends.remove(at: place)
    }
  }
}
