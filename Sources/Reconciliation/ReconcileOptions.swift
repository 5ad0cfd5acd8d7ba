import Ledger
import MobileSync
import Salesforce
import System

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
  package enum DeviceConflicts: String, Sendable, Hashable, CaseIterable {
    /// They are reported and left.
    case manual
    /// The first to arrive is sent.
    case firstWins
    /// The last to arrive is sent.
    case lastWins
  }

  /// As whom edits are sent.
  package var sendAs = ActingUser.user
  /// What becomes of the edits of a user who cannot log in.
  package var onInactiveUser = InactiveUser.hold
  /// Whether an update under LEAVE_IF_CHANGED is sent where nobody else has touched what it changes.
  package var mergesFields = false
  /// Whether updates under LEAVE_IF_CHANGED carry the date that they were compared with.
  package var conditionalUpdates = true
  /// Which edit of a device conflict is sent.
  package var deviceConflicts = DeviceConflicts.manual
  /// Whether parents go before children.
  package var orderParentsFirst = true
  /// Which absent records are made anew under OVERWRITE.
  package var recreateDeleted = MissingRecordRule.Recreate.standard
  /// How long a create that got no answer may still be on its way.
  package var quietWindowSeconds = Int64(SyncDefaults.quietWindowSeconds)
  /// The most requests at once.
  package var inFlight = Org.defaultConcurrency
  /// Above how many changes of one user, action and object the org does them in a bulk job.
  package var bulkAbove = SyncDefaults.ingestAbove
  /// The unique fields that bear an edit's identity, at most one for an object.
  package var correlationFields: [CorrelationField] = []
  /// What needs a person's confirmation.
  package var maxChanges = ChangeGuard()
  /// The digests of plans that a person confirmed.
  package var confirmed: Set<String> = []
  /// The edits that are taken up; nil for all that are open.
  package var only: Set<Int64>?
  /// Ends a wait between attempts; tests do not sleep.
  package var pause: @Sendable (_ milliseconds: Int64) async throws -> Void = {
    try await Task.sleep(for: .milliseconds($0))
  }
  /// When no further request may begin, by the monotonic clock in ns; nil for never.
  package var deadline: UInt64?

  /// Whether there is time to wait for something.
  var mayWait: @Sendable () -> Bool {
    { [deadline] in deadline.map { Clock.monotonicNanoseconds() < $0 } ?? true }
  }

  /// The field of an object that bears an edit's identity.
  func correlationField(_ sobject: String) -> CorrelationField? {
    correlationFields.first { $0.sobject.lowercased() == sobject.lowercased() }
  }

  /// The defaults.
  package init() {}
}
