import SQLite
import System

/// The jobs of an org with their rows, in runs that are processed one at a time.
struct BulkJobs {
  let store: OrgStore
  /// The number of rows in a run, which is one transaction.
  static let runLength = 2000
  /// How long a job and its results are kept.
  private static let keptMilliseconds: Int64 = 7 * 24 * 3_600_000

  static func makeTables(_ connection: Connection) throws {
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS bulk_job (
        id TEXT PRIMARY KEY, user TEXT NOT NULL, kind TEXT NOT NULL, operation TEXT NOT NULL,
        object TEXT NOT NULL, external TEXT, soql TEXT, delimiter TEXT NOT NULL,
        ending TEXT NOT NULL, version TEXT NOT NULL, created INTEGER NOT NULL,
        changed INTEGER NOT NULL, state TEXT NOT NULL, error TEXT, columns TEXT NOT NULL,
        filled INTEGER NOT NULL, processed INTEGER NOT NULL, failed INTEGER NOT NULL,
        spent INTEGER NOT NULL, role TEXT NOT NULL, parent TEXT, content TEXT NOT NULL
      ) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS bulk_parent ON bulk_job (parent);
      CREATE TABLE IF NOT EXISTS bulk_run (
        job TEXT NOT NULL, n INTEGER NOT NULL, first INTEGER, rows INTEGER, input BLOB,
        output BLOB, PRIMARY KEY (job, n)
      );
      """)
  }

  // MARK: Jobs

  func add(_ job: BulkJob) throws -> BulkJob {
    try prune()
    var job = job
    let prefix = job.role == .batch ? "751" : "750"
    job.id = OrgID.make(prefix: prefix, sequence: store.nextSequence(prefix))
    try save(job)
    return job
  }

  func save(_ job: BulkJob) throws {
    try store.connection.run(
      """
      INSERT OR REPLACE INTO bulk_job VALUES (\(job.id), \(job.userID), \(job.kind.rawValue), \
      \(job.operation.rawValue), \(job.object), \(job.externalField), \(job.soql), \
      \(job.dialect.delimiter), \(job.dialect.lineEnding), \(job.version), \(job.created), \
      \(job.changed), \(job.state.rawValue), \(job.error), \
      \(job.columns.joined(separator: "\n")), \(job.isFilled), \(job.processed), \(job.failed), \
      \(job.milliseconds), \(job.role.rawValue), \(job.parent), \(job.content))
      """)
  }

  func find(_ id: String) throws -> BulkJob? {
    guard let id = OrgID.normalize(id) else { return nil }
    return try jobs("id = \(id)").first
  }

  /// Returns the jobs of a kind that are visible to a user, newest first.
  func list(_ kind: BulkJob.Kind, of userID: String?) throws -> [BulkJob] {
    var condition: SQL = "kind = \(kind.rawValue) AND role = 'whole'"
    if let userID { condition += " AND user = \(userID)" }
    return try jobs(condition)
  }

  /// The batches of a job, oldest first.
  func batches(of jobID: String) throws -> [BulkJob] {
    try jobs("parent = \(jobID)").reversed()
  }

  private func jobs(_ condition: SQL) throws -> [BulkJob] {
    try store.connection.all(
      """
      SELECT id, user, operation, object, external, soql, delimiter, ending, version, created,
        changed, state, error, columns, filled, processed, failed, spent,
        role, parent, content
      FROM bulk_job WHERE \(condition) ORDER BY id DESC
      """
    ).compactMap(Self.job)
  }

  private static func job(_ row: [SQLiteValue]) -> BulkJob? {
    func number(_ place: Int) -> Int { Int(row[place].integer ?? 0) }
    guard let id = row[0].text, let user = row[1].text,
      let operation = BulkJob.Operation(rawValue: row[2].text ?? ""),
      let state = BulkJob.State(rawValue: row[11].text ?? "")
    else { return nil }
    var job = BulkJob(
      id: id, userID: user, operation: operation, object: row[3].text ?? "",
      externalField: row[4].text, soql: row[5].text,
      dialect: BulkDialect(
        delimiter: row[6].text ?? "COMMA", lineEnding: row[7].text ?? "LF"),
      version: row[8].text ?? "", created: row[9].integer ?? 0, changed: row[10].integer ?? 0,
      state: state, error: row[12].text,
      columns: (row[13].text ?? "").split(separator: "\n").map(String.init),
      isFilled: row[14].integer == 1, processed: number(15), failed: number(16),
      milliseconds: row[17].integer ?? 0)
    job.role = BulkJob.Role(rawValue: row[18].text ?? "") ?? .whole
    job.parent = row[19].text
    job.content = row[20].text ?? "CSV"
    return job
  }

  /// Removes a job with all its data.
  func remove(_ id: String) throws {
    for batch in try batches(of: id) { try remove(batch.id) }
    try store.connection.run("DELETE FROM bulk_run WHERE job = \(id)")
    try store.connection.run("DELETE FROM bulk_job WHERE id = \(id)")
  }

  private func prune() throws {
    let oldest = store.clock.now() - Self.keptMilliseconds
    for row in try store.connection.all("SELECT id FROM bulk_job WHERE created < \(oldest)") {
      if let id = row[0].text { try remove(id) }
    }
  }

  // MARK: Runs

  /// Adds the next run of a job's rows.
  func addRun(_ number: Int, of jobID: String, _ input: [UInt8]) throws {
    let statement = try store.prepared("INSERT INTO bulk_run (job, n, input) VALUES (?, ?, ?)")
    try statement.bind(1, jobID)
    try statement.bind(2, number)
    try statement.bind(3, blob: input)
    try statement.execute()
  }

  /// Returns the first run without a result.
  func nextRun(of jobID: String) throws -> (number: Int, input: [UInt8])? {
    let row = try store.connection.first(
      """
      SELECT n, input FROM bulk_run WHERE job = \(jobID) AND output IS NULL ORDER BY n LIMIT 1
      """)
    guard let number = row?[0].integer, let input = row?[1].blob else { return nil }
    return (Int(number), input)
  }

  /// Stores a run's result of `rows` rows, the first of which is the job's row `first`.
  ///
  /// A query's input is no longer needed; rows that were written are needed for the results.
  func finishRun(_ number: Int, of job: BulkJob, _ output: [UInt8], rows: Int) throws {
    let statement = try store.prepared(
      """
      UPDATE bulk_run SET output = ?, first = ?, rows = ?\
      \(job.kind == .query ? ", input = NULL" : "") WHERE job = ? AND n = ?
      """)
    try statement.bind(1, blob: output)
    try statement.bind(2, job.processed)
    try statement.bind(3, rows)
    try statement.bind(4, job.id)
    try statement.bind(5, number)
    try statement.execute()
  }

  /// The run after `number`, with its result if it has one.
  func run(after number: Int, of jobID: String) throws -> BulkRun? {
    try run("n > \(number) ORDER BY n LIMIT 1", jobID)
  }

  /// Returns the run with the row at this index.
  func run(ofRow place: Int, of jobID: String) throws -> BulkRun? {
    try run("first <= \(place) AND first + rows > \(place) LIMIT 1", jobID)
  }

  private func run(_ condition: SQL, _ jobID: String) throws -> BulkRun? {
    let row = try store.connection.first(
      "SELECT n, input, output, first FROM bulk_run WHERE job = \(jobID) AND \(condition)")
    guard let row, let number = row[0].integer else { return nil }
    return BulkRun(
      number: Int(number), input: row[1].blob ?? [], output: row[2].blob,
      first: Int(row[3].integer ?? 0))
  }
}

/// Some rows of a job and their outcomes.
struct BulkRun {
  let number: Int
  let input: [UInt8]
  let output: [UInt8]?
  /// The index of its first row in the job.
  let first: Int
}
