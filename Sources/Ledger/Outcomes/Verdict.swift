/// The outcome of an edit: a closed list, and the table of what each one means (`traits`).
///
/// Each edit has one per run, so their counts add up to the edits found.
package enum Verdict: String, CaseIterable, Sendable, Hashable {
  case created, updated, deleted
  /// It was not edited, or the device created and deleted the record itself.
  case unchanged
  /// The org has its values, or the record is deleted on both sides.
  case alreadyInOrg = "already in org"
  case notInFieldList = "not in field list"
  /// The merge mode leaves a record that changed in the org.
  case conflict
  case deviceConflict = "device conflict"
  case duplicateCreated = "duplicate created"
  case deletedOnServer = "deleted on server"
  case mergedOnServer = "merged on server"
  /// The sender cannot see the record, or its state could not be determined.
  case notVisible = "not visible"
  case superseded, discarded, undone
  case partlyUndone = "partly undone"
  case notUndone = "not undone"
  case blocked
  case exceedsUserAccess = "exceeds user access"
  /// No sync up of the pipeline covers the soup, or names fields for the operation.
  case notConfigured = "not configured"
  case failed
  /// An inactive user, a guard, a deadline or a limit held it, or another process kept the record
  /// locked.
  case notAttempted = "not attempted"
  /// It was sent without an answer that shows whether it arrived, or may have been sent before a
  /// recovery.
  case unconfirmed

  /// The verdicts in reading order: first those that need review.
  package static let inReadingOrder: [Verdict] = [
    .conflict, .deviceConflict, .failed, .unconfirmed, .duplicateCreated, .mergedOnServer,
    .deletedOnServer, .notVisible, .exceedsUserAccess, .blocked, .notAttempted, .notConfigured,
    .notUndone, .partlyUndone, .undone, .created, .updated, .deleted, .alreadyInOrg, .unchanged,
    .notInFieldList, .discarded, .superseded,
  ]

  /// A row of the table.
  package struct Traits: Sendable {
    /// The groups of verdicts; each has a color in reports.
    package enum Group: String, Sendable {
      /// The org was changed.
      case written
      /// A change in the org was undone.
      case undone
      /// The edit is resolved in another way.
      case settled
      /// The next run processes the edit again.
      case waiting
      /// An operator has to decide.
      case attention
    }

    package var group: Group
    var meaning: String
    var leavesEdit = false
    /// The decisions that an edit allows, the most likely one first.
    var decisions: @Sendable (DecisionRule.Subject) -> [Decision.Kind] = { _ in [] }
    /// What an operator should do about it, with some of these decisions; nil if nothing.
    package var advice: @Sendable ([Decision.Kind]) -> String? = { _ in nil }
  }

  /// The verdict's row in the table.
  package var traits: Traits {
    switch self {
    case .created: Traits(group: .written, meaning: "The record was created in the org.")
    case .updated: Traits(group: .written, meaning: "The record was changed in the org.")
    case .deleted: Traits(group: .written, meaning: "The record was deleted in the org.")
    case .unchanged:
      Traits(
        group: .settled,
        meaning: "The device has the values that it was given; there was nothing to send.")
    case .alreadyInOrg:
      Traits(group: .settled, meaning: "The org already has the device's values; nothing was sent.")
    case .notInFieldList:
      Traits(
        group: .settled,
        meaning: "Only fields outside the field list were edited; these fields are never sent.",
        advice: { _ in
          "This edit is not sent. If the field should be sent, add it to the field list of the sync up, and have the "
            + "device save the record again"
        })
    case .superseded:
      Traits(
        group: .settled,
        meaning: "A later return of the same device replaces it, or it was ingested before.")
    case .discarded:
      Traits(group: .settled, meaning: "An operator decided not to send it; the org's values stay.")
    case .undone: Traits(group: .undone, meaning: "Its change in the org was undone.")
    case .partlyUndone:
      Traits(
        group: .undone, meaning: "Some of its changes in the org were undone; the others stay.",
        advice: { _ in
          "The reason names the fields that stay: change them in the org by hand if they must be undone"
        })
    case .notUndone:
      Traits(
        group: .settled, meaning: "Its change in the org was to be undone, and stays.",
        advice: { _ in
          "Read the reason, and change in the org by hand what must still be undone"
        })
    case .conflict:
      Traits(
        group: .attention,
        meaning: "The record changed in the org after the device read it; nothing was sent.",
        leavesEdit: true, decisions: { _ in [.device, .server, .set, .retry] },
        advice: { _ in "Compare the values and decide" })
    case .deviceConflict:
      Traits(
        group: .attention,
        meaning:
          "Several edits of the record contradict each other, and no rule says which one is sent.",
        decisions: { [.device, $0.hasRecord ? .server : .discard, .set, .retry] },
        advice: { kinds in
          "Send the right device's edit with --take device, and decide each other edit with "
            + [Decision.Kind.server, .discard].filter(kinds.contains).map(\.option)
            .joined(separator: " or ")
        })
    case .duplicateCreated:
      Traits(
        group: .attention,
        meaning:
          "The record exists twice: once from this pipeline, and once from the device or a late request.",
        decisions: { _ in [.record, .discard, .retry] },
        advice: { _ in
          "Merge the two records in the org (decide --list shows both IDs), then decide which one counts"
        })
    case .deletedOnServer:
      Traits(
        group: .attention, meaning: "The record was deleted in the org; it was not recreated.",
        leavesEdit: true,
        decisions: { _ in [.device, .server, .retry] },
        advice: {
          Verdict.choice(
            $0, (.device, "recreate the record"), (.server, "leave it deleted"),
            (.retry, "retry after restoring it from the recycle bin"))
        })
    case .mergedOnServer:
      Traits(
        group: .attention, meaning: "The record was merged into another record in the org.",
        leavesEdit: true,
        decisions: {
          $0.hasRecord && !$0.deletes ? [.device, .server, .set, .retry] : [.server, .retry]
        },
        advice: {
          Verdict.choice(
            $0, (.device, "send it into the merge survivor (decide --list shows its ID)"),
            (.server, "discard it"))
        })
    case .notVisible:
      Traits(
        group: .attention,
        meaning: "The sender cannot see the record, and nothing shows that the record was deleted.",
        leavesEdit: true, decisions: { _ in [.retry, .discard] },
        advice: { _ in "Share the record with the user and retry, or discard the edit" })
    case .blocked:
      Traits(
        group: .waiting, meaning: "It refers to a record that did not reach the org.",
        decisions: { _ in [.retry, .set, .discard] },
        advice: { _ in
          "Fix the record that it refers to, and the next run retries it; or discard it"
        })
    case .exceedsUserAccess:
      Traits(
        group: .attention,
        meaning: "It would be sent with other permissions than its user's, "
          + "and the user was not issued the record.",
        decisions: { _ in [.device, .retry, .discard] },
        advice: { _ in
          "Check whether the user may do this: if so, send it; otherwise discard it"
        })
    case .notConfigured:
      Traits(
        group: .waiting, meaning: "The pipeline has no sync up for it; nothing was sent.",
        decisions: { _ in [.retry, .discard] },
        advice: { _ in "Add a sync up for it to the pipeline file, and retry" })
    case .failed:
      Traits(
        group: .attention, meaning: "The org refused it, or the returned row cannot be read.",
        leavesEdit: true,
        decisions: {
          $0.operation == .create && !$0.hasRecord
            ? [.set, .record, .retry, .discard] : [.set, .retry, .discard]
        },
        advice: {
          Verdict.choice(
            $0, (.set, "send another value"),
            (.record, "name the record that the org already has"),
            (.retry, "retry after fixing the reported error"), (.discard, "discard the edit"))
        })
    case .notAttempted:
      Traits(
        group: .waiting, meaning: "It was not attempted in this run; it stays open.",
        decisions: { _ in [.device, .retry, .discard] },
        advice: { _ in
          "If reconcile.maxChanges holds it, confirm the changes with --confirm, or decide; otherwise the next run retries it"
        })
    case .unconfirmed:
      Traits(
        group: .waiting,
        meaning:
          "It may be in the org: no answer came back, or the ledger that had the answer was lost.",
        decisions: {
          $0.hasRecord ? [.device, .retry, .discard] : [.record, .device, .retry, .discard]
        },
        advice: { _ in
          "The next run checks again; if it stays, look at the record in the org and decide"
        })
    }
  }

  /// Whether the edit is resolved, so that its device may install over it.
  package var isSettled: Bool { !isWaiting && traits.group != .attention }

  /// Whether the verdict closes the earlier edits of its row and device: the edit was processed,
  /// not discarded, and is not just a copy of another one.
  package var closesEarlier: Bool { isSettled && self != .superseded && self != .discarded }

  /// What the verdict means, in one sentence.
  package var meaning: String { traits.meaning }

  /// Whether a sync up leaves the edit on its device for the next sync up of the soup.
  package var leavesEdit: Bool { traits.leavesEdit }

  /// Whether the next run processes the edit again.
  package var isWaiting: Bool { traits.group == .waiting }

  /// Whether the org was changed.
  package var isWritten: Bool { traits.group == .written }

  /// Whether any change in the org was undone.
  package var isUndone: Bool { traits.group == .undone }

  /// The given decisions as one sentence, in the order in which the options are listed:
  /// "Recreate the record, or leave it deleted"; nil if there are none.
  private static func choice(
    _ kinds: [Decision.Kind], _ ways: (kind: Decision.Kind, words: String)...
  ) -> String? {
    let words = ways.filter { kinds.contains($0.kind) }.map(\.words)
    guard let last = words.last, let first = words.first else { return nil }
    let text = words.count == 1 ? last : words.dropLast().joined(separator: ", ") + ", or " + last
    return first.prefix(1).uppercased() + text.dropFirst()
  }
}
