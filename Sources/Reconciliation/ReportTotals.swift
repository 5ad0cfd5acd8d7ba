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

  /// Counts an edit.
  mutating func add(_ edit: ReportEdit) {
    verdicts[edit.verdict, default: 0] += 1
    if let name = edit.username { usernames.insert(name) }
    Self.count(edit, as: edit.owner, in: &byUser)
    // A row whose object is not known counts as its soup.
    Self.count(edit, as: edit.sobject ?? edit.soup, in: &byObject)
    let soup = SoupKey(store: edit.store, soup: edit.soup)
    bySoup[soup, default: [:]][edit.verdict, default: 0] += 1
    note(.edited, edit.owner, edit.editedAt, before: edit.arrivedAt)
    note(.returned, edit.source, edit.arrivedAt)
    if let decision = edit.detail.decision {
      decisions[decision.fate, default: 0] += 1
      note(.decided, decision.by, decision.time)
    }
  }

  private static func count(
    _ edit: ReportEdit, as name: String, in groups: inout [String: ReportGroup]
  ) {
    groups[name, default: ReportGroup(name: name)].counts[edit.verdict, default: 0] += 1
  }

  private mutating func note(
    _ kind: ReportMoment.Kind, _ name: String, _ time: Int64, before end: Int64 = .max
  ) {
    guard time > 0 else { return }
    let new = ReportMoment(kind: kind, name: name, from: time, to: time)
    var moment = byMoment[kind, default: [:]][name] ?? new
    (moment.from, moment.to) = (min(moment.from, time), max(moment.to, time))
    moment.place = min(moment.place, time, end > 0 ? end : time)
    moment.count += 1
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
