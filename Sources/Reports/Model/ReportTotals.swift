import Ledger

/// Some of a report's edits, of one user or object, with their verdicts.
package struct ReportGroup: Sendable {
  /// The user or the object.
  package let name: String
  /// The number of edits by verdict.
  package var counts: [Verdict: Int] = [:]
  package var total: Int { counts.values.reduce(0, +) }
}

/// An event in a report's timeline.
package struct ReportMoment: Sendable {
  /// The kinds of events; the raw values are those of report.json.
  package enum Kind: String, Sendable {
    /// A device changed records, by its own clock.
    case edited
    /// A return arrived.
    case returned
    /// An operator decided.
    case decided
    case run
  }

  package let kind: Kind
  /// The user or file; empty for the run.
  package let name: String
  /// The start, in ms.
  package var from: Int64
  /// The end, in ms.
  package var to: Int64
  /// The position in the timeline, in ms; a device's edits are not later than the arrival of their
  /// return.
  var place: Int64
  /// The number of edits.
  package var count = 0

  init(kind: Kind, name: String, from: Int64, to: Int64) {
    (self.kind, self.name, self.from, self.to, place) = (kind, name, from, to, from)
  }
}

/// The totals of a report's edits, counted as they are read.
package struct ReportTotals: Sendable {
  /// The number of edits by verdict.
  package private(set) var verdicts: [Verdict: Int] = [:]
  /// The number of decisions by outcome.
  package private(set) var decisions: [DecisionNote.Fate: Int] = [:]
  /// The users whose stores they came from.
  package private(set) var usernames: Set<String> = []
  private var subjects: [Verdict: Set<DecisionRule.Subject>] = [:]
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

  /// A number of equal edits of one return and soup.
  package struct Count {
    var edits: Int
    var verdict: Verdict
    /// The facts that their possible decisions depend on; nil if they are resolved.
    var subject: DecisionRule.Subject?
    /// The snapshot's user; nil for the global snapshot.
    var username: String?
    var soup: SoupKey
    var sobject: String?
    /// The file that contained them, and when it arrived.
    var source: String
    var arrivedAt: Int64
    /// When the device changed the rows, by its own clock, and for how many this is known.
    var edited: ClosedRange<Int64>?
    var editsWithTime: Int
    /// The decision about the edit, which is then counted by itself.
    var decision: DecisionNote?

    package init(
      edits: Int, verdict: Verdict, subject: DecisionRule.Subject? = nil, username: String? = nil,
      soup: SoupKey, sobject: String? = nil, source: String, arrivedAt: Int64,
      edited: ClosedRange<Int64>? = nil, editsWithTime: Int, decision: DecisionNote? = nil
    ) {
      self.edits = edits
      self.verdict = verdict
      self.subject = subject
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

  /// Adds edits that are equal.
  package mutating func add(_ alike: Count) {
    verdicts[alike.verdict, default: 0] += alike.edits
    if let subject = alike.subject { subjects[alike.verdict, default: []].insert(subject) }
    if let name = alike.username { usernames.insert(name) }
    let owner = alike.username ?? ReportEdit.globalOwner
    Self.count(alike, as: owner, in: &byUser)
    // A row of an unknown object is counted under its soup.
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

  /// What an operator should do about the edits with a verdict; nil if nothing.
  func nextStep(of verdict: Verdict, in pipeline: String) -> String? {
    DecisionRule.nextStep(of: verdict, for: subjects[verdict] ?? [], in: pipeline)
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

  /// The events before the run, unordered.
  var moments: [ReportMoment] { byMoment.values.flatMap(\.values) }
}
