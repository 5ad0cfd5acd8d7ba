/// The outcome of an edit: a closed list.
///
/// Each edit has one per run, so their counts add up to the edits found.
package enum Verdict: String, CaseIterable, Sendable, Hashable {
  /// The record was created in the org.
  case created
  /// The record was changed in the org.
  case updated
  /// The record was deleted in the org.
  case deleted
  /// The device has the values that it was issued, or created and deleted the record itself.
  case unchanged
  /// The org already has the device's values, or the record is deleted on both sides.
  case alreadyInOrg = "already in org"
  /// Every edited field is outside the field list.
  case notInFieldList = "not in field list"
  /// The record changed in the org since the device read it, and the merge mode leaves it.
  case conflict
  /// Several edits of the record, from several devices or from one, contradict each other.
  case deviceConflict = "device conflict"
  /// The device and attache both created the record.
  case duplicateCreated = "duplicate created"
  /// The record was deleted in the org.
  case deletedOnServer = "deleted on server"
  /// The record was merged into another one in the org.
  case mergedOnServer = "merged on server"
  /// The record exists but the sender cannot see it, or its state could not be determined.
  case notVisible = "not visible"
  /// A later return of the same device has replaced this edit, or it was seen before.
  case superseded
  /// An operator decided that it is not sent.
  case discarded
  /// The edit's changes in the org were undone.
  case undone
  /// Some of the edit's changes in the org were undone, and others remain.
  case partlyUndone = "partly undone"
  /// The edit's changes were to be undone, but remain in the org.
  case notUndone = "not undone"
  /// It refers to a record that could not be sent.
  case blocked
  /// It would be sent with other permissions than its user's, and its user may not make the change.
  case exceedsUserAccess = "exceeds user access"
  /// No sync up of the pipeline covers the soup.
  case notConfigured = "not configured"
  /// The org refused it, or it cannot be read.
  case failed
  /// It was not attempted because of an inactive user, a guard, a deadline or a limit, or because
  /// another process kept the record locked.
  case notAttempted = "not attempted"
  /// It was sent without an answer that shows whether it arrived, or may have been sent before a
  /// recovery.
  case unconfirmed = "unconfirmed"

  /// Whether the edit is resolved, so that its device may install over it.
  package var isSettled: Bool {
    switch self {
    case .created, .updated, .deleted, .unchanged, .alreadyInOrg, .notInFieldList, .superseded,
      .discarded, .undone, .partlyUndone, .notUndone:
      true
    case .conflict, .deviceConflict, .duplicateCreated, .deletedOnServer, .mergedOnServer,
      .notVisible, .blocked, .exceedsUserAccess, .notConfigured, .failed, .notAttempted,
      .unconfirmed:
      false
    }
  }

  /// Whether the verdict closes the earlier edits of its row and device: the edit was processed,
  /// not discarded, and is not just a copy of another one.
  package var closesEarlier: Bool { isSettled && self != .superseded && self != .discarded }

  /// Whether the next run processes the edit again.
  package var isWaiting: Bool {
    switch self {
    case .blocked, .notAttempted, .unconfirmed, .notConfigured: true
    case .created, .updated, .deleted, .unchanged, .alreadyInOrg, .notInFieldList, .superseded,
      .discarded, .undone, .partlyUndone, .notUndone, .conflict,
      .deviceConflict, .duplicateCreated, .deletedOnServer, .mergedOnServer, .notVisible,
      .exceedsUserAccess, .failed:
      false
    }
  }

  /// Whether a sync up leaves the edit on its device for the next sync up of the soup.
  package var leavesEdit: Bool {
    switch self {
    case .conflict, .deletedOnServer, .mergedOnServer, .notVisible, .failed: true
    case .created, .updated, .deleted, .unchanged, .alreadyInOrg, .notInFieldList, .superseded,
      .discarded, .undone, .partlyUndone, .notUndone, .deviceConflict,
      .duplicateCreated, .blocked, .exceedsUserAccess, .notConfigured, .notAttempted, .unconfirmed:
      false
    }
  }

  /// Whether the org was changed.
  package var isWritten: Bool { self == .created || self == .updated || self == .deleted }

  /// Whether any change in the org was undone.
  package var isUndone: Bool { self == .undone || self == .partlyUndone }

  /// What the verdict means, in one sentence.
  package var meaning: String {
    switch self {
    case .created: "The record was created in the org."
    case .updated: "The record was changed in the org."
    case .deleted: "The record was deleted in the org."
    case .unchanged: "The device has the values that it was given; there was nothing to send."
    case .alreadyInOrg: "The org already has the device's values; nothing was sent."
    case .notInFieldList:
      "Only fields outside the field list were edited; these fields are never sent."
    case .conflict: "The record changed in the org after the device read it; nothing was sent."
    case .deviceConflict:
      "Several edits of the record contradict each other, and no rule says which one is sent."
    case .duplicateCreated:
      "The record exists twice: once from this pipeline, and once from the device or a late request."
    case .deletedOnServer: "The record was deleted in the org; it was not recreated."
    case .mergedOnServer: "The record was merged into another record in the org."
    case .notVisible:
      "The sender cannot see the record, and nothing shows that the record was deleted."
    case .superseded: "A later return of the same device replaces it, or it was ingested before."
    case .discarded: "An operator decided not to send it; the org's values stay."
    case .undone: "Its change in the org was undone."
    case .partlyUndone: "Some of its changes in the org were undone; the others stay."
    case .notUndone: "Its change in the org was to be undone, and stays."
    case .blocked: "It refers to a record that did not reach the org."
    case .exceedsUserAccess:
      "It would be sent with other permissions than its user's, "
        + "and the user was not issued the record."
    case .notConfigured: "The pipeline has no sync up for it; nothing was sent."
    case .failed: "The org refused it, or the returned row cannot be read."
    case .notAttempted: "It was not attempted in this run; it stays open."
    case .unconfirmed:
      "It may be in the org: no answer came back, or the ledger that had the answer was lost."
    }
  }

  /// What an operator should do about it; nil if nothing.
  ///
  /// It suggests only the given decisions, which come from `DecisionRule`, as do the commands.
  package func advice(allowing kinds: [Decision.Kind]) -> String? {
    switch self {
    case .created, .updated, .deleted, .unchanged, .alreadyInOrg, .superseded, .discarded, .undone:
      nil
    case .partlyUndone:
      "The reason names the fields that stay: change them in the org by hand if they must be undone"
    case .notUndone: "Read the reason, and change in the org by hand what must still be undone"
    case .notInFieldList:
      "This edit is not sent. If the field should be sent, add it to the field list of the sync up, and have the "
        + "device save the record again"
    case .conflict: "Compare the values and decide"
    case .deviceConflict:
      "Send the right device's edit with --take device, and decide each other edit with "
        + [Decision.Kind.server, .discard].filter(kinds.contains).map(\.option)
        .joined(separator: " or ")
    case .duplicateCreated:
      "Merge the two records in the org (decide --list shows both IDs), then decide which one counts"
    case .deletedOnServer:
      Self.choice(
        kinds, (.device, "recreate the record"), (.server, "leave it deleted"),
        (.retry, "retry after restoring it from the recycle bin"))
    case .mergedOnServer:
      Self.choice(
        kinds, (.device, "send it into the merge survivor (decide --list shows its ID)"),
        (.server, "discard it"))
    case .notVisible: "Share the record with the user and retry, or discard the edit"
    case .blocked: "Fix the record that it refers to, and the next run retries it; or discard it"
    case .exceedsUserAccess:
      "Check whether the user may do this: if so, send it; otherwise discard it"
    case .notConfigured: "Add a sync up for it to the pipeline file, and retry"
    case .failed:
      Self.choice(
        kinds, (.set, "send another value"), (.record, "name the record that the org already has"),
        (.retry, "retry after fixing the reported error"), (.discard, "discard the edit"))
    case .notAttempted:
      "If reconcile.maxChanges holds it, confirm the changes with --confirm, or decide; otherwise the next run retries it"
    case .unconfirmed:
      "The next run checks again; if it stays, look at the record in the org and decide"
    }
  }

  /// The given decisions as one sentence, in the order in which `DecisionRule` lists their options:
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
