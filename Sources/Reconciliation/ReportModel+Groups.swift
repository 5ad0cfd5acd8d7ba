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
  /// How many edits it is about.
  package var count = 0
}

extension ReportModel {
  /// The counts of each soup, by store and name.
  package var soups: [(soup: SoupKey, counts: [Verdict: Int])] {
    var groups: [SoupKey: [Verdict: Int]] = [:]
    for edit in edits {
      groups[SoupKey(store: edit.store, soup: edit.soup), default: [:]][edit.verdict, default: 0] +=
        1
    }
    return groups.map { (soup: $0.key, counts: $0.value) }.sorted {
      ($0.soup.store.text, $0.soup.soup) < ($1.soup.store.text, $1.soup.soup)
    }
  }

  /// The counts of each technician, by user name.
  package var users: [ReportGroup] { groups(\.owner) }

  /// The counts of each object, by API name; a row whose object is not known counts as its soup.
  package var objects: [ReportGroup] { groups { $0.sobject ?? $0.soup } }

  private func groups(_ name: (ReportEdit) -> String) -> [ReportGroup] {
    var groups: [String: ReportGroup] = [:]
    for edit in edits {
      let name = name(edit)
      groups[name, default: ReportGroup(name: name)].counts[edit.verdict, default: 0] += 1
    }
    return groups.values.sorted { $0.name < $1.name }
  }

  /// The edits of a verdict.
  package func edits(with verdict: Verdict) -> [ReportEdit] {
    edits.filter { $0.verdict == verdict }
  }

  /// What the org calls an object; else its API name in words.
  package func label(_ object: String) -> String {
    if let label = labels[object] { return label }
    var words = ""
    let name = object.hasSuffix("__c") ? object.dropLast(3) : object[...]
    for character in name {
      let isNew = character.isUppercase && words.last?.isLowercase == true
      if isNew || character == "_" { words += " " }
      if character != "_" { words.append(character) }
    }
    return words
  }

  /// The address of a record in the org, for a person to open; nil where it is not known.
  package func address(of recordID: String?) -> String? {
    guard let recordID, !recordID.isEmpty, !instance.isEmpty else { return nil }
    return recordID.utf8.allSatisfy(Self.isLetterOrDigit) ? instance + "/" + recordID : nil
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: false
    }
  }

  /// What happened on the way to this report, in order of time.
  package var timeline: [ReportMoment] {
    var moments: [String: ReportMoment] = [:]
    func note(_ kind: ReportMoment.Kind, _ name: String, _ time: Int64) {
      guard time > 0 else { return }
      let new = ReportMoment(kind: kind, name: name, from: time, to: time)
      var moment = moments["\(kind.rawValue) \(name)"] ?? new
      (moment.from, moment.to) = (min(moment.from, time), max(moment.to, time))
      moment.count += 1
      moments["\(kind.rawValue) \(name)"] = moment
    }
    for edit in edits {
      note(.edited, edit.owner, edit.editedAt)
      note(.returned, edit.source, edit.arrivedAt)
      if let decision = edit.detail.decision { note(.decided, decision.by, decision.time) }
    }
    var run = ReportMoment(kind: .run, name: "", from: self.run.now, to: self.run.now)
    run.count = edits.count
    return (moments.values + [run]).sorted {
      ($0.from, $0.to, $0.kind.rawValue, $0.name) < ($1.from, $1.to, $1.kind.rawValue, $1.name)
    }
  }

  /// The part of a report that is about one user.
  package func of(user: String) -> ReportModel {
    var part = self
    part.edits = edits.filter { $0.username == user }
    part.stillOpen = stillOpen.filter { $0.username == user }
    func concerns(_ finding: Finding) -> Bool { finding.text("username") == user }
    part.findings = findings.filter(concerns)
    part.earlierFindings = earlierFindings.filter(concerns)
    return part
  }

  /// The users whom a report tells of.
  package var everybody: [String] {
    let names = (edits + stillOpen).compactMap(\.username)
    return Set(names + (findings + earlierFindings).compactMap { $0.text("username") }).sorted()
  }
}
