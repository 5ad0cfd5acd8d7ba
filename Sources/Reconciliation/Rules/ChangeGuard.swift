import Crypto
import Ledger
import MobileSync

/// The guard `reconcile.maxChanges`: what one device may change without an operator's confirmation.
package struct ChangeGuard: Sendable {
  /// The limit on changes by one device of a snapshot.
  package var perSnapshot = 5000
  /// The limit on deletions in a soup.
  package var deletes = DeletionGuard()

  package init(perSnapshot: Int = 5000, deletes: DeletionGuard = DeletionGuard()) {
    self.perSnapshot = perSnapshot
    self.deletes = deletes
  }

  /// Whether there are too many changes; details deleted with their master count too.
  func isTooMuch(_ sends: [Write]) -> Bool {
    sends.reduce(0) { $0 + 1 + $1.followers.count } > perSnapshot
  }

  /// The code that an operator copies to confirm what was shown; each text has its own.
  package static func confirmation(of text: String) -> String {
    String(Digest.sha256Hex(Array(text.utf8)).prefix(16))
  }
}

extension SnapshotPlanner {
  /// Holds excessive changes until an operator confirms them: all changes by the device in
  /// question, and none by other devices of its user.
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

  /// Whether one device's changes exceed the guard's limits.
  private func isTooMuch(_ sends: [Write]) throws -> Bool {
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
  /// The writes that the guard checks.
  ///
  /// An operator has already approved those with a decision.
  var guarded: [Write] { sends.filter { $0.edit.decision?.isApproval != true } }

  /// Whether the guard holds a write.
  func isHeld(_ send: Write) -> Bool {
    send.edit.decision?.isApproval != true && held[send.device] != nil
  }

  /// Identifies writes, so that a confirmation applies to these edits only.
  static func digest(_ sends: [Write]) -> String {
    let lines = sends.flatMap { send in
      ([send] + send.followers).map { each in
        "\(each.edit.id) \(send.action.rawValue) \(each.edit.content)\n"
      }
    }
    return ChangeGuard.confirmation(of: lines.sorted().joined())
  }
}
