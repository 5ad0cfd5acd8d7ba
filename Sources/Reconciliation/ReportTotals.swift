import Ledger

/// A part of a report's edits: whose, or of what, with their verdicts.
package struct ReportGroup: Sendable {
  /// The user, or the object.
  package let name: String
  /// How many edits have which verdict.
  package var counts: [Verdict: Int] = [:]
  /// All of them.
  package var total: Int { counts.values.reduce(0, +) }
}

/// Something that happened on the way to a report, for its timeline.
package struct ReportMoment: Sendable {
  /// What happened.
  package enum Kind: String, Sendable {
    /// Devices changed records, by their own clocks.
    case edited
    /// A return arrived.
    case returned
    /// A person decided.
    case decided
    /// The run.
    case run
  }

  /// What happened.
  package let kind: Kind
  /// Who did it, or which file it was; empty for the run.
  package let name: String
  /// When it began, in ms.
  package var from: Int64
  /// When it ended, in ms.
  package var to: Int64
  /// Where it stands in a timeline, in ms: a device's edits no later than their return arrived.
  var place: Int64
  /// How many edits it is about.
  package var count = 0

  /// A moment without edits.
  init(kind: Kind, name: String, from: Int64, to: Int64) {
    (self.kind, self.name, self.from, self.to, place) = (kind, name, from, to, from)
  }
}

/// What a report's edits come to, counted as they are read.
package struct ReportTotals: Sendable {
  /// How many edits have which verdict.
  package private(set) var verdicts: [Verdict: Int] = [:]
  /// How many decisions came to what.
  package private(set) var decisions: [DecisionNote.Fate: Int] = [:]
  /// The users whose stores they came from.
  package private(set) var usernames: Set<String> = []
  private var byUser: [String: ReportGroup] = [:]
  private var byObject: [String: ReportGroup] = [:]
  private var bySoup: [SoupKey: [Verdict: Int]] = [:]
  private var byMoment: [ReportMoment.Kind: [String: ReportMoment]] = [:]

  package init(
    verdicts: [Verdict: Int] = [:], decisions: [DecisionNote.Fate: Int] = [:],
    usernames: Set<String> = []
  ) {
    self.verdicts = verdicts
    self.decisions = decisions
    self.usernames = usernames
  }

  /// How many edits of one return and soup are alike.
  package struct Count {
    var edits: Int
    var verdict: Verdict
    /// The snapshot's user; nil for the global snapshot.
    var username: String?
    var soup: SoupKey
    var sobject: String?
    /// The file that they came in, and when it did.
    var source: String
    var arrivedAt: Int64
    /// When the device changed the rows, by its own clock, as far as it says so, and of how many it does.
    var edited: ClosedRange<Int64>?
    var editsWithTime: Int
    /// What somebody decided about the edit; it is counted by itself then.
    var decision: DecisionNote?

    package init(
      edits: Int, verdict: Verdict, username: String? = nil, soup: SoupKey, sobject: String? = nil,
      source: String, arrivedAt: Int64, edited: ClosedRange<Int64>? = nil, editsWithTime: Int,
      decision: DecisionNote? = nil
    ) {
      self.edits = edits
      self.verdict = verdict
      self.username = username
      self.soup = soup
      self.sobject = sobject
      self.source = source
      self.arrivedAt = arrivedAt
      self.edited = edited
      self.editsWithTime = editsWithTime
      self.decision = decision
    }
  }

  /// Counts edits that are alike.
  package mutating func add(_ alike: Count) {
    verdicts[alike.verdict, default: 0] += alike.edits
    if let name = alike.username { usernames.insert(name) }
    let owner = alike.username ?? ReportEdit.globalOwner
    Self.count(alike, as: owner, in: &byUser)
    // A row whose object is not known counts as its soup.
    Self.count(alike, as: alike.sobject ?? alike.soup.soup, in: &byObject)
    bySoup[alike.soup, default: [:]][alike.verdict, default: 0] += alike.edits
    if let edited = alike.edited {
      note(.edited, owner, edited, alike.editsWithTime, before: alike.arrivedAt)
    }
    note(.returned, alike.source, alike.arrivedAt...alike.arrivedAt, alike.edits)
    if let decision = alike.decision {
      decisions[decision.fate, default: 0] += 1
      note(.decided, decision.by, decision.time...decision.time, 1)
    }
  }

  private static func count(
    _ alike: Count, as name: String, in groups: inout [String: ReportGroup]
  ) {
    groups[name, default: ReportGroup(name: name)].counts[alike.verdict, default: 0] += alike.edits
  }

  private mutating func note(
    _ kind: ReportMoment.Kind, _ name: String, _ time: ClosedRange<Int64>, _ count: Int,
    before end: Int64 = .max
  ) {
    let (from, to) = (time.lowerBound, time.upperBound)
    guard from > 0 else { return }
    let new = ReportMoment(kind: kind, name: name, from: from, to: to)
    var moment = byMoment[kind, default: [:]][name] ?? new
    (moment.from, moment.to) = (min(moment.from, from), max(moment.to, to))
    moment.place = min(moment.place, from, end > 0 ? end : from)
    moment.count += count
    byMoment[kind, default: [:]][name] = moment
  }

  /// The counts of each technician, by user name.
  package var users: [ReportGroup] { byUser.values.sorted { $0.name < $1.name } }

  /// The counts of each object, by API name.
  package var objects: [ReportGroup] { byObject.values.sorted { $0.name < $1.name } }

  /// The counts of each soup, by store and name.
  package var soups: [(soup: SoupKey, counts: [Verdict: Int])] {
    bySoup.map { (soup: $0.key, counts: $0.value) }.sorted {
      ($0.soup.store.text, $0.soup.soup) < ($1.soup.store.text, $1.soup.soup)
    }
  }

  /// What happened before the run, in no order.
  var moments: [ReportMoment] { byMoment.values.flatMap(\.values) }
}
