/// What became of an edit: a closed list, one per edit and run, whose counts add up to the edits
/// found.
package enum Verdict: String, CaseIterable, Sendable, Hashable {
  /// The record was created in the org.
  case created
  /// The record was changed in the org.
  case updated
  /// The record was deleted in the org.
  case deleted
  /// The device holds the values that it was given, or created and deleted the record itself.
  case unchanged
  /// The org holds the device's values already, or the record is gone on both sides.
  case alreadyThere = "already in org"
  /// Every edited field is outside the field list.
  case filtered
  /// The record changed in the org since the device read it, and the merge mode leaves it.
  case conflict
  /// Several edits of the record, of several devices or of one, contradict each other.
  case clash
  /// The device and attache both created the record.
  case createdTwice = "duplicate created"
  /// The record was deleted in the org.
  case deletedOnServer = "deleted on server"
  /// The record was merged into another one in the org.
  case mergedOnServer = "merged on server"
  /// The record exists, and the sender may not see it; or nobody could prove what became of it.
  case notVisible = "not visible"
  /// A later hand-back of the same device holds this edit, or it was seen before.
  case superseded
  /// A person decided that it is not sent.
  case dropped
  /// What it had changed in the org was undone.
  case undone
  /// Of what it had changed in the org some fields were undone, and others stand.
  case partlyUndone = "partly undone"
  /// What it changed was to be undone, and stands in the org.
  case notUndone = "not undone"
  /// It refers to a record that could not be sent.
  case blocked
  /// It would go out with other rights than its user's, and is not the user's to make.
  case notPermitted = "not permitted"
  /// No sync up of the pipeline covers the soup.
  case notConfigured = "not configured"
  /// The org refused it, or it cannot be read.
  case failed
  /// It was not tried: inactive user, guard, deadline or limit; or another writer held the record all the while.
  case held
  /// It was sent, and no answer says whether it arrived; or it may have been, before a recovery.
  case inDoubt = "unconfirmed"

  /// Says whether the edit needs nothing more, so that its device may install over it.
  package var isSettled: Bool {
    switch self {
    case .created, .updated, .deleted, .unchanged, .alreadyInOrg, .notInFieldList, .superseded, .discarded,
      .undone, .partlyUndone, .notUndone:
      true
    case .conflict, .deviceConflict, .duplicateCreated, .deletedOnServer, .mergedOnServer, .notVisible,
      .blocked, .notPermitted, .notConfigured, .failed, .notAttempted, .unconfirmed:
      false
    }
  }

  /// Says whether the edit stands for the earlier ones of its row and device: it was dealt with, not
  /// given up, nor is it only a copy of another one.
  package var closesEarlier: Bool { isSettled && self != .superseded && self != .discarded }

  /// Says whether the next run takes the edit up by itself.
  package var isWaiting: Bool {
    switch self {
    case .blocked, .notAttempted, .unconfirmed, .notConfigured: true
    case .created, .updated, .deleted, .unchanged, .alreadyInOrg, .notInFieldList, .superseded, .discarded,
      .undone, .partlyUndone, .notUndone, .conflict, .deviceConflict, .duplicateCreated, .deletedOnServer,
      .mergedOnServer,
      .notVisible,
      .notPermitted, .failed:
      false
    }
  }

  /// Says whether a sync up leaves the edit on its device for the next sync up of the soup.
  package var leavesEdit: Bool {
    switch self {
    case .conflict, .deletedOnServer, .mergedOnServer, .notVisible, .failed: true
    case .created, .updated, .deleted, .unchanged, .alreadyInOrg, .notInFieldList, .superseded, .discarded,
      .undone, .partlyUndone, .notUndone, .deviceConflict, .duplicateCreated, .blocked, .notPermitted,
      .notConfigured, .notAttempted,
      .unconfirmed:
      false
    }
  }

  /// Says whether the org was changed.
  package var isWritten: Bool { self == .created || self == .updated || self == .deleted }

  /// Says whether something in the org was taken back.
  package var isUndone: Bool { self == .undone || self == .partlyUndone }

  /// What it means, in one sentence.
  package var meaning: String {
    switch self {
    case .created: "The record was created in the org."
    case .updated: "The record was changed in the org."
    case .deleted: "The record was deleted in the org."
    case .unchanged: "The device holds the values it was given; there was nothing to send."
    case .alreadyInOrg: "The org already holds the device's values; nothing was sent."
    case .notInFieldList: "Only fields outside the field list were edited; they never travel."
    case .conflict: "The record changed in the org after the device read it; it was left alone."
    case .deviceConflict:
      "Several edits of the record contradict each other, and nothing says which one stands."
    case .duplicateCreated:
      "Two records were made of it: by this pipeline, and by the device or a request that arrived late."
    case .deletedOnServer: "The record was deleted in the org; it was not created again."
    case .mergedOnServer: "The record was merged into another record in the org."
    case .notVisible: "The sender cannot see the record, and it was not proved to be deleted."
    case .superseded: "A later hand-back of the same device holds it, or it was seen before."
    case .discarded: "A person decided that it is not sent; what the org holds stands."
    case .undone: "What it had changed in the org was undone."
    case .partlyUndone: "Some fields that it had changed were undone; the others stand in the org."
    case .notUndone: "What it changed was to be undone, and stands in the org."
    case .blocked: "It refers to a record that did not reach the org."
    case .notPermitted:
      "It would go out with other rights than its user's, and the user was not issued the record."
    case .notConfigured: "The pipeline has no sync up for it; nothing was sent."
    case .failed: "The org refused it, or what the device handed back cannot be read."
    case .notAttempted:
      "It was not tried in this run, or the org could not do it at that moment; it stays open."
    case .unconfirmed:
      "It may be in the org: no answer came back, or the ledger that knew was lost. Nobody could tell."
    }
  }

  /// What a person should do about it, in words; nil for nothing.
  ///
  /// The commands are `DecisionRule`'s.
  package var advice: String? {
    switch self {
    case .created, .updated, .deleted, .unchanged, .alreadyInOrg, .superseded, .discarded, .undone:
      nil
    case .partlyUndone:
      "The reason names the fields that stand: what is to be undone there, change in the org by hand"
    case .notUndone: "Read the reason; what is still to be undone, change in the org by hand"
    case .notInFieldList:
      "If the field should travel, add it to the field list of the sync up: what devices save from then on is sent "
        + "with it, and this edit once its row is saved again"
    case .conflict: "Compare the values and decide"
    case .deviceConflict: "Decide which device is right: its edit is sent, and the others are given up"
    case .duplicateCreated:
      "Merge the two records in the org, both ids are listed; then say which one counts"
    case .deletedOnServer:
      "Restore the record from the recycle bin and try once more, make it anew, or leave it deleted"
    case .mergedOnServer:
      "Send it into the record that remained, its id is listed, or give it up"
    case .notVisible: "Share the record with the user and try once more, or give the edit up"
    case .blocked: "Mend the record it refers to, and the next run tries again; or give the edit up"
    case .notPermitted: "Ask whether the user may do this, and send it if so; else give it up"
    case .notConfigured: "Add a sync up for it to the pipeline file, and try once more"
    case .failed: "Mend what the org names and try once more, send another value, or give it up"
    case .notAttempted: "The next run takes it up; if the reason does not pass by itself, decide"
    case .unconfirmed: "The next run asks again; if it stays, look at the record in the org and decide"
    }
  }
}
