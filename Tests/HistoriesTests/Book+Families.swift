import Ledger
import Reconciliation
import TestSupport

/// What a request did that landed after its edit was settled in another way.
struct LateEffect: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    /// A value stands where something newer stood.
    case replaced(field: String, by: String?)
    /// A record is there a second time.
    case made
    /// A record is gone that was there again.
    case deleted
  }

  var record: String
  var kind: Kind

  /// Whether it can still be seen in the org.
  func stands(in watch: OrgWatch) -> Bool {
    guard let record = watch.record(record) else { return false }
    switch kind {
    case .replaced(let field, let value): return !record.isDeleted && record.values[field] == value
    case .made: return !record.isDeleted
    case .deleted: return record.isDeleted
    }
  }
}

/// What is held of records with details, of values that no request can write, and of requests that land late.
extension Book {
  // MARK: deletions and what hangs on them

  /// Whether a phone has handed back the deletion of a row's record, or of the one above it.
  func hasDeleted(_ phone: Int, _ row: PhoneRow, _ ids: [String], in world: World) -> Bool {
    let ids = ids + [row.parent].compactMap(\.self)
    return handed.contains { one in
      one.phone == phone
        && one.rows.values.contains { rival in ids.contains { deletes(rival, $0, in: world) } }
    }
  }

  /// Whether a row is the deletion of a record; the phone that made it may know it by its marker alone.
  func deletes(_ row: PhoneRow, _ id: String, in world: World) -> Bool {
    guard row.isDeleted else { return false }
    if let serverID = row.serverID { return serverID == id }
    return row.marker.map { world.watch.record(id)?.name == $0 } ?? false
  }

  /// What a run tells as written has not gone in the same run with a record that another device deleted.
  mutating func judgeCascades(_ result: RunResult, in world: World) throws {
    let gone = Set(
      world.watch.records.filter {
        $0.isDeleted && world.watch.deleter(of: $0.id) == .pipeline
      }.map(\.id))
    let news = gone.subtracting(deleted)
    deleted = gone
    for told in result.report?.records ?? [] where [.updated, .created].contains(told.verdict) {
      guard let id = told.recordID, news.contains(id), !askedToUndo.contains(told.number),
        let one = handed.first(where: { $0.file == told.file }), let row = one.rows[told.row],
        !hasDeleted(one.phone, row, [id], in: world)
      else { continue }
      throw Violation(
        "\(row.words) of \(told.file) is \(told.verdict.rawValue), and the same run has deleted it "
          + "with what another device deleted")
    }
  }

  // MARK: what does not travel

  /// A changed field that does not travel is named in a report.
  func judgeOutside(_ row: PhoneRow, _ told: Report.Row) throws {
    guard [.created, .updated, .alreadyInOrg, .unchanged, .notInFieldList].contains(told.verdict),
      row.operation == .update || row.operation == .create, let soup = Soup.named(row.id.soup)
    else { return }
    for (field, entry) in row.changed where !soup.listed.contains(field) {
      let isTold = orderedReports.flatMap { $0.records + $0.stillOpen }.contains { other in
        other.outside.contains(field)
          && handed.contains {
            $0.file == other.file && $0.rows[other.row]?.changed[field]?.value == entry.value
          }
      }
      if !isTold {
        throw Violation(
          "it is \(told.verdict.rawValue), and no report names its \(field), which does not travel")
      }
    }
  }

  // MARK: requests that land late

  /// Whether a request that landed late has written a report row's record, to all that can be seen.
  func isTouchedLate(_ row: Report.Row) -> Bool {
    [row.recordID, row.otherID].compactMap(\.self).contains {
      touchedLate.contains($0) || sentAfterLoss.contains($0)
    }
  }

  /// What a request did that landed after its edit was settled stays open until somebody has seen it.
  func judgeLate(in world: World) throws {
    var last: [Int: Report.Row] = [:]
    for report in orderedReports {
      for row in report.stillOpen + report.records { last[row.number] = row }
    }
    let open = last.values.filter { !$0.verdict.isSettled }
    for effect in lateEffects where effect.stands(in: world.watch) {
      if open.contains(where: { [$0.recordID, $0.otherID].contains(effect.record) }) { continue }
      throw Violation("a request that landed late left \(effect), and no report has that open")
    }
  }
}
