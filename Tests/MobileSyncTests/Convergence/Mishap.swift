import TestSupport

/// A fault during one sync of a history.
struct Mishap: Sendable, Hashable {
  /// The kinds of fault; each occurs at least fifty times in a full campaign.
  enum Kind: String, Sendable, Hashable, CaseIterable {
    case dropBefore = "connection dropped before the commit"
    case dropAfter = "connection dropped after the commit"
    case truncate = "truncated answer"
    case unavailable = "503"
    case expireSession = "expired session"
    case expireLocator = "expired query locator"
    case shortPage = "short pages"
    case nullEntry = "null entry in a retrieve"
    case ruleError = "rule error"
    case changedBetween = "record changed between check and write"
    case stop = "stop in mid-sync"
    case kill = "kill in mid-sync"
    case editMeanwhile = "edit in mid-sync"
  }

  var kind: Kind
  /// Which of the requests that it can affect.
  var nth: Int
  /// Other random choices: the record, the number of bytes, the repetitions.
  var salt: Int

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
