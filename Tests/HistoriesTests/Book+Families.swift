import Ledger
import Reconciliation
import TestSupport

/// The effect of a request that arrived after its edit had got another outcome.
struct LateEffect: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case replaced(field: String, by: String?)
    /// It created a record a second time.
    case made
    case deleted
  }

  var record: String
  var kind: Kind
  /// The number of the last run before it.
  var lastRun: Int
  /// Whether the edit of the request still waited for it.
  var isAwaited: Bool
  /// Whether an operator who was shown it has decided about its edit.
  var isSeen = false

  func stands(in watch: OrgWatch) -> Bool {
    guard let record = watch.record(record) else { return false }
    switch kind {
    case .replaced(let field, let value): return !record.isDeleted && record.values[field] == value
    case .made: return !record.isDeleted
    case .deleted: return record.isDeleted
    }
  }
}

/// The rules for records with details, for values that no request can write, and for requests that
/// arrive late.
extension Book {
  // MARK: deletions and details

  /// Whether a phone returned the deletion of a row's record, or of its parent.
  func hasDeleted(_ phone: Int, _ row: PhoneRow, _ ids: [String], in world: World) -> Bool {
    let ids = ids + [row.parent].compactMap(\.self)
    return returned.contains { one in
      one.phone == phone
        && one.rows.values.contains { rival in ids.contains { deletes(rival, $0, in: world) } }
    }
  }

  /// Whether a row is the deletion of a record.
  ///
  /// The phone that created the record may know only its marker, and its details only its local ID.
  func deletes(_ row: PhoneRow, _ id: String, in world: World) -> Bool {
    guard row.isDeleted else { return false }
    if let serverID = row.serverID { return serverID == id }
    return row.marker.map { id == Self.localID($0) || world.watch.record(id)?.name == $0 } ?? false
  }

  /// A record reported as written was not deleted in the same run with a record that another device
  /// deleted.
  mutating func judgeCascades(_ result: RunResult, in world: World) throws {
    let gone = Set(
      world.watch.records.filter { $0.isDeleted && world.watch.deleter(of: $0.id) == .pipeline }
        .map(\.id))
    let news = gone.subtracting(deleted)
    deleted = gone
    for told in result.report?.records ?? [] where [.updated, .created].contains(told.verdict) {
      guard let id = told.recordID, news.contains(id), !askedToUndo.contains(told.number),
        let one = returned.first(where: { $0.file == told.file }), let row = one.rows[told.row],
        !hasDeleted(one.phone, row, [id], in: world)
      else { continue }
      throw Violation(
        "\(row.words) of \(told.file) is \(told.verdict.rawValue), but the same run deleted it "
          + "with a record that another device deleted")
    }
  }

  // MARK: unlisted fields

  /// A report names each changed field that is not sent.
  func judgeOutside(_ row: PhoneRow, _ told: Report.Row) throws {
    guard [.created, .updated, .alreadyInOrg, .unchanged, .notInFieldList].contains(told.verdict),
      row.operation == .update || row.operation == .create, let soup = Soup.named(row.id.soup)
    else { return }
    for (field, entry) in row.changed where !soup.listed.contains(field) {
      let isTold = orderedReports.flatMap { $0.records + $0.stillOpen }.contains { other in
        other.outside.contains(field)
          && returned.contains {
            $0.file == other.file && $0.rows[other.row]?.changed[field]?.value == entry.value
          }
      }
      if !isTold {
        throw Violation(
          "it is \(told.verdict.rawValue), but no report names its \(field), which is not sent")
      }
    }
  }

  // MARK: late requests

  /// Whether a late request wrote the record of a report row, as far as that can be seen.
  func isTouchedLate(_ row: Report.Row) -> Bool {
    [row.recordID, row.otherID].compactMap(\.self).contains {
      touchedLate.contains($0) || sentAfterLoss.contains($0)
    }
  }

  /// Records the effect of a late request.
  mutating func note(
    _ kind: LateEffect.Kind, of record: String, after run: Int, in world: World
  ) {
    var last: [Int: Report.Row] = [:]
    for report in orderedReports {
      for row in report.stillOpen + report.records { last[row.number] = row }
    }
    let senders = returned.flatMap { one in
      one.rows.values.filter { isOf($0, kind, record, in: world) }.map { row in
        last.values.first { $0.file == one.file && $0.row == row.id }?.verdict
      }
    }
    let isAwaited = senders.contains { $0?.isWaiting ?? true }
    lateEffects.append(LateEffect(record: record, kind: kind, lastRun: run, isAwaited: isAwaited))
  }

  /// Whether the late request of a row may have had an effect.
  private func isOf(
    _ row: PhoneRow, _ kind: LateEffect.Kind, _ record: String, in world: World
  ) -> Bool {
    switch kind {
    case .replaced(let field, let value): row.changed[field]?.value == value
    case .made: row.marker.map { world.watch.record(record)?.name == $0 } ?? false
    case .deleted: deletes(row, record, in: world)
    }
  }

  /// What a late request did is reported.
  ///
  /// If its edit had an outcome by then, it stays open until an operator who was shown it has
  /// decided.
  func judgeLate(in world: World) throws {
    var last: [Int: Report.Row] = [:]
    for report in orderedReports {
      for row in report.stillOpen + report.records { last[row.number] = row }
    }
    let open = last.values.filter { !$0.verdict.isSettled }
    for effect in lateEffects where effect.stands(in: world.watch) && !effect.isSeen {
      if open.contains(where: { $0.names(effect.record) }) { continue }
      let isTold = orderedReports.contains { report in
        report.runNumber > effect.lastRun && report.records.contains { $0.names(effect.record) }
      }
      if isTold, effect.isAwaited { continue }
      throw Violation(
        "a late request left \(effect.kind) of \(effect.record), but no report has that as "
          + (effect.isAwaited ? "its edit's outcome" : "open"))
    }
  }
}
