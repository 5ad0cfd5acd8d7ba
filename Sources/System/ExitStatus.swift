/// The number that attache ends with: each stands here once, with what it means and which one is told
/// when several hold.
package struct ExitStatus: RawRepresentable, Sendable, Hashable {
  /// The number itself.
  package let rawValue: Int32

  /// A status by its number.
  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// Everything was done.
  package static let done = ExitStatus(rawValue: 0)
  /// The disk, or a defect of attache.
  package static let failed = ExitStatus(rawValue: 1)
  /// The words on the command line were wrong.
  package static let usage = ExitStatus(rawValue: 2)
  /// Finished, and something waits for a person.
  package static let needsAttention = ExitStatus(rawValue: 3)
  /// The configuration is wrong, or the org or the ledger is another one.
  package static let configuration = ExitStatus(rawValue: 4)
  /// The org refused the login or a permission.
  package static let authentication = ExitStatus(rawValue: 5)
  /// The org is out of reach, or a limit or the deadline is reached.
  package static let tryLater = ExitStatus(rawValue: 6)
  /// Another run holds the lock.
  package static let locked = ExitStatus(rawValue: 7)
  /// A file that was to be verified is damaged.
  package static let damaged = ExitStatus(rawValue: 8)

  /// Ended by a signal: 130 for SIGINT, 143 for SIGTERM.
  package static func interrupted(by signal: Int32) -> ExitStatus {
    ExitStatus(rawValue: 128 + signal)
  }

  /// What is told where several hold, and `done` for none: a signal first, as nothing was done after
  /// it, then the order of this list.
  package static func told(of statuses: some Sequence<ExitStatus>) -> ExitStatus {
    let statuses = Set(statuses)
    return statuses.first { $0.rawValue > 128 }
      ?? [failed, configuration, authentication, tryLater, needsAttention].first(
        where: statuses.contains) ?? statuses.first ?? done
  }

  /// What each means, as every help page lists them.
  package static let meanings: [(status: String, meaning: String)] = [
    ("\(done.rawValue)", "done"),
    ("\(failed.rawValue)", "failed: the disk, or a defect of attache"),
    ("\(usage.rawValue)", "the command line is wrong"),
    (
      "\(needsAttention.rawValue)",
      "finished, and something waits for a person: edits that are not settled, of earlier runs too, "
        + "skipped users, returns in quarantine; the report says which"
    ),
    (
      "\(configuration.rawValue)",
      "the configuration is wrong, or the org or the ledger is another one"
    ),
    ("\(authentication.rawValue)", "the org refused the login or a permission"),
    (
      "\(tryLater.rawValue)",
      "the org cannot be reached, or a limit or the deadline is reached: try again later"
    ),
    ("\(locked.rawValue)", "another run holds the lock"),
    ("\(damaged.rawValue)", "verify or check found damage"),
    ("\(interrupted(by: 2).rawValue), \(interrupted(by: 15).rawValue)", "interrupted"),
  ]
}
