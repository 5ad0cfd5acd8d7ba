import System

/// A modification date as found in a record.
package struct ModificationDate: Sendable, Hashable, CustomStringConvertible {
  package let text: String

  package init(_ text: String) { self.text = text }

  /// The time in milliseconds; nil if the text is not a date.
  package var milliseconds: Int64? { Dates.milliseconds(iso8601: text) }

  /// Whether this date is equal to the other or later.
  ///
  /// Dates are compared as times (as on iOS), and as text if either is not a date (as Android
  /// always does).
  package func isAtLeast(_ other: ModificationDate) -> Bool {
    if let mine = milliseconds, let theirs = other.milliseconds { return mine >= theirs }
    return text >= other.text
  }

  package var description: String { text }
}

/// What is known about the org's record before a local change is sent.
package enum ServerState: Sendable, Hashable {
  /// The org was not asked, or the response was an error.
  case unknown
  /// The record is verified as deleted: it cannot be read *and* `queryAll` returns it as deleted.
  case deleted
  /// The record exists; nil if it has no modification date.
  case alive(ModificationDate?)
}

/// What to do with a local change, by operation, dates and merge mode.
package enum MergeDecision: Sendable, Hashable {
  case nothing
  /// The element is removed from the store without a request.
  case dropLocally
  /// The change is sent unchanged.
  case send
  /// The record is recreated: it was deleted in the org, and the mode overwrites.
  case recreate
  /// The record was deleted on both sides: the element is removed from the store without a request.
  case alreadyDeleted
  /// The change stays on the device.
  case leave(Reason)

  package typealias Reason = SyncReport.MergeReason

  /// Decides like the SDK.
  ///
  /// LEAVE_IF_CHANGED sends changes that are at least as new as the org's record, changes without a
  /// date, and elements created on the device; OVERWRITE sends everything. The SDK sends no query
  /// before it overwrites and learns of a deleted record from the response. Here `server` may
  /// already be known, and the decision is the same.
  package static func decide(
    _ operation: SyncOperation, local: ModificationDate?, server: ServerState, mode: MergeMode
  ) -> MergeDecision {
    switch operation {
    case .none: .nothing
    case .dropLocally: .dropLocally
    case .create: .send
    case .update where server == .deleted, .delete where server == .deleted:
      switch MissingRecordRule.step(operation, .deleted, mode) {
      case .done: .alreadyDeleted
      case .recreate: .recreate
      case .stands: .leave(.deletedOnServer)
      }
    case .update, .delete:
      mode == .overwrite ? .send : sendUnlessNewer(local: local, server: server)
    }
  }

  private static func sendUnlessNewer(
    local: ModificationDate?, server: ServerState
  ) -> MergeDecision {
    guard let local else { return .send }
    guard case .alive(let date?) = server else { return .leave(.serverUnknown) }
    return local.isAtLeast(date) ? .send : .leave(.changedOnServer)
  }
}
