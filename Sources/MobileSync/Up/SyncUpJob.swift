import JSON
import Salesforce

/// Writes of one action to one object that the org does by itself, in an ingest job of Bulk API 2.0.
///
/// A job bears no conditions and no references between its rows, and answers in an order of its own: what came
/// of a write is known by what its row says.
package enum SyncUpJob {
  /// The most rows of a job: the org works on so many at a time, so that a larger one saves nothing.
  package static let mostRows = 10_000
  /// The most bytes of its CSV: the results, which have all columns again, are to be read whole.
  package static let mostBytes = 30_000_000
  /// Objects for whose records an org's assignment rules choose owners; in a job they do so only where one names
  /// the rule.
  private static let assigned: Set<String> = ["case", "lead"]

  /// A write as a row; nil where no row says the same.
  package static func row(of write: SyncUpWrite) -> BulkRow? {
    guard !write.isParent, write.parentField == nil, write.action != .undelete,
      write.action == .delete || !assigned.contains(write.objectType.lowercased()),
      let fields = write.fields.isEmpty
        ? JSONObject() : try? JSONValue(parsing: write.body).object
    else { return nil }
    return row(
      write.action, recordID: write.recordID, key: write.externalKey.map { ($0.field, $0.text) },
      fields)
  }

  /// A write that a journal has noted, as a row.
  static func row(of write: PendingWrite) -> BulkRow? {
    var key: (String, String)?
    if let field = write.externalField, let value = write.externalValue { key = (field, value) }
    return row(write.action, recordID: write.recordID, key: key, write.fields)
  }

  private static func row(
    _ action: SyncUpAction, recordID: String?, key: (field: String, text: String)?,
    _ fields: JSONObject
  ) -> BulkRow? {
    var members: [(name: String, value: JSONValue)] = []
    if action == .update || action == .delete {
      guard let recordID else { return nil }
      members.append(("Id", .string(recordID)))
    }
    if action == .delete { return BulkRow(members) }
    if let key, !key.text.isEmpty { members.append((key.field, .string(key.text))) }
    return BulkRow(members + fields.map { ($0.name, $0.value) })
  }

  /// How the org calls an action.
  static func operation(_ action: SyncUpAction) -> BulkIngestJob.Operation {
    switch action {
    case .create: .insert
    // No job brings a record back: a change that does is no row.
    case .update, .undelete: .update
    case .upsert: .upsert
    case .delete: .delete
    }
  }

  /// What the results of a job say of writes, in the order of those.
  ///
  /// Rows that say the same are each other's equals, and so are their answers. A write of which no result
  /// tells is unknown; of a job that did not come to its end, it was not looked at.
  package static func answers(
    _ results: BulkIngestJob.Results, _ writes: [(row: BulkRow?, write: SyncUpAction, id: String?)]
  ) -> [RowAnswer] {
    var answers: [RowAnswer?] = writes.map { _ in nil }
    var told: [(row: BulkRow, answer: (Int) -> RowAnswer)] = []
    for success in results.successes {
      told.append(
        (
          success.row,
          { RowAnswer(success, recordID: writes[$0].id, isUpsert: writes[$0].write == .upsert) }
        ))
    }
    for failure in results.failures { told.append((failure.row, { _ in RowAnswer(failure) })) }
    let failure = RowRefusal(
      code: nil, message: "the org ended the bulk job before it: \(results.failure ?? "")")
    for row in results.unprocessed { told.append((row, { _ in .unprocessed(failure) })) }
    // First what is the same to the letter, then what an org may have written in its own way.
    for isExact in [true, false] {
      let form = { (row: BulkRow) in isExact ? row : row.bare }
      var places: [BulkRow: [Int]] = [:]
      for (place, write) in writes.enumerated().reversed() where answers[place] == nil {
        if let row = write.row { places[form(row), default: []].append(place) }
      }
      told.removeAll { one in
        guard let place = places[form(one.row)]?.popLast() else { return false }
        answers[place] = one.answer(place)
        return true
      }
    }
    return answers.map { answer in
      if let answer { return answer }
      if let lacking = results.lacking {
        return .unknown("a part of the bulk job's results cannot be had: \(lacking.message)")
      }
      return results.isUntouched
        ? .unprocessed(failure)
        : .unknown("the results of the bulk job do not tell of it")
    }
  }
}

extension SyncUpRequest {
  /// Has the org do the writes in a job that is open.
  func sendJob(
    _ id: String, _ session: Session, while mayWait: @Sendable () -> Bool
  ) async throws(OrgError) -> [RowAnswer] {
    let rows = writes.map { ($0, SyncUpJob.row(of: $0)) }
    let job = BulkIngestJob(id: id, session)
    do throws(BulkIngestJob.RunError) {
      try await job.run(BulkRow.csv(rows.compactMap(\.1)))
    } catch {
      switch error {
      case .notBegun(let error):
        // What an outage stopped fares no better another way.
        if error.isAboutTheObject || error.isAmbiguous {
          let refusal = RowRefusal(code: error.code, message: error.message)
          return writes.map { _ in .unprocessed(refusal) }
        }
        throw error
      case .lost(let error): throw error
      }
    }
    guard let results = try await job.results(while: mayWait) else {
      throw OrgError(
        .timeout, message: Self.atWorkText(id),
        request: "GET the bulk job \(id)", isAmbiguous: true)
    }
    return SyncUpJob.answers(results, rows.map { ($1, $0.action, $0.recordID) })
  }

  /// Says that the org has not ended a job.
  static func atWorkText(_ id: String) -> String {
    "the org is still at work on the bulk job \(id)"
  }

  /// The batches of jobs, for each action and object of which there are more changes than `bulkAbove`; and the
  /// changes that are left.
  static func jobs<Change: SyncUpChange>(
    _ changes: [Change], above bulkAbove: Int
  ) -> (jobs: [Batch<Change>], rest: [Change]) {
    if changes.count <= bulkAbove { return ([], changes) }
    var groups: [Group: [Int]] = [:]
    for (place, change) in changes.enumerated() {
      groups[
        Group(
          action: change.action, objectType: change.objectType.lowercased(),
          key: change.write.externalKey?.field.lowercased()), default: []
      ].append(place)
    }
    var jobs: [Batch<Change>] = []
    var inJobs: Set<Int> = []
    let ordered = groups.values.filter { $0.count > bulkAbove }.sorted { $0[0] < $1[0] }
    for places in ordered {
      var batch: [Change] = []
      var bytes = 0
      for place in places {
        guard let size = SyncUpJob.row(of: changes[place].write)?.size else { continue }
        if batch.count == SyncUpJob.mostRows || bytes + size > SyncUpJob.mostBytes {
          jobs.append(Batch(form: .job, changes: batch))
          (batch, bytes) = ([], 0)
        }
        batch.append(changes[place])
        bytes += size
        inJobs.insert(place)
      }
      if !batch.isEmpty { jobs.append(Batch(form: .job, changes: batch)) }
    }
    return (jobs, changes.indices.filter { !inJobs.contains($0) }.map { changes[$0] })
  }

  private struct Group: Hashable {
    var action: SyncUpAction
    var objectType: String
    var key: String?
  }
}
