import System

/// Why a run that did its work does not end with status 0, or not with it alone.
package enum RunFinding: String, Sendable, CaseIterable {
  /// A user's snapshot could not be primed.
  case skippedUser
  /// A return was refused.
  case quarantined
  /// Edits wait for a person, or were refused.
  case unsettledEdits
  /// More would have been deleted than the guard allows.
  case guardTripped
  /// The org could not be reached, or a limit or the deadline was reached: try again later.
  case limitReached
  /// The org refused the login, or a permission, in the middle of the work.
  case loginFailed
  /// The org refused what a stage cannot do without, so that its work is not done.
  case stageRefused
  /// A snapshot could not be made, and the org is not to blame: the disk, or a store.
  case failedSnapshot
  /// What a run had changed in the org could not be undone, or not all of it.
  case notUndone
  /// The org's rules failed for a briefcase, or records could not be read.
  case incompleteData

  /// What a run with it ends with, if nothing worse was found.
  package var exitStatus: ExitStatus {
    switch self {
    case .skippedUser, .quarantined, .unsettledEdits, .guardTripped, .incompleteData, .notUndone:
      .needsAttention
    case .limitReached: .tryLater
    case .loginFailed: .authentication
    case .failedSnapshot, .stageRefused: .failed
    }
  }

  /// What ended a stage before its time, so that a run ends with the same whether the error ended it or one of
  /// its stages.
  package init(ofEnd kind: PipelineError.Kind) {
    switch kind {
    case .tryLater: self = .limitReached
    case .authentication: self = .loginFailed
    case .failed, .usage, .configuration, .locked, .damaged, .interrupted: self = .stageRefused
    }
  }
}
