import System

/// A reason why a completed run does not exit with status 0.
package enum RunFinding: String, Sendable, CaseIterable {
  /// A user's snapshot could not be primed.
  case skippedUser
  case quarantined
  /// Edits need review, or were refused.
  case unsettledEdits
  /// More records would have been deleted than the guard allows.
  case guardTripped
  /// The org was unreachable, or a limit or the deadline was reached: try again later.
  case limitReached
  /// The org refused the login, or a permission, during the run.
  case loginFailed
  /// The org refused a request that a stage needs, so the stage is incomplete.
  case stageRefused
  /// A snapshot failed because of the disk or a store, not the org.
  case failedSnapshot
  /// Changes of a run could not be undone, at least in part.
  case notUndone
  /// A briefcase rule failed in the org, or records could not be read.
  case incompleteData
  /// Users read a record differently who were expected to read it alike.
  case unlikeRecords
  /// Bundles could not be published, because of the store or of what is published there.
  case notPublished
  /// Returns could not be collected from the object store, because of its settings.
  case notCollected

  /// The exit status of a run with this finding, if there is none worse.
  package var exitStatus: ExitStatus {
    switch self {
    case .skippedUser, .quarantined, .unsettledEdits, .guardTripped, .incompleteData, .notUndone,
      .unlikeRecords:
      .needsAttention
    case .limitReached: .tryLater
    case .loginFailed: .authentication
    case .notPublished, .notCollected: .configuration
    case .failedSnapshot, .stageRefused: .failed
    }
  }

  /// The finding of an error that ended a stage early.
  ///
  /// The run's status is the same, whether the error ended the run or only a stage.
  package init(ofEnd kind: PipelineError.Kind) {
    switch kind {
    case .tryLater: self = .limitReached
    case .authentication: self = .loginFailed
    case .failed, .usage, .unknownName, .configuration, .locked, .damaged, .interrupted:
      self = .stageRefused
    }
  }
}
