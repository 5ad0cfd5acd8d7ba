import System

/// A modification date as a record carries it.
package struct ModificationDate: Sendable, Hashable, CustomStringConvertible {
  /// The text of the record.
  package let text: String

  /// Takes the text of a record.
  package init(_ text: String) { self.text = text }

  /// The instant, where the text is a date.
  package var milliseconds: Int64? { Dates.milliseconds(iso8601: text) }

  /// True when this date is the other or after it.
  ///
  /// Dates are compared as instants (iOS does), and as text where one of them is none (Android
  /// always does).
  package func isAtLeast(_ other: ModificationDate) -> Bool {
    if let mine = milliseconds, let theirs = other.milliseconds { return mine >= theirs }
    return text >= other.text
  }

  /// The text of the record.
  package var description: String { text }
}

/// What is known about the server's record when a local change is about to go up.
package enum ServerState: Sendable, Hashable {
  /// Nobody asked, or the answer was an error.
  case unknown
  /// The record is proved to be deleted: it reads as absent *and* `queryAll` says so.
  case deleted
  /// The record is there; nil where it has no modification date.
  case alive(ModificationDate?)
}

/// What becomes of a local change, by operation, dates and merge mode.
package enum MergeDecision: Sendable, Hashable {
  /// There is nothing to do.
  case nothing
  /// The element leaves the store; no request is made.
  case dropLocally
  /// The change is sent as it is.
  case send
  /// The record is made anew: it was deleted on the server, and the mode overwrites.
  case recreate
  /// Deleted on both sides: the element leaves the store, no request is needed.
  case alreadyDeleted
  /// The change stays on the device.
  case leave(Reason)

  /// Why a change is left.
  package typealias Reason = SyncReport.MergeReason

  /// Decides as the SDK does.
  ///
  /// LEAVE_IF_CHANGED sends what is at least as new as the server's record, what carries no date,
  /// and what was created on the device; OVERWRITE sends everything. The SDK asks nothing before it
  /// overwrites and learns of a deleted record from the answer; here `server` may know, and the
  /// decision is the same.
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
