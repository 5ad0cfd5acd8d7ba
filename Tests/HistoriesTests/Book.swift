import Ledger
import Reconciliation
import System
import TestSupport

/// The record of what was done on the phones and of its outcomes.
///
/// The permitted outcomes are derived from the design, not from the program.
struct Book {
  var changes: [Change] = []
  /// What created the row of a marker.
  struct Maker: Sendable, Hashable {
    var phone: Int
    var state: Int
    var soup: String
    /// Its external ID, if its soup's creates are upserts.
    var key: String?
  }

  var makers: [String: Maker] = [:]
  /// The records that apps sent by themselves.
  var syncs: [OwnSync] = []
  var reverted: Set<Int> = []
  var restored: Set<Int> = []
  var returned: [ReturnedFile] = []
  var askedToUndo: Set<Int> = []
  var late: Set<OrgWatch.FieldID> = []
  /// What late requests replaced that a run had read, until the next run.
  var stoodBefore: [OrgWatch.FieldID: OrgWatch.Transition] = [:]
  /// The records that existed when a request arrived late, which it may have written again.
  var lateRecords: Set<String> = []
  /// The records that a late request wrote, also if it changed nothing.
  var touchedLate: Set<String> = []
  /// The records that an app sent by itself after a faulty run.
  ///
  /// As far as can be seen, a request without an answer has written them.
  var sentAfterLoss: Set<String> = []
  /// The effects of requests that arrived after their edits had got another outcome.
  var lateEffects: [LateEffect] = []
  /// The accounts in each store that was made from a cut result.
  var kept: [String: Set<String>] = [:]
  var deleted: Set<String> = []
  /// The values that replaced another user's under OVERWRITE, until a report lists them.
  var unlisted: [OrgWatch.Transition] = []
  var reports: [String: Report] = [:]
  /// The records that runs asked about.
  var known: Set<String> = []
  var decisions: [Decided] = []
  /// The accounts that a contact was last moved between.
  var lastMove: (from: String, to: String)?
  private var parents: [Int?] = []

  // MARK: states of phones

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

  func openEdits(in world: World) -> [String] {
    var last: [Int: Report.Row] = [:]
    for report in orderedReports {
      for row in report.stillOpen + report.records { last[row.number] = row }
    }
    return last.values.filter { !$0.verdict.isSettled && !isReplaced($0, in: world) }
      .sorted { $0.number < $1.number }
      .map { "\($0.row) of \($0.file) (\($0.verdict.rawValue))" }
  }

  func row(of told: Report.Row) -> PhoneRow? {
    returned.first { $0.file == told.file }?.rows[told.row]
  }

  /// Whether a return ingested after the last reconciliation has replaced an edit, which the next
  /// one will report.
  private func isReplaced(_ told: Report.Row, in world: World) -> Bool {
    guard let one = returned.first(where: { $0.file == told.file }), let row = one.rows[told.row]
    else { return false }
    let last = world.runs.lastIndex { ![.ingest, .pack].contains($0.verb) && !$0.isStruck }
    return returned.contains { later in
      guard let taken = later.taken, taken > (last ?? -1) + 1 else { return false }
      let isLater =
        later.marksInstall && later.installation == one.installation && later.number > one.number
        && later.rows[row.id].map { !$0.hasContent(of: row) } ?? true
      return isLater || isFixed(row, in: later)
    }
  }

  mutating func read(in world: World) throws {
    guard Files.isDirectory(world.data.reports) else { return }
    let current = world.runs.last?.id
    for id in try Files.list(world.data.reports) where !id.hasPrefix(".") {
      if id != current, reports[id] != nil { continue }
      reports[id] = try Report(directory: world.data.reports + "/" + id)
    }
  }

  // MARK: installing over edits

