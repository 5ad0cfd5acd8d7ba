import JSON
import Ledger
import Reports
import TestSupport

/// What an operator decided about an edit, and what the operator was shown.
struct Decided: Sendable, Hashable {
  var number: Int
  var kind: Decision.Kind
  var row: RowID
  var file: String
  /// The records that the operator was shown, or named.
  var records: Set<String>
  /// The record that the operator named.
  var named: String?
  /// The org's values that the operator was shown.
  var shown: [String: String]
  /// The device's values that the operator was shown: without a base, also those that it did not
  /// change.
  var device: [String: String]
  /// The values that the operator entered.
  var entered: [String: String] = [:]
  /// The side whose values the other edited fields get.
  var sendsDevice: Bool
  /// When the first run after it was over, in the org's time.
  var applied: Int64?

  /// The value that it gives a field, of those that the operator was shown or entered.
  func value(of field: String) -> String? {
    entered[field] ?? (sendsDevice ? device[field] : nil)
  }
}

/// The rules for what operators decide.
extension Book {
  static func localID(_ marker: String) -> String { "local_" + marker }

  /// Records a decision with what the operator was shown.
  mutating func note(_ decision: Decision, _ edit: ReportEdit, in world: World) {
    var decided = Decided(
      number: Int(edit.number), kind: decision.kind,
      row: RowID(soup: edit.soup, entry: edit.soupEntryID), file: Report.original(edit.source),
      records: Set(
        ([edit.recordID, edit.detail.recordID] + edit.detail.otherIDs + edit.detail.candidates)
          .compactMap(\.self)),
      shown: edit.detail.fields.reduce(into: [:]) { $0[$1.name] = $1.server?.string },
      device: edit.detail.fields.reduce(into: [:]) { $0[$1.name] = $1.device?.string },
      sendsDevice: decision.kind == .device)
    switch decision {
    case .set(let values, let rest):
      decided.entered = values.reduce(into: [:]) { $0[$1.name] = $1.value.string }
      decided.sendsDevice = rest == .device
    case .record(let id):
      decided.named = id
      decided.records.insert(id)
    case .device, .server, .retry, .discard, .undo: break
    }
    decisions.append(decided)
    noteSeen([Int(edit.number)], in: world)
    // After a killed run, an operator is shown a record that is in no report yet.
    for index in lateEffects.indices
    where lateEffects[index].kind == .made && decided.records.contains(lateEffects[index].record) {
      lateEffects[index].isSeen = true
    }
  }

  /// What late requests did, as far as the last report of some edits shows it, has been seen by an
  /// operator.
  mutating func noteSeen(_ numbers: [Int], in world: World) {
    for number in numbers {
      guard let told = orderedReports.last(where: { $0.row(number) != nil }),
        let row = told.row(number)
      else { continue }
      for index in lateEffects.indices
      where row.names(lateEffects[index].record) && told.runNumber > lateEffects[index].lastRun {
        lateEffects[index].isSeen = true
      }
    }
  }

  /// A run has applied the decisions so far.
  mutating func noteApplied(by time: Int64) {
    for index in decisions.indices where decisions[index].applied == nil {
      decisions[index].applied = time
    }
  }

  /// The decisions about a row, in whichever return it came.
  private func decisions(about row: PhoneRow) -> [Decided] {
    decisions.filter { one in
      guard let decided = self.row(one.row, of: one.file) else { return false }
      return decided.record == row.record
    }
  }

  func row(_ id: RowID, of file: String) -> PhoneRow? {
    returned.first { $0.file == file }?.rows[id]
  }

  /// The records that operators named for a new row.
  func named(for row: PhoneRow) -> Set<String> {
    guard row.marker != nil else { return [] }
    return Set(decisions(about: row).compactMap(\.named))
  }

  /// How often an operator had a new row created although some of its records were shown.
  func countDecided(_ markers: Set<String>, beside records: Set<String>) -> Int {
    decisions.count { one in
      [.device, .set].contains(one.kind) && !one.records.isDisjoint(with: records)
        && row(one.row, of: one.file)?.marker.map(markers.contains) ?? false
    }
  }

  /// Whether an operator decided about an edit of a row, or of one of some records.
  func isDecided(_ row: PhoneRow, _ ids: Set<String>) -> Bool {
    decisions.contains { !$0.records.isDisjoint(with: ids) } || !decisions(about: row).isEmpty
  }

  /// Whether an operator decided to write a value over the one that it replaced, which the operator
  /// was shown.
  func isOrdered(_ transition: OrgWatch.Transition) -> Bool {
    let (name, new) = (transition.field.field, transition.new)
    return decisions.contains { one in
      guard one.entered[name] != nil || one.sendsDevice else { return false }
      let value = one.value(of: name) ?? row(one.row, of: one.file)?.changed[name]?.value
      guard let value, value == new else { return false }
      return one.shown[name] == transition.old
    }
  }

  /// Whether an operator entered a value.
  ///
  /// It may replace a value that no one but the edit's own device has seen since it was issued.
  func isEntered(_ transition: OrgWatch.Transition) -> Bool {
    let (name, new) = (transition.field.field, transition.new)
    guard let new else { return false }
    return decisions.contains { one in
      guard one.entered[name] == new else { return false }
      if one.shown[name] == transition.old { return true }
      return one.shown[name] == nil && transition.oldAuthor != .otherUser
        || row(one.row, of: one.file)?.issued[name] == transition.old
    }
  }

  /// Whether an operator said that a record is the one that a phone created, when the record had the
  /// value that the phone's later change replaced.
  func isNamed(_ transition: OrgWatch.Transition, for change: Change) -> Bool {
    decisions.contains { one in
      one.named == transition.field.record
        && row(one.row, of: one.file)?.marker == makerMarker(of: change)
        && transition.oldTime ?? 0 <= (one.applied ?? .max)
    }
  }

  private func makerMarker(of change: Change) -> String? {
    returned.lazy.compactMap { one -> String? in
      one.phone == change.phone
        && one.rows[change.row]?.changed[change.field]?.value == change.value
        ? one.rows[change.row]?.marker : nil
    }.first
  }

  /// The values of an edit that an operator discarded are not sent, as long as its device does not
  /// return them again.
  func judgeGivenUp(_ change: Change, _ words: String) throws {
    let holders = returned.flatMap { one in
      one.rows.values.filter { $0.changed[change.field]?.value == change.value }
        .map { (row: $0.id, file: one.file) }
    }
    guard !holders.isEmpty else { return }
    let isGivenUp = holders.allSatisfy { verdicts(of: $0.row, in: [$0.file]).last == .discarded }
    if isGivenUp {
      throw Violation("\(words) became \(change.value), which an operator discarded")
    }
  }
}

extension Report.Row {
  /// Whether a report names a record with an edit.
  func names(_ record: String) -> Bool {
    [recordID, otherID].contains(record) || candidates.contains(record)
  }
}
