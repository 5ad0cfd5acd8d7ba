import CSV
import JSON
import System

/// Processes a job, one run of rows at a time.
struct BulkWork {
  let store: OrgStore
  private var jobs: BulkJobs { BulkJobs(store: store) }

  init(store: OrgStore) { self.store = store }

  // MARK: Queries

  /// Selects the records of a new query job; later changes of the selection do not affect it.
  func plan(_ job: inout BulkJob, as user: OrgUser) throws {
    let runner = QueryRunner(store: store, user: user, version: job.version)
    let (query, object) = try statement(of: job, runner)
    let isAll = job.operation == .queryAll || query.allRows
    job.columns = try BulkQueryPlan(query, of: object, runner, includeDeleted: isAll).columns
    var scope = try QueryScope(store: store, user: user, object: object, of: query)
    let sequences = try runner.matching(query, &scope, includeDeleted: isAll)
    for start in stride(from: 0, to: sequences.count, by: BulkJobs.runLength) {
      let part = sequences[start..<min(sequences.count, start + BulkJobs.runLength)]
      try jobs.addRun(
        start / BulkJobs.runLength, of: job.id, part.withUnsafeBytes { Array($0) })
    }
  }

  /// The same for a batch; an invalid statement makes the batch fail.
  func planBatch(_ job: inout BulkJob, as user: OrgUser) throws {
    do {
      try plan(&job, as: user)
    } catch let error as OrgError {
      job.error = "InvalidBatch : Failed to process query: \(error)"
    }
  }

  private func statement(of job: BulkJob, _ runner: QueryRunner) throws -> (
    SOQLQuery, ObjectSchema
  ) {
    let query = try SOQLParser.parse(job.soql ?? "")
    let object = try runner.object(of: query)
    try runner.checkLimits(query)
    return (query, object)
  }

  // MARK: Processing

  /// Processes the next run of a job, if any; returns whether there are more.
  func step(_ jobID: String) throws -> Bool {
    guard var job = try jobs.find(jobID), job.state.isRunning else { return false }
    let start = Clock.monotonicNanoseconds()
    guard let user = try store.users(where: "u.\"Id\" = \(job.userID)").first, user.isActive else {
      job.error = "InvalidSession : the user of the job is not active"
      return try end(&job, .failed)
    }
    if job.error != nil { return try end(&job, .failed) }
    guard let run = try jobs.nextRun(of: job.id) else { return try end(&job, .complete) }
    switch job.kind {
    case .query: try query(&job, run, user)
    case .ingest: try write(&job, run, user)
    }
    job.state = .inProgress
    job.changed = store.clock.now()
    job.milliseconds += Int64((Clock.monotonicNanoseconds() - start) / 1_000_000)
    if try jobs.nextRun(of: job.id) == nil { return try end(&job, .complete) }
    try jobs.save(job)
    return true
  }

  private func end(_ job: inout BulkJob, _ state: BulkJob.State) throws -> Bool {
    job.state = state
    job.changed = store.clock.now()
    try jobs.save(job)
    return false
  }