  /// A bundle is only installed over resolved edits: no report lists them as open, or none did when
  /// it was packed.
  ///
  /// A request that arrives later opens the edit again, and leaves the bundle.
  ///
  /// - Parameter packedAfter: the runs until it was packed
  func installedOver(
    _ rows: [RowID: PhoneRow], _ phone: Phone, isRestored: Bool, packedAfter past: Set<String>
  ) throws {
    for row in rows.values {
      if phone.state.came.values.contains(where: { $0.isLeft(of: row) }) { continue }
      // An open row that was left as issued is the edit of the return that it came from.
      let holders = returned.flatMap { one in
        one.rows.values.filter { $0.isSameWork(as: row) || row.isRemainder(of: $0) }
          .map { (row: $0.id, file: one.file) }
      }
      // For a restored phone, a bundle may include an earlier return of the same number; its later
      // returns are on their way.
      if !holders.isEmpty, isRestored { continue }
      if phone.state.came.values.contains(where: { isDeletion($0, of: row) }) { continue }
      let isSettled = holders.contains { holder in
        let told = verdicts(of: holder.row, in: [holder.file])
        let packed = verdicts(of: holder.row, in: [holder.file], by: past)
        // A sent edit whose undo waits is not lost.
        return [told.last, packed.last].contains { $0?.isSettled == true }
          || (isAskedToUndo(holder.row, of: holder.file) && told.contains(where: \.isWritten))
      }
      guard isSettled else {
        throw Violation(
          "a bundle was installed over \(row.id) of phone \(phone.number), which is open and not in the bundle"
        )
      }
    }
  }

  /// Whether a change precedes another one: on its phone, or in a row that was issued with it.
  func isPast(_ before: Change, of change: Change) -> Bool {
    if isAncestor(before.state, of: change.state) { return true }
    return change.after.contains { number in
      number == before.number || isPast(before, of: changes[number])
    }
  }

  /// Whether a user who was shown a value changed the row of a change after it.
  func isShown(_ value: String?, of change: Change) -> Bool {
    guard let value else { return false }
    return changes.contains { later in
      (later.number == change.number || later.after.contains(change.number))
        && later.words.contains("\"\(value)\" in the org")
    }
  }

  /// Whether a user decided for a row's own value: a user who was shown it next to the org's
  /// changed a field that the same sentence names.
  ///
  /// Without a base, a sentence names all listed fields in which the row differs from the org.
  func isDecided(_ transition: OrgWatch.Transition) -> Bool {
    guard let old = transition.old, let new = transition.new else { return false }
    let shown = "\(transition.field.field) is \"\(old)\" in the org and \"\(new)\" here"
    return changes.contains { change in
      change.recordID == transition.field.record && change.words.contains(shown)
        && change.words.contains("\(change.field) is ")
    }
  }

  /// Whether a row that was issued as open was returned with changes.
  ///
  /// A bundle of another phone has no change that was made after that phone installed it.
  func isFixed(_ row: PhoneRow, of one: ReturnedFile) -> Bool {
    returned.contains { other in
      guard other.taken != nil, isFixed(row, in: other) else { return false }
      return other.phone == one.phone
        || row.changed.values.allSatisfy { changes[$0.change].state < other.installation }
    }
  }

  private func isFixed(_ row: PhoneRow, in other: ReturnedFile) -> Bool {
    let own = Set(row.changed.values.map(\.change))
    return other.fixed.contains { came in
      came.record == row.record || !own.isDisjoint(with: came.changed.values.map(\.change))
        || isDeletion(came, of: row)
    }
  }

  /// Whether a row that was issued as open is another row's deletion of a recreated record, issued
  /// with the record's new ID, which the reports name: for that row, or for the edit of another
  /// phone that recreated the record.
  private func isDeletion(_ came: PhoneRow, of row: PhoneRow) -> Bool {
    guard row.isDeleted, came.isDeleted else { return false }
    return recreations(of: row.record).contains(came.record)
      || returned.contains { one in
        one.rows.values.contains { holder in
          holder.isSameWork(as: row)
            && told(of: holder.id, in: [one.file]).contains { $0.recordID == came.record }
        }
      }
  }

  /// The IDs under which a record was recreated, one after another, as the reports tell it.
  private func recreations(of record: String) -> Set<String> {
    let rows = orderedReports.flatMap { $0.stillOpen + $0.records }
    return rows.reduce(into: []) { found, row in
      guard let old = row.otherID, let new = row.recordID else { return }
      if row.verdict == .created, old == record || found.contains(old) { found.insert(new) }
    }
  }

  /// The verdicts of a row of some files, one for each report of some runs, or of all, that lists it.
  func verdicts(of row: RowID, in files: Set<String>, by runs: Set<String>? = nil) -> [Verdict] {
    told(of: row, in: files, by: runs).map(\.verdict)
  }

  private func told(
    of row: RowID, in files: Set<String>, by runs: Set<String>? = nil
  ) -> [Report.Row] {
    orderedReports.filter { runs?.contains($0.run) ?? true }.compactMap { report in
      (report.stillOpen + report.records).last { $0.row == row && files.contains($0.file) }
    }
  }
}
