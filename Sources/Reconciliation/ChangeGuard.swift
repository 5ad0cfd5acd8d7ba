import Crypto
import Ledger
import MobileSync

/// The guard `reconcile.maxChanges`: what one device may change before a person has to confirm it.
package struct ChangeGuard: Sendable {
  /// Changes of one device of a snapshot.
  package var perSnapshot = 5000
  /// Deletions of a soup.
  package var deletes = DeletionGuard()

  package init(perSnapshot: Int = 5000, deletes: DeletionGuard = DeletionGuard()) {
    self.perSnapshot = perSnapshot
    self.deletes = deletes
  }

  /// Says whether so many changes are too many; details that go with their master count too.
  func isTooMuch(_ sends: [PlannedSend]) -> Bool {
    sends.reduce(0) { $0 + 1 + $1.followers.count } > perSnapshot
  }

  /// What a person copies from what was shown to confirm it: another text has another one.
  package static func confirmation(of text: String) -> String {
    String(Digest.sha256Hex(Array(text.utf8)).prefix(16))
  }
}

extension SnapshotPlanner {
  /// Holds what is out of all proportion until a person confirms it: all that its device asks for, and
  /// nothing of other devices of its user.
  func hold(_ plan: inout SnapshotPlan) throws {
    let deletes = plan.guarded.contains { $0.action == .delete }
    guard deletes || options.maxChanges.isTooMuch(plan.guarded) else { return }
    for index in plan.sends.indices {
      plan.sends[index].device = try state.device(ofEdit: plan.sends[index].edit.id)
    }
    for (device, sends) in Dictionary(grouping: plan.guarded, by: \.device)
    where try isTooMuch(sends) {
      let digest = SnapshotPlan.digest(sends)
      if options.confirmed.contains(digest) {
        plan.confirmed.insert(digest)
      } else {
        plan.held[device] = digest
      }
    }
  }

  /// Says whether what one device asks for is out of all proportion.
  private func isTooMuch(_ sends: [PlannedSend]) throws -> Bool {
    let guardLimits = options.maxChanges
    if guardLimits.isTooMuch(sends) { return true }
    let deleted = sends.filter { $0.action == .delete }.flatMap {
      [$0.edit] + $0.followers.map(\.edit)
    }
    return try Dictionary(grouping: deleted, by: \.soup).contains { soup, group in
      let newest = group.map(\.returnID).max() ?? 0
      let total = try state.soupTotal(returnID: newest, soup)
      return !guardLimits.deletes.allows(deleting: group.count, of: total)
    }
  }
}

extension SnapshotPlan {
  /// What the guard looks at: a person has looked at each edit that was decided.
  var guarded: [PlannedSend] { sends.filter { $0.edit.decision?.isApproval != true } }

  /// Says whether the guard holds a write.
  func isHeld(_ send: PlannedSend) -> Bool {
    send.edit.decision?.isApproval != true && held[send.device] != nil
  }

  /// Names writes: a person who confirms them confirms these edits and nothing else.
  static func digest(_ sends: [PlannedSend]) -> String {
    let lines = sends.flatMap { send in
      ([send] + send.followers).map { each in
        "\(each.edit.id) \(send.action.rawValue) \(each.edit.content)\n"
      }
    }
    return ChangeGuard.confirmation(of: lines.sorted().joined())
  }
}
