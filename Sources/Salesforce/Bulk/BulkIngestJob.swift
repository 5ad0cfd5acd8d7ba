import CSV
import HTTP
import JSON

/// Rows of one object that the org writes by itself (Bulk API 2.0, "Bulk API 2.0 Ingest").
///
/// 1. `open` makes the job: whoever keeps a journal notes its id now. 2. `run` uploads the rows and lets the
/// org begin. Until then the org does nothing with them. 3. `results` waits for the end and reads what became
/// of each row. A run that died between 2 and 3 asks the same job again: nothing is sent twice.
package struct BulkIngestJob: Sendable {
  /// What is done with the rows.
  package enum Operation: String, Sendable {
    case insert, update, upsert, delete
  }

  /// Why nobody waits for results.
  package enum RunError: Error {
    /// The org has done nothing with any of the rows, and will not.
    case notBegun(OrgError)
    /// It may be at work.
    case lost(OrgError)
  }

  /// What became of the rows; each has the columns that were sent, in an order of the org's own.
  package struct Results: Sendable {
    /// A row that the org did.
    package struct Success: Sendable {
      /// The record.
      package var id: String
      /// Whether it was made.
      package var isCreated: Bool
      /// The row as it was sent.
      package var row: BulkRow

      package init(id: String, isCreated: Bool, row: BulkRow) {
        self.id = id
        self.isCreated = isCreated
        self.row = row
      }
    }

    /// A row that the org did not do.
    package struct Failure: Sendable {
      /// The org's words: a code, a text and the fields.
      package var error: String
      /// The row as it was sent.
      package var row: BulkRow

      package init(error: String, row: BulkRow) {
        self.error = error
        self.row = row
      }
    }

    /// Rows that are done.
    package var successes: [Success] = []
    /// Rows that were refused.
    package var failures: [Failure] = []
    /// Rows that the org never looked at.
    package var unprocessed: [BulkRow] = []
    /// Why the job as a whole ended badly; nil where it did not.
    package var failure: String?
    /// Whether the org never looked at any row.
    package var isUntouched = false
    /// Why a part of the results is not here; nil where all are.
    package var lacking: OrgError?

    package init(
      successes: [Success] = [], failures: [Failure] = [], unprocessed: [BulkRow] = [],
      failure: String? = nil, isUntouched: Bool = false, lacking: OrgError? = nil
    ) {
      self.successes = successes
      self.failures = failures
      self.unprocessed = unprocessed
      self.failure = failure
      self.isUntouched = isUntouched
      self.lacking = lacking
    }
  }

  private let job: BulkJob

  /// The job's id: what a journal keeps.
  package var id: String { job.id }

  /// A job that was opened before.
  package init(id: String, _ session: Session) { job = BulkJob(.ingest, id: id, session) }

  private init(_ job: BulkJob) { self.job = job }

  /// Makes a job without rows.
  package static func open(
    _ operation: Operation, _ sobject: String, externalIDField: String? = nil, _ session: Session
  ) async throws(OrgError) -> BulkIngestJob {
    var body: JSONObject = ["operation": .string(operation.rawValue), "object": .string(sobject)]
    if let externalIDField { body["externalIdFieldName"] = .string(externalIDField) }
    return BulkIngestJob(try await BulkJob.make(.ingest, body, session))
  }

  /// Uploads the rows, and lets the org begin.
  ///
  /// Where that fails, the job is given up if it can be.
  package func run(_ csv: [UInt8]) async throws(RunError) {
    do throws(OrgError) {
      var call = OrgCall(.bulk, "PUT", job.path + "/batches", body: csv)
      call.headers["Content-Type"] = "text/csv; charset=UTF-8"
      call.expected = nil
      let response = try await job.session.send(call)
      let type = response.headers["Content-Type"] ?? ""
      if type.lowercased().contains("html") {
        throw Session.invalidResponse("the answer is a page for people", call).inDoubt
      }
    } catch {
      // Whether the rows arrived or not: an open job does not run.
      await abort()
      throw .notBegun(error)
    }
    try await close()
  }

  /// Says that all rows are there; after an answer that was lost the job itself tells.
  private func close() async throws(RunError) {
    var attempts = 0
    while true {
      do throws(OrgError) {
        return try await job.move(to: .uploadComplete)
      } catch {
        let found: BulkJob.State
        do throws(OrgError) {
          found = try await job.state().state
        } catch let lost {
          throw .lost(lost.inDoubt)
        }
        if found != .open { return }
        guard error.isAmbiguous else {
          await abort()
          throw .notBegun(error)
        }
        // It may arrive still: only the job itself can tell that it does not.
        attempts += 1
        guard let pause = RetryPolicy.pauseOfClosing(after: attempts) else { throw .lost(error) }
        do throws(OrgError) {
          try await job.session.connection.rest(milliseconds: pause, "PATCH \(job.path)")
        } catch {
          throw .lost(error.inDoubt)
        }
      }
    }
  }

  /// What became of the rows of a job that was run; nil where the org is still at work when `mayWait` says no.
  ///
  /// A job that was never run is given up, unless that is not to be done (`givesUp`): its rows are nobody's.
  /// Where a part of the results cannot be had, the others stand. Every error is ambiguous.
  package func results(
    while mayWait: @Sendable () -> Bool = { true }, givesUp: Bool = true
  ) async throws(OrgError) -> Results? {
    do throws(OrgError) {
      let (state, answer) = try await job.end(while: mayWait)
      var results = Results()
      switch state {
      case .uploadComplete, .inProgress: return nil
      case .open:
        if givesUp { try await job.move(to: .aborted) }
        results.failure = "it was never begun"
        results.isUntouched = true
        return results
      case .failed, .aborted:
        results.failure = answer["errorMessage"]?.string ?? "the job was \(state.rawValue)"
      case .complete: break
      }
      try await read(&results, isComplete: state == .complete)
      return results
    } catch {
      throw error.inDoubt
    }
  }

  /// Reads the three parts of the results; an error where none of them can be had.
  private func read(_ results: inout Results, isComplete: Bool) async throws(OrgError) {
    var hasSome = false
    for part in Part.allCases where part != .unprocessed || !isComplete {
      do throws(OrgError) {
        results.add(try await rows(part), of: part)
        hasSome = true
      } catch {
        guard error.mayFareBetter else { throw error }
        results.lacking = results.lacking ?? error
        // An org that does not answer at all is asked nothing more.
        if error.status == nil, error.kind == .unreachable || error.kind == .timeout { break }
      }
    }
    if let lacking = results.lacking, !hasSome { throw lacking }
  }

  /// The parts of a job's results, as their resources are called.
  fileprivate enum Part: String, CaseIterable {
    case successes = "successfulResults"
    case failures = "failedResults"
    case unprocessed = "unprocessedrecords"
  }

  fileprivate typealias Row = (cells: [String: String], row: BulkRow)

  private func rows(_ part: Part) async throws(OrgError) -> [Row] {
    let (response, call) = try await job.csv(part.rawValue, mayBeEmpty: true)
    var rows: [Row] = []
    do {
      try BulkRow.read(response.body) { rows.append(($0, $1)) }
    } catch {
      throw Session.invalidResponse("the page of CSV cannot be read: \(error)", call)
    }
    return rows
  }

  /// Gives the job up, where the org lets it be given up.
  package func abort() async { try? await job.move(to: .aborted) }
}

extension BulkIngestJob.Results {
  fileprivate mutating func add(_ rows: [BulkIngestJob.Row], of part: BulkIngestJob.Part) {
    switch part {
    case .successes:
      successes = rows.map { cells, row in
        .init(id: cells["sf__id"] ?? "", isCreated: cells["sf__created"] == "true", row: row)
      }
    case .failures:
      failures = rows.map { .init(error: $0.cells["sf__error"] ?? "", row: $0.row) }
    case .unprocessed: unprocessed = rows.map(\.row)
    }
  }
}

extension OrgError {
  /// The same of a write that the org may be at work on.
  fileprivate var inDoubt: OrgError {
    OrgError(
      kind, status: status, code: code, message: message, fields: fields, request: request,
      isAmbiguous: true)
  }
}
