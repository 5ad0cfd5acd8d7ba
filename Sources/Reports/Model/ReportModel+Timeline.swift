import Ledger

extension ReportModel {
  /// The events before this report, in order of time.
  ///
  /// A device's clock cannot put its edits after their return, and the run comes last.
  package var timeline: [ReportMoment] {
    var run = ReportMoment(kind: .run, name: "", from: self.run.now, to: self.run.now)
    run.count = edits.count
    let before = edits.totals.moments.sorted {
      ($0.place, $0.kind.rawValue, $0.to, $0.name) < ($1.place, $1.kind.rawValue, $1.to, $1.name)
    }
    return before + [run]
  }

  /// The users in a report.
  package var everybody: [String] {
    let names = edits.totals.usernames.union(stillOpen.totals.usernames)
    return names.union((findings + earlierFindings).compactMap { $0.text("username") }).sorted()
  }
}