  private func query(_ job: inout BulkJob, _ run: (number: Int, input: [UInt8]), _ user: OrgUser)
    throws
  {
    let runner = QueryRunner(store: store, user: user, version: job.version)
    let (query, object) = try statement(of: job, runner)
    let plan = try BulkQueryPlan(
      query, of: object, runner, includeDeleted: job.operation == .queryAll || query.allRows)
    let sequences = run.input.withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count, by: 8).map {
        bytes.loadUnaligned(fromByteOffset: $0, as: Int64.self)
      }
    }
    let (rows, count): ([UInt8], Int)
    if job.content == "JSON" {
      let page = try runner.encode(
        sequences[...],
        runner.rowPlan(
          query, object, includeDeleted: job.operation == .queryAll || query.allRows))
      (rows, count) = (Array(page.bytes.dropFirst().dropLast()), page.count)
    } else {
      var writer = job.dialect.writer
      count = try plan.write(sequences, store, to: &writer)
      rows = writer.bytes
    }
    try jobs.finishRun(run.number, of: job, rows, rows: count)
    job.processed += count
  }

  private func write(_ job: inout BulkJob, _ run: (number: Int, input: [UInt8]), _ user: OrgUser)
    throws
  {
    let object = try store.table(job.object).schema
    let writer = RecordWriter(store: store, user: user)
    var results = BulkDialect.kept.writer
    var (count, failed) = (0, 0)
    let keyField = job.operation == .upsert ? job.externalField : nil
    func take(_ row: BulkRow) {
      // Errors of one row are rolled back separately.
      let outcome: RowOutcome
      do {
        outcome = try store.transaction { try Self.perform(job, row, writer) }
      } catch {
        outcome = .failure([.storage(error)])
      }
      results.row(BulkOutcome(outcome.ofReference, id: row.id).cells)
      count += 1
      if outcome.id == nil { failed += 1 }
    }
    if job.content == "JSON" {
      let list = Array("[".utf8) + run.input + Array("]".utf8)
      for record in try JSONValue(parsing: list).array ?? [] {
        take(BulkRow(record.object ?? [:], of: object, keyField: keyField))
      }
    } else {
      try BulkCSV.rows(run.input) { cells in
        take(BulkRow(cells, columns: job.columns, of: object, keyField: keyField))
      }
    }
    try jobs.finishRun(run.number, of: job, results.bytes, rows: count)
    job.processed += count
    job.failed += failed
  }

  private static func perform(_ job: BulkJob, _ row: BulkRow, _ writer: RecordWriter) throws
    -> RowOutcome
  {
    func missing(_ what: String) -> RowOutcome {
      .failure([
        OrgError(
          code: "MISSING_ARGUMENT", message: "\(what) not specified in an \(job.operation) call")
      ])
    }
    switch job.operation {
    case .insert:
      guard row.id == nil else {
        return .failure([
          OrgError(
            code: "INVALID_FIELD_FOR_INSERT_UPDATE",
            message: "cannot specify Id in an insert call", fields: ["Id"])
        ])
      }
      return try writer.create(job.object, row.fields)
    case .update:
      guard let id = row.id else { return missing("Id") }
      return try writer.update(job.object, id: id, row.fields, ifUnmodifiedSince: nil)
    case .upsert:
      let field = job.externalField ?? "Id"
      guard row.key != nil || field.lowercased() == "id" else { return missing(field) }
      return try writer.upsert(job.object, externalField: field, value: row.key, row.fields)
    case .delete, .hardDelete:
      guard let id = row.id else { return missing("Id") }
      return try writer.delete(job.object, id: id)
    case .query, .queryAll: return missing("A query")
    }
  }
}

/// The outcome of one row, as stored in a job.
struct BulkOutcome {
  /// The record's ID, or the one in the row.
  let id: String
  let created: Bool
  /// The errors, as entries of a collection's result; empty if the row was written.
  let errors: [JSONValue]

  var isSuccess: Bool { errors.isEmpty }

  init(_ outcome: RowOutcome, id given: String?) {
    switch outcome {
    case .success(let id, let created):
      (self.id, self.created, errors) = (id, created, [])
    case .failure(let refusals):
      (id, created, errors) = (given ?? "", false, refusals.map(\.collectionEntry))
    }
  }

  /// Reads stored cells.
  init(_ cells: [String]) {
    id = cells[0]
    created = cells[1] == "true"
    errors = (try? JSONValue(parsing: Array(cells[2].utf8)))?.array ?? []
  }

  var cells: [String] {
    [id, String(created), isSuccess ? "" : JSONValue.array(errors).text]
  }

  /// The errors as a CSV cell: `CODE:message:fields --`.
  var text: String {
    errors.map { error in
      let fields = (error["fields"]?.array ?? []).compactMap { $0.string.map { $0 + " " } }
      return "\(error["statusCode"]?.string ?? ""):\(error["message"]?.string ?? ""):"
        + fields.joined() + "--"
    }.joined(separator: ";")
  }
}

/// Reads the CSV in which jobs store their rows.
enum BulkCSV {
  static func rows(_ text: [UInt8], _ body: ([String]) throws -> Void) throws {
    var reader = CSVReader()
    try text.withUnsafeBytes { try reader.feed($0, row: body) }
    try reader.finish(row: body)
  }
}
