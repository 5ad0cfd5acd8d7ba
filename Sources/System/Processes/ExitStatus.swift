/// The exit statuses of attache, with their meanings and their precedence.
package struct ExitStatus: RawRepresentable, Sendable, Hashable {
  package let rawValue: Int32

  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// Success.
  package static let done = ExitStatus(rawValue: 0)
  /// I/O or internal error.
  package static let failed = ExitStatus(rawValue: 1)
  /// The command line is invalid.
  package static let usage = ExitStatus(rawValue: 2)
  /// Completed, but some items need review.
  package static let needsAttention = ExitStatus(rawValue: 3)
  /// The configuration is invalid, the org or the ledger does not match the pipeline, or what was
  /// named does not exist.
  package static let configuration = ExitStatus(rawValue: 4)
  /// The org rejected the login or a permission.
  package static let authentication = ExitStatus(rawValue: 5)
  /// The org is unreachable, or a limit or the deadline was reached.
  package static let tryLater = ExitStatus(rawValue: 6)
  /// Another run holds the lock.
  package static let locked = ExitStatus(rawValue: 7)
  /// Verification found a damaged file.
  package static let damaged = ExitStatus(rawValue: 8)

  /// Ended by a signal: 130 for SIGINT, 143 for SIGTERM.
  package static func interrupted(by signal: Int32) -> ExitStatus {
    ExitStatus(rawValue: 128 + signal)
  }

  /// The status to report if several apply; `done` if none does.
  ///
  /// A signal has precedence, as nothing was done after it. The others follow in the order of this
  /// list.
  package static func told(of statuses: some Sequence<ExitStatus>) -> ExitStatus {
    let statuses = Set(statuses)
    return statuses.first { $0.rawValue > 128 }
      ?? [failed, configuration, authentication, tryLater, needsAttention].first(
        where: statuses.contains) ?? statuses.first ?? done
  }

  /// The meanings that every help page lists.
  package static let meanings: [(status: String, meaning: String)] = [
    ("\(done.rawValue)", "done"),
    ("\(failed.rawValue)", "failed: I/O or internal error"),
    ("\(usage.rawValue)", "the command line is invalid"),
    (
      "\(needsAttention.rawValue)",
      "completed; some items need review (see the report): open edits, also of earlier runs, "
        + "skipped users, returns in quarantine"
    ),
    (
      "\(configuration.rawValue)",
      "the configuration is invalid, the org or the ledger does not match the pipeline, "
        + "or what was named does not exist"
    ),
    ("\(authentication.rawValue)", "the org rejected the login or a permission"),
    (
      "\(tryLater.rawValue)",
      "the org is unreachable, or a limit or the deadline was reached: try again later"
    ),
    ("\(locked.rawValue)", "another run holds the lock"),
    ("\(damaged.rawValue)", "verify or check found damage"),
    ("\(interrupted(by: 2).rawValue), \(interrupted(by: 15).rawValue)", "interrupted"),
  ]
}
