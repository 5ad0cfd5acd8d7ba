import System

extension RunFinding {
  /// What a run with it ends with, if nothing worse was found.
  package var exitStatus: ExitStatus {
    switch self {
    case .skippedUser, .quarantined, .unsettledEdits, .guardTripped, .incompleteData, .notUndone:
      .needsAttention
    case .limitReached: .tryLater
    case .loginFailed: .authentication
    case .failedSnapshot: .failed
    }
  }
}
