import CSV
import HTTP
import JSON

/// Rows of one object that the org writes asynchronously (Bulk API 2.0, "Bulk API 2.0 Ingest").
///
/// 1. `open` creates the job. Record its ID in a journal now. 2. `run` uploads the rows and starts
///    the job. Until then the org does nothing with the rows. 3. `results` waits for the end and
///    reads the outcome of each row. A run that was interrupted between 2 and 3 resumes with the
///    same job, so nothing is sent twice.
package struct BulkIngestJob: Sendable {
  /// The operation on the rows.
  package enum Operation: String, Sendable {
    case insert, update, upsert, delete
  }

  /// The reason there are no results to wait for.
  package enum RunError: Error {
    /// The org has not processed any row, and will not.
    case notBegun(OrgError)
    /// The org may be processing the rows.
    case lost(OrgError)
  }

  /// The outcomes of the rows.
  ///
  /// Each row has the columns that were sent; the org determines the order.
  package struct Results: Sendable {
    /// A row that the org processed successfully.
    package struct Success: Sendable {
      /// The record's ID.
      package var id: String
      /// Whether the record was created.
      package var isCreated: Bool
      /// The row as it was sent.
      package var row: BulkRow

      package init(id: String, isCreated: Bool, row: BulkRow) {
        self.id = id
        self.isCreated = isCreated
        self.row = row
      }
    }

    /// A row that the org rejected.
    package struct Failure: Sendable {
      /// The org's error: a code, a message and the fields.
      package var error: String
      /// The row as it was sent.
      package var row: BulkRow

      package init(error: String, row: BulkRow) {
        self.error = error
        self.row = row
      }
    }

    /// The successful rows.
    package var successes: [Success] = []
    /// The rejected rows.
    package var failures: [Failure] = []
    /// The rows that the org did not process.
    package var unprocessed: [BulkRow] = []
    /// The reason that the job failed as a whole; nil if it did not.
    package var failure: String?
    /// Whether the org did not process any row.
    package var isUntouched = false
    /// The reason that a part of the results is missing; nil if they are complete.
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

  /// The job's ID, to be recorded in a journal.
  package var id: String { job.id }

  /// Creates a reference to an existing job.
  package init(id: String, _ session: Session) { job = BulkJob(.ingest, id: id, session) }

  private init(_ job: BulkJob) { self.job = job }

  /// Creates a job without rows in the org.
  package static func open(
    _ operation: Operation, _ sobject: String, externalIDField: String? = nil, _ session: Session
  ) async throws(OrgError) -> BulkIngestJob {
    var body: JSONObject = ["operation": .string(operation.rawValue), "object": .string(sobject)]
    if let externalIDField { body["externalIdFieldName"] = .string(externalIDField) }
    return BulkIngestJob(try await BulkJob.make(.ingest, body, session))
  }

  /// Uploads the rows and starts the job.
  ///
  /// If that fails, the job is aborted if possible.
  package func run(_ csv: [UInt8]) async throws(RunError) {
    do throws(OrgError) {
      var call = OrgCall(.bulk, "PUT", job.path + "/batches", body: csv)
      call.headers["Content-Type"] = "text/csv; charset=UTF-8"
      call.expected = nil
      let response = try await job.session.send(call)
      let type = response.headers["Content-Type"] ?? ""
      if type.lowercased().contains("html") {
        throw Session.invalidResponse("the response is an HTML page", call).inDoubt
      }
    } catch {
      // Whether or not the rows arrived: an open job does not run.
      await abort()
      throw .notBegun(error)
    }
    try await close()
  }

  /// Declares that all rows are uploaded.
  ///
  /// If the response is lost, the state of the job shows the outcome.
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
        // The request may still arrive. Only the state of the job shows that it has not.
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

  /// The outcomes of the rows of a job; nil if the org is still working and `mayWait` returns
  /// false.
  ///
  /// A job that was never started is aborted, unless `givesUp` is false: its rows have no other
  /// use. If a part of the results is unavailable, the others are returned. Every error is
  /// ambiguous.
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
        results.failure = "it was never started"
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

  /// Reads the three parts of the results; throws if none of them is available.
  private func read(_ results: inout Results, isComplete: Bool) async throws(OrgError) {
    var hasSome = false
    for part in Part.allCases where part != .unprocessed || !isComplete {
      do throws(OrgError) {
        results.add(try await rows(part), of: part)
        hasSome = true
      } catch {
        guard error.mayFareBetter else { throw error }
        results.lacking = results.lacking ?? error
        // If the org does not respond at all, nothing more is requested.
        if error.status == nil, error.kind == .unreachable || error.kind == .timeout { break }
      }
    }
    if let lacking = results.lacking, !hasSome { throw lacking }
  }

  /// The parts of a job's results, by the names of their resources.
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
      throw Session.invalidResponse("the page of CSV is invalid: \(error)", call)
    }
    return rows
  }

  /// Aborts the job, if the org allows it.
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
  /// The same error for a write that the org may have executed.
  fileprivate var inDoubt: OrgError {
    OrgError(
      kind, status: status, code: code, message: message, fields: fields, request: request,
      isAmbiguous: true)
  }
}
