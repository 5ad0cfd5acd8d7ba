import Arguments

/// What attache ends with where no run decides it (`PipelineError.Kind`, `RunSummary`).
enum Statuses {
  static let failed = ExitStatus(rawValue: 1)
  static let needsAttention = ExitStatus(rawValue: 3)
  static let configuration = ExitStatus(rawValue: 4)
  static let authentication = ExitStatus(rawValue: 5)
  static let damaged = ExitStatus(rawValue: 8)

  /// Ended by a signal: 130 for SIGINT, 143 for SIGTERM.
  static func interrupted(by signal: Int32) -> ExitStatus { ExitStatus(rawValue: 128 + signal) }

  /// What every help page lists.
  static let notes = [
    Note("0", "done"),
    Note("1", "failed: the disk, or a defect of attache"),
    Note("2", "the command line is wrong"),
    Note(
      "3",
      "finished, and something waits for a person: edits that are not settled, of earlier runs too, "
        + "skipped users, returns in quarantine; the report says which"),
    Note("4", "the configuration is wrong, or the org or the ledger is another one"),
    Note("5", "the org refused the login or a permission"),
    Note("6", "the org cannot be reached, or a limit or the deadline is reached: try again later"),
    Note("7", "another run holds the lock"),
    Note("8", "verify or check found damage"),
    Note("130, 143", "interrupted"),
  ]
}
