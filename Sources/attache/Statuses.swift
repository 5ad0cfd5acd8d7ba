import Arguments

/// What attache ends with; the one place where the numbers stand.
enum Statuses {
  static let done = ExitStatus.done
  static let failed = ExitStatus(rawValue: 1)
  static let usage = ExitStatus.usage
  static let finishedWithFindings = ExitStatus(rawValue: 3)
  static let configuration = ExitStatus(rawValue: 4)
  static let authentication = ExitStatus(rawValue: 5)
  static let tryLater = ExitStatus(rawValue: 6)
  static let locked = ExitStatus(rawValue: 7)
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
      "finished, with conflicts, rejected, blocked or in-doubt records, skipped users or "
        + "quarantined returns; the report says which"),
    Note("4", "the configuration is wrong, or the org or the ledger is another one"),
    Note("5", "the org refused the login or a permission"),
    Note("6", "the org cannot be reached, or a limit or the deadline is reached: try again later"),
    Note("7", "another run holds the lock"),
    Note("8", "verify or check found damage"),
    Note("130, 143", "interrupted"),
  ]

  /// The status that stands when several hold.
  static func strongest(_ statuses: [ExitStatus]) -> ExitStatus {
    let order: [Int32] = [130, 143, 129, 1, 4, 5, 6, 3]
    for value in order where statuses.contains(where: { $0.rawValue == value }) {
      return ExitStatus(rawValue: value)
    }
    return statuses.first { $0 != .done } ?? .done
  }
}
