import Ledger

/// Some of a report's edits, of one user or object, with their verdicts.
package struct ReportGroup: Sendable {
  /// The user or the object.
  package let name: String
  package var counts: [Verdict: Int] = [:]
  package var total: Int { counts.values.reduce(0, +) }
}

/// An event in a report's timeline.
package struct ReportMoment: Sendable {
  /// The kinds of events; the raw values are those of report.json.
  package enum Kind: String, Sendable {
    /// A device changed records, by its own clock.
    case edited
    case returned
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
  package var count = 0

  init(kind: Kind, name: String, from: Int64, to: Int64) {
    (self.kind, self.name, self.from, self.to, place) = (kind, name, from, to, from)
  }
}

/// The totals of a report's edits, counted as they are read.
package struct ReportTotals: Sendable {
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

  package init() {}

  /// Adds equal edits of one return and soup.
  ///
  /// - Parameters:
  ///   - subject: The facts that their possible decisions depend on; nil if they are resolved.
  ///   - username: The snapshot's user; nil for the global snapshot.
  ///   - source: The file that contained them.
  ///   - edited: When the device changed the rows, by its own clock; known for `editsWithTime`.
  ///   - decision: The decision about the edit, which is then counted by itself.
  package mutating func add(
    edits: Int, _ verdict: Verdict, subject: DecisionRule.Subject?, username: String?,
    soup: SoupKey, sobject: String?, source: String, arrivedAt: Int64,
    edited: ClosedRange<Int64>?, editsWithTime: Int, decision: DecisionNote?
  ) {
    verdicts[verdict, default: 0] += edits
    if let subject { subjects[verdict, default: []].insert(subject) }
    if let username { usernames.insert(username) }
    let owner = username ?? ReportEdit.globalOwner
    // A row of an unknown object is counted under its soup.
    let object = sobject ?? soup.soup
    byUser[owner, default: ReportGroup(name: owner)].counts[verdict, default: 0] += edits
    byObject[object, default: ReportGroup(name: object)].counts[verdict, default: 0] += edits
    bySoup[soup, default: [:]][verdict, default: 0] += edits
    if let edited { note(.edited, owner, edited, editsWithTime, before: arrivedAt) }
    note(.returned, source, arrivedAt...arrivedAt, edits)
    if let decision {
      decisions[decision.fate, default: 0] += 1
      note(.decided, decision.by, decision.time...decision.time, 1)
    }
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

  package var users: [ReportGroup] { byUser.values.sorted { $0.name < $1.name } }

  package var objects: [ReportGroup] { byObject.values.sorted { $0.name < $1.name } }

  package var soups: [(soup: SoupKey, counts: [Verdict: Int])] {
    bySoup.map { (soup: $0.key, counts: $0.value) }.sorted {
      ($0.soup.store.text, $0.soup.soup) < ($1.soup.store.text, $1.soup.soup)
    }
  }

  /// The events before the run, unordered.
  var moments: [ReportMoment] { byMoment.values.flatMap(\.values) }
}
