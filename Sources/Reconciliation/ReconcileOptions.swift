import Ledger
import MobileSync
import Salesforce
import System

/// The options for sending edits, named as in the pipeline file.
package struct ReconcileOptions: Sendable {
  /// The handling of edits of a user who cannot log in.
  package enum InactiveUser: String, Sendable, Hashable, CaseIterable {
    /// Keep them open.
    case hold
    /// Send them as the integration user.
    case integration
  }

  /// The handling of edits of one record from several devices.
  package enum DeviceConflicts: String, Sendable, Hashable, CaseIterable {
    /// Report them and send none.
    case manual
    /// Send the first to arrive.
    case firstWins
    /// Send the last to arrive.
    case lastWins
  }

  /// The user that edits are sent as.
  package var sendAs = ActingUser.user
  /// The handling of edits of a user who cannot log in.
  package var onInactiveUser = InactiveUser.hold
  /// Whether an update under LEAVE_IF_CHANGED is sent if no one else has changed its fields.
  package var mergesFields = false
  /// Whether updates, and upserts of existing records, are conditional on the date that they were
  /// compared with under LEAVE_IF_CHANGED.
  package var conditionalUpdates = true
  /// Which edit of a device conflict is sent.
  package var deviceConflicts = DeviceConflicts.manual
  /// Whether parents are sent before their children.
  package var orderParentsFirst = true
  /// Which missing records are recreated under OVERWRITE.
  package var recreateDeleted = MissingRecordRule.Recreate.standard
  /// How long a create without an answer may still arrive.
  package var unansweredWaitSeconds = Int64(SyncDefaults.unansweredWaitSeconds)
  /// The maximum number of concurrent requests.
  package var inFlight = Org.defaultConcurrency
  /// The number of changes of one user, action and object above which a bulk job is used.
  package var bulkAbove = SyncDefaults.ingestAbove
  /// The unique fields that hold an edit's identity, at most one per object.
  package var correlationFields: [CorrelationField] = []
  /// The limits that need an operator's confirmation.
  package var maxChanges = ChangeGuard()
  /// The digests of plans that an operator confirmed.
  package var confirmed: Set<String> = []
  /// The edits to process; nil for all open ones.
  package var only: Set<Int64>?
  /// Waits between attempts; replaced in tests.
  package var pause: @Sendable (_ milliseconds: Int64) async throws -> Void = {
    try await Task.sleep(for: .milliseconds($0))
  }
  /// The time after which no request may start, by the monotonic clock in ns; nil for no limit.
  package var deadline: UInt64?

  /// Whether there is time to wait.
  var mayWait: @Sendable () -> Bool {
    { [deadline] in deadline.map { Clock.monotonicNanoseconds() < $0 } ?? true }
  }

  /// The field of an object that holds an edit's identity.
  func correlationField(_ sobject: String) -> CorrelationField? {
    correlationFields.first { $0.sobject.lowercased() == sobject.lowercased() }
  }

  package init() {}
}
