import Ledger
import Reconciliation
import System
import TestSupport

/// The histories' own book of what was done on phones and what became of it: what may become of an
/// edit is written from the design's words, and not from the program.
struct Book {
  var changes: [Change] = []
  /// Who made a row of a marker.
  struct Maker: Sendable, Hashable {
    var phone: Int
    var state: Int
    var soup: String
    /// Its external id, where the creates of its soup are upserts.
    var key: String?
  }

  var makers: [String: Maker] = [:]
  /// What apps sent by themselves.
  var syncs: [OwnSync] = []
  /// The numbers of changes that were taken back on their phones.
  var reverted: Set<Int> = []
  /// The installations of phones that were restored from a backup.
  var restored: Set<Int> = []
  var handed: [HandedBack] = []
  /// The numbers of the edits that somebody has asked to undo.
  var askedToUndo: Set<Int> = []
  /// Fields in which a request has landed late.
  var late: Set<OrgWatch.FieldID> = []
  /// Records that were there when a request landed late: it may have written them once more.
  var lateRecords: Set<String> = []
  /// The records that a request has written late, also where it changed nothing.
  var touchedLate: Set<String> = []
  /// The records that an app has sent by itself after a run in which something went wrong: to all that can be seen a
  /// request without an answer has written them.
  var sentAfterLoss: Set<String> = []
  /// What requests did that landed after their edits were settled in another way.
  var lateEffects: [LateEffect] = []
  /// The accounts that each store held that is made of a cut result.
  var kept: [String: Set<String>] = [:]
  /// The records that runs have deleted.
  var deleted: Set<String> = []
  /// What replaced an office's value under OVERWRITE, until a report lists it.
  var unlisted: [OrgWatch.Transition] = []
  /// The last report of each run; a run that goes on after its death has one.
  var reports: [String: Report] = [:]
  /// The records that runs were asked about.
  var known: Set<String> = []
  private var parents: [Int?] = []

  // MARK: states of phones

  /// A new state of a phone.
  mutating func newState(after state: Int?) -> Int {
    parents.append(state)
    return parents.count - 1
  }

  /// Whether a phone went through one state to come to another.
  func isAncestor(_ one: Int, of other: Int) -> Bool {
    var next: Int? = other
    while let state = next {
      if state == one { return true }
      next = parents[state]
    }
    return false
  }

  func lastChange(of phone: Int) -> Change? { changes.last { $0.phone == phone } }

  func change(_ value: String?) -> Change? {
    guard let value else { return nil }
    return changes.first { $0.value == value }
  }

  var orderedReports: [Report] { reports.values.sorted { $0.runNumber < $1.runNumber } }

  /// The edits that the reports so far leave open, in words.
  func openEdits(in world: World) -> [String] {
    var last: [Int: Report.Row] = [:]
    for report in orderedReports {
      for row in report.stillOpen + report.records { last[row.number] = row }
    }
    return last.values.filter { !$0.verdict.isSettled && !isReplaced($0, in: world) }
      .sorted { $0.number < $1.number }
      .map { "\($0.row) of \($0.file) (\($0.verdict.rawValue))" }
  }

  /// The row of a phone that a report row is of.
  func row(of told: Report.Row) -> PhoneRow? {
    handed.first { $0.file == told.file }?.rows[told.row]
  }

  /// Whether a hand-back that was taken after the last reconciliation has replaced an edit: the next one
  /// tells of it.
  private func isReplaced(_ told: Report.Row, in world: World) -> Bool {
    guard let one = handed.first(where: { $0.file == told.file }), let row = one.rows[told.row]
    else { return false }
    let last = world.runs.lastIndex {
      ![.ingest, .pack].contains($0.verb) && !$0.isStruck
    }
    return handed.contains { later in
      guard let taken = later.taken, taken > (last ?? -1) + 1 else { return false }
      let isLater =
        later.marksInstall && later.installation == one.installation && later.number > one.number
        && later.rows[row.id].map { !$0.hasContent(of: row) } ?? true
      return isLater || isMended(row, in: later)
    }
  }

  /// Reads the reports that are there and are not known: of dead runs, too.
  mutating func read(in world: World) throws {
    guard Files.isDirectory(world.data.reports) else { return }
    let current = world.runs.last?.id
    for id in try Files.list(world.data.reports) where !id.hasPrefix(".") {
      if id != current, reports[id] != nil { continue }
      reports[id] = try Report(directory: world.data.reports + "/" + id)
    }
  }

  // MARK: installing over edits

  /// What a bundle is installed over is settled: no report calls it open.
  func installedOver(
    _ rows: [RowID: PhoneRow], _ phone: Phone, isRestored: Bool, in world: World
  ) throws {
    for row in rows.values {
      if phone.state.came.values.contains(where: { $0.isLeft(of: row) }) { continue }
      let holders = handed.flatMap { one in
        one.rows.values.filter { $0.isSameWork(as: row) }.map { (row: $0.id, file: one.file) }
      }
      // Of a restored phone a bundle may include an earlier hand-back of the same number: what it has handed
      // back since is on its way.
      if !holders.isEmpty, isRestored { continue }
      if phone.state.came.values.contains(where: { isDeletion($0, of: row) }) { continue }
      let isSettled = holders.contains { holder in
        let told = verdicts(of: holder.row, in: [holder.file])
        // What was sent loses nothing where its undo waits.
        return told.last?.isSettled ?? false
          || (isAskedToUndo(holder.row, of: holder.file) && told.contains(where: \.isWritten))
      }
      guard isSettled else {
        throw Violation(
          "a bundle was installed over \(row.id) of phone \(phone.number), which is open and not in it"
        )
      }
    }
  }

  /// Whether a change comes before another one: on its phone, or in a row that came with it.
  func isPast(_ before: Change, of change: Change) -> Bool {
    if isAncestor(before.state, of: change.state) { return true }
    return change.after.contains { number in
      number == before.number || isPast(before, of: changes[number])
    }
  }

  /// Whether somebody who was shown a value changed the row of a change after it.
  func isShown(_ value: String?, of change: Change) -> Bool {
    guard let value else { return false }
    return changes.contains { later in
      (later.number == change.number || later.after.contains(change.number))
        && later.words.contains("\"\(value)\" in the org")
    }
  }

  /// Whether a row that came open with a bundle came back as something else.
  func isMended(_ row: PhoneRow) -> Bool {
    handed.contains { $0.taken != nil && isMended(row, in: $0) }
  }

  private func isMended(_ row: PhoneRow, in other: HandedBack) -> Bool {
    let own = Set(row.changed.values.map(\.change))
    return other.mended.contains { came in
      came.record == row.record || !own.isDisjoint(with: came.changed.values.map(\.change))
        || isDeletion(came, of: row)
    }
  }

  /// Whether a row that came open is another one's deletion of a record that was made anew: it came
  /// under the record's new Id, which the reports tell.
  private func isDeletion(_ came: PhoneRow, of row: PhoneRow) -> Bool {
    guard row.isDeleted, came.isDeleted else { return false }
    return handed.contains { one in
      one.rows.values.contains { holder in
        holder.isSameWork(as: row)
          && told(of: holder.id, in: [one.file]).contains { $0.recordID == came.record }
      }
    }
  }

  /// The verdicts of a row of some files, one for each report that tells of it.
  func verdicts(of row: RowID, in files: Set<String>) -> [Verdict] {
    told(of: row, in: files).map(\.verdict)
  }

  private func told(of row: RowID, in files: Set<String>) -> [Report.Row] {
    orderedReports.compactMap { report in
      (report.stillOpen + report.records).last { $0.row == row && files.contains($0.file) }
    }
  }
}
