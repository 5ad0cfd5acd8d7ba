import TestSupport

/// A fault during one sync of a history.
struct Mishap: Sendable, Hashable, CustomStringConvertible {
  /// The kinds of fault; each occurs at least fifty times in a full campaign.
  enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The connection is closed before the org has done anything.
    case dropBefore = "connection dropped before the commit"
    /// The connection is closed after the org has done the work, so the response is lost.
    case dropAfter = "connection dropped after the commit"
    /// The response is truncated.
    case truncate = "truncated answer"
    /// The org is unavailable, once or permanently.
    case unavailable = "503"
    /// The session expires and must be renewed.
    case expireSession = "expired session"
    /// The org closes a query's cursor between two pages.
    case expireLocator = "expired query locator"
    /// Pages are shorter than requested.
    case shortPage = "short pages"
    /// A retrieve returns null for an existing record.
    case nullEntry = "null entry in a retrieve"
    /// A briefcase rule fails.
    case ruleError = "rule error"
    /// Another user changes a record after it was checked, or between two pages.
    case changedBetween = "record changed between check and write"
    /// The manager is stopped.
    case stop = "stop in mid-sync"
    /// The program is killed and reopens the store as it is on disk.
    case kill = "kill in mid-sync"
    /// The app's user edits a record while the sync waits for a response.
    case editMeanwhile = "edit in mid-sync"
  }

  var kind: Kind
  /// Which of the requests that it can affect.
  var nth: Int
  /// Other random choices: the record, the number of bytes, the repetitions.
  var salt: Int

  var description: String { "\(kind.rawValue) (request \(nth), salt \(salt))" }

  /// Draws a fault that can occur in this kind of sync.
  static func draw(_ random: inout HistoryRandom, _ sync: Step.Sync, _ setup: HistorySetup)
    -> Mishap
  {
    var kinds: [(weight: Int, value: Kind)] = [
      (10, .dropBefore), (10, .dropAfter), (8, .truncate), (8, .unavailable),
      (6, .expireSession), (8, .stop), (10, .kill), (10, .editMeanwhile),
    ]
    switch sync {
    case .up: kinds += [(12, .changedBetween), (4, .nullEntry), (6, .dropAfter), (4, .truncate)]
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
