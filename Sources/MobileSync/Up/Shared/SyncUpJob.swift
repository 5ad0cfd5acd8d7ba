import JSON
import Salesforce

/// Writes of one action to one object that the org processes in an ingest job of Bulk API 2.0.
///
/// A job supports neither conditions nor references between its rows, and returns results in its
/// own order, so a result is matched to a write by the row's content.
package enum SyncUpJob {
  /// The maximum number of rows in a job; the org processes this many at a time, so a larger job
  /// saves nothing.
  package static let mostRows = 10_000
  /// The maximum size of its CSV in bytes; the results contain all columns again and must be read
  /// in full.
  package static let mostBytes = 30_000_000
  /// Objects whose owners an org's assignment rules choose; in a job, only if it names the rule.
  private static let assigned: Set<String> = ["case", "lead"]

  /// Returns a write as a row; nil if no row can express it.
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

  /// Returns a recorded write as a row.
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

  /// Returns the org's name of an action.
  static func operation(_ action: SyncUpAction) -> BulkIngestJob.Operation {
    switch action {
    case .create: .insert
    // No job undeletes a record: such a change is never a row.
    case .update, .undelete: .update
    case .upsert: .upsert
    case .delete: .delete
    }
  }

  /// Returns what the results of a job report about writes, in the order of the writes.
  ///
  /// Rows with the same content are interchangeable, and so are their results. A write without a
  /// result is unknown; if the job did not complete, it was not processed.
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
      code: nil, message: "the bulk job ended before processing it: \(results.failure ?? "")")
    for row in results.unprocessed { told.append((row, { _ in .unprocessed(failure) })) }
    // Exact matches first, then values that the org may have reformatted.
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
        return .unknown("part of the bulk job's results is unavailable: \(lacking.message)")
      }
      return results.isUntouched
        ? .unprocessed(failure)
        : .unknown("the results of the bulk job do not contain it")
    }
  }
}

extension SyncUpRequest {
  /// Sends the writes in an open job and waits for it.
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
        // What an outage stopped would also fail in another way.
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

  /// The message for a job that the org has not completed.
  static func atWorkText(_ id: String) -> String {
    "the bulk job \(id) is still running in the org"
  }

  /// Returns the batches of jobs, one for each action and object with more than `bulkAbove`
  /// changes, and the remaining changes.
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
