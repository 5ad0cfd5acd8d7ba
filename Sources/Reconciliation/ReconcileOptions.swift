import Ledger
import MobileSync
import Salesforce

/// How edits are sent; the names are those of the pipeline file.
package struct ReconcileOptions: Sendable {
  /// What becomes of the edits of a user who cannot log in.
  package enum InactiveUser: String, Sendable, Hashable, CaseIterable {
    /// They stay open.
    case hold
    /// They are sent as the integration user.
    case integration
  }

  /// What becomes of edits of one record in several snapshots.
  package enum Across: String, Sendable, Hashable, CaseIterable {
    /// They are reported and left.
    case report
    /// The first to arrive is sent.
    case first
    /// The last to arrive is sent.
    case last
  }

  /// When a record that is gone is created again under OVERWRITE.
  package enum Recreate: String, Sendable, Hashable, CaseIterable {
    /// When it is proved that it was deleted.
    case whenProvedDeleted
    /// Never.
    case never
    /// Whenever it cannot be read.
    case asSDK
  }

  /// The most that one snapshot may change before a person has to confirm it.
  package struct Guard: Sendable {
    /// Changes of a snapshot.
    package var perSnapshot: Int
    /// Deletions of a soup, in percent of its rows.
    package var deletesPercent: Double
    /// Deletions of a soup that are never too many.
    package var minimumDeletes: Int

    /// A guard.
    package init(
      perSnapshot: Int = 5000, deletesPercent: Double = Double(SyncDefaults.maxDeletesPercent),
      minimumDeletes: Int = SyncDefaults.minimumDeletes
    ) {
      self.perSnapshot = perSnapshot
      self.deletesPercent = deletesPercent
      self.minimumDeletes = minimumDeletes
    }
  }

  /// As whom edits are sent.
  package var sendAs: ActingUser
  /// What becomes of the edits of a user who cannot log in.
  package var onInactiveUser: InactiveUser
  /// Whether an update under LEAVE_IF_CHANGED is sent where nobody else has touched what it changes.
  package var mergesFields = false
  /// Whether updates under LEAVE_IF_CHANGED carry the date that they were compared with.
  package var strict: Bool
  /// Which edit of a clash is sent.
  package var acrossSnapshots: Across
  /// Whether parents go before children.
  package var orderParentsFirst: Bool
  /// Which absent records are made anew under OVERWRITE.
  package var recreateDeleted: Recreate
  /// How long a create that got no answer may still be on its way.
  package var quietWindowSeconds: Int64
  /// The unique fields that bear an edit's identity, at most one for an object.
  package var correlationFields: [CorrelationField] = []
  /// What needs a person's confirmation.
  package var maxChanges: Guard
  /// The digests of plans that a person confirmed.
  package var confirmed: Set<String>
  /// The edits that are taken up; nil for all that are open.
  package var only: Set<Int64>?
  /// Ends a wait between attempts; tests do not sleep.
  package var pause: @Sendable (_ milliseconds: Int64) async throws -> Void
  /// When no further request may begin, by the monotonic clock in ns; nil for never.
  package var deadline: UInt64?

  /// The field of an object that bears an edit's identity.
  func correlationField(_ sobject: String) -> CorrelationField? {
    correlationFields.first { $0.sobject.lowercased() == sobject.lowercased() }
  }

  /// The defaults of the pipeline file.
  package init(
    sendAs: ActingUser = .user, onInactiveUser: InactiveUser = .hold, strict: Bool = true,
    acrossSnapshots: Across = .report, orderParentsFirst: Bool = true,
    recreateDeleted: Recreate = .whenProvedDeleted,
    quietWindowSeconds: Int64 = Int64(SyncDefaults.quietWindowSeconds),
    maxChanges: Guard = Guard(), confirmed: Set<String> = [], deadline: UInt64? = nil,
    pause: @escaping @Sendable (_ milliseconds: Int64) async throws -> Void = {
      try await Task.sleep(for: .milliseconds($0))
    }
  ) {
    self.sendAs = sendAs
    self.onInactiveUser = onInactiveUser
    self.strict = strict
    self.acrossSnapshots = acrossSnapshots
    self.orderParentsFirst = orderParentsFirst
    self.recreateDeleted = recreateDeleted
    self.quietWindowSeconds = quietWindowSeconds
    self.maxChanges = maxChanges
    self.confirmed = confirmed
    self.deadline = deadline
    self.pause = pause
  }
}

/// What a reconciliation tells while it works.
package enum ReconcileEvent: Sendable {
  /// The edits of a snapshot are taken up.
  case began(snapshotID: String, edits: Int)
  /// The state of the org's records was learnt.
  case learned(snapshotID: String, soup: String, records: Int)
  /// A batch was answered.
  case sent(snapshotID: String, soup: String, action: String, records: Int, refused: Int)
  /// An edit got its verdict.
  case settled(snapshotID: String, soup: String, verdict: Verdict)
  /// Something that a person should know.
  case warning(String)
}
