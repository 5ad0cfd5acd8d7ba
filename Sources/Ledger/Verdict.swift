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
  case alreadyThere = "already there"
  /// Every edited field is outside the field list.
  case filtered
  /// The record changed in the org since the device read it, and the merge mode leaves it.
  case conflict
  /// Several edits of the record, from several devices or from one, contradict each other.
  case clash
  /// The device and attache both created the record.
  case createdTwice = "created twice"
  /// The record was deleted in the org.
  case deletedOnServer = "deleted on server"
  /// The record was merged into another one in the org.
  case mergedOnServer = "merged on server"
  /// The record exists but the sender cannot see it, or its state could not be determined.
  case notVisible = "not visible"
  /// A later return of the same device has replaced this edit, or it was seen before.
  case superseded
  /// An operator decided that it is not sent.
  case dropped
  /// The edit's changes in the org were undone.
  case undone
  /// Some of the edit's changes in the org were undone, and others remain.
  case partlyUndone = "partly undone"
  /// The edit's changes were to be undone, but remain in the org.
  case notUndone = "not undone"
  /// It refers to a record that could not be sent.
  case blocked
  /// It would be sent with other permissions than its user's, and its user may not make the change.
  case notPermitted = "not permitted"
  /// No sync up of the pipeline covers the soup.
  case notConfigured = "not configured"
  /// The org refused it, or it cannot be read.
  case failed
  /// It was not attempted because of an inactive user, a guard, a deadline or a limit, or because
  /// another process kept the record locked.
  case held
  /// It was sent without an answer that says whether it arrived, or may have been sent before a
  /// recovery.
  case inDoubt = "in doubt"

  /// Whether the edit is resolved, so that its device may install over it.
  package var isSettled: Bool {
    switch self {
    case .created, .updated, .deleted, .unchanged, .alreadyThere, .filtered, .superseded, .dropped,
      .undone, .partlyUndone, .notUndone:
      true
    case .conflict, .clash, .createdTwice, .deletedOnServer, .mergedOnServer, .notVisible,
      .blocked, .notPermitted, .notConfigured, .failed, .held, .inDoubt:
      false
    }
  }

  /// Whether the verdict closes the earlier edits of its row and device: the edit was processed,
  /// not discarded, and is not just a copy of another one.
  package var closesEarlier: Bool { isSettled && self != .superseded && self != .dropped }

  /// Whether the next run processes the edit again.
  package var isWaiting: Bool {
    switch self {
    case .blocked, .held, .inDoubt, .notConfigured: true
    case .created, .updated, .deleted, .unchanged, .alreadyThere, .filtered, .superseded, .dropped,
      .undone, .partlyUndone, .notUndone, .conflict, .clash, .createdTwice, .deletedOnServer,
      .mergedOnServer,
      .notVisible,
      .notPermitted, .failed:
      false
    }
  }

  /// Whether a sync up leaves the edit on its device for the next sync up of the soup.
  package var leavesEdit: Bool {
    switch self {
    case .conflict, .deletedOnServer, .mergedOnServer, .notVisible, .failed: true
    case .created, .updated, .deleted, .unchanged, .alreadyThere, .filtered, .superseded, .dropped,
      .undone, .partlyUndone, .notUndone, .clash, .createdTwice, .blocked, .notPermitted,
      .notConfigured, .held,
      .inDoubt:
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
    case .unchanged: "The device holds the values it was given; there was nothing to send."
    case .alreadyThere: "The org already holds the device's values; nothing was sent."
    case .filtered: "Only fields outside the field list were edited; they never travel."
    case .conflict: "The record changed in the org after the device read it; it was left alone."
    case .clash:
      "Several edits of the record contradict each other, and nothing says which one stands."
    case .createdTwice:
      "Two records were made of it: by this pipeline, and by the device or a request that arrived late."
    case .deletedOnServer: "The record was deleted in the org; it was not created again."
    case .mergedOnServer: "The record was merged into another record in the org."
    case .notVisible: "The sender cannot see the record, and it was not proved to be deleted."
    case .superseded: "A later hand-back of the same device holds it, or it was seen before."
    case .dropped: "A person decided that it is not sent; what the org holds stands."
    case .undone: "What it had changed in the org was undone."
    case .partlyUndone: "Some fields that it had changed were undone; the others stand in the org."
    case .notUndone: "What it changed was to be undone, and stands in the org."
    case .blocked: "It refers to a record that did not reach the org."
    case .notPermitted:
      "It would go out with other rights than its user's, and the user was not issued the record."
    case .notConfigured: "The pipeline has no sync up for it; nothing was sent."
    case .failed: "The org refused it, or what the device handed back cannot be read."
    case .held:
      "It was not tried in this run, or the org could not do it at that moment; it stays open."
    case .inDoubt:
      "It may be in the org: no answer came back, or the ledger that knew was lost. Nobody could tell."
    }
  }

  /// What an operator should do about it; nil if nothing.
  ///
  /// The commands come from `DecisionRule`.
  package var advice: String? {
    switch self {
    case .created, .updated, .deleted, .unchanged, .alreadyThere, .superseded, .dropped, .undone:
      nil
    case .partlyUndone:
      "The reason names the fields that stand: what is to be undone there, change in the org by hand"
    case .notUndone: "Read the reason; what is still to be undone, change in the org by hand"
    case .filtered:
      "If the field should travel, add it to the field list of the sync up: what devices save from then on is sent "
        + "with it, and this edit once its row is saved again"
    case .conflict: "Compare the values and decide"
    case .clash: "Decide which device is right: its edit is sent, and the others are given up"
    case .createdTwice:
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
    case .held: "The next run takes it up; if the reason does not pass by itself, decide"
    case .inDoubt: "The next run asks again; if it stays, look at the record in the org and decide"
    }
  }
}
