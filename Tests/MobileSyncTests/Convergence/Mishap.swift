import TestSupport

/// What goes wrong during one sync of a history.
struct Mishap: Sendable, Hashable, CustomStringConvertible {
  /// The kinds; each strikes at least fifty times in a whole run.
  enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The connection ends before the org has done anything.
    case dropBefore = "connection dropped before the commit"
    /// The connection ends after the org has done the work: the answer is lost.
    case dropAfter = "connection dropped after the commit"
    /// The answer breaks off.
    case truncate = "truncated answer"
    /// The org is in trouble, once or for as long as anybody asks.
    case unavailable = "503"
    /// The session ends and has to be renewed.
    case expireSession = "expired session"
    /// The org closes a query's cursor between two pages.
    case expireLocator = "expired query locator"
    /// Pages are shorter than asked for.
    case shortPage = "short pages"
    /// A retrieve answers null for a record that is there.
    case nullEntry = "null entry in a retrieve"
    /// A briefcase rule fails.
    case ruleError = "rule error"
    /// Somebody else changes a record after it was checked, or between two pages.
    case changedBetween = "record changed between check and write"
    /// The manager is told to stop.
    case stop = "stop in mid-sync"
    /// The program is killed, and opens the store again as the disk has it.
    case kill = "kill in mid-sync"
    /// The app's user edits a record while the sync waits for an answer.
    case editMeanwhile = "edit in mid-sync"
  }

  /// What goes wrong.
  var kind: Kind
  /// At which of the requests that it can strike.
  var nth: Int
  /// What else is drawn: which record, how many bytes, how often.
  var salt: Int

  var description: String { "\(kind.rawValue) (request \(nth), salt \(salt))" }

  /// A mishap that can strike this kind of sync.
  static func draw(_ random: inout HistoryRandom, _ sync: Step.Sync, _ setup: HistorySetup)
    -> Mishap
  {
    var kinds: [(weight: Int, value: Kind)] = [
      (10, .dropBefore), (10, .dropAfter), (8, .truncate), (8, .unavailable),
      (6, .expireSession), (8, .stop), (10, .kill), (10, .editMeanwhile),
    ]
    switch sync {
    case .up:
      kinds += [(12, .changedBetween), (4, .nullEntry), (6, .dropAfter), (4, .truncate)]
    case .down, .ghosts:
      if setup.isBriefcase {
        kinds += [(26, .nullEntry), (30, .ruleError), (4, .changedBetween)]
      } else {
        kinds += [(24, .expireLocator), (12, .shortPage), (6, .changedBetween)]
      }
    }
    return Mishap(
      kind: random.pick(weighted: kinds), nth: random.pick([1, 1, 1, 2, 2, 3]),
      salt: random.below(1000))
  }
}
