import CSV
import JSON

/// Splits a job's uploaded rows into runs, and checks the upload as a whole.
struct BulkUpload {
  let jobs: BulkJobs
  let object: ObjectSchema

  /// The org's message for an invalid CSV.
  struct Refusal: Error {
    let message: String
  }

  /// Stores the rows; if they cannot be read, the job fails when it is closed.
  func take(_ text: [UInt8], into job: inout BulkJob) throws {
    job.isFilled = true
    do {
      if job.content == "JSON" { return try cutJSON(text, job) }
      // The older API accepts any line ending.
      if job.role == .whole {
        try text.withUnsafeBytes { bytes in try checkLineEnding(bytes, job) }
      }
      try cut(text, &job)
      try checkColumns(job)
    } catch let refusal as Refusal {
      job.error = refusal.message
    } catch let error as CSVError {
      job.error = "InvalidBatch : \(error)"
    } catch let error as JSONError {
      job.error = "InvalidBatch : \(error)"
    }
  }

  /// Splits a list of objects into runs.
  private func cutJSON(_ text: [UInt8], _ job: BulkJob) throws {
    guard let records = try JSONValue(parsing: text).array,
      records.allSatisfy({ $0.object != nil })
    else { throw Refusal(message: "InvalidBatch : The batch is not a list of objects") }
    for start in stride(from: 0, to: records.count, by: BulkJobs.runLength) {
      let part = records[start..<min(records.count, start + BulkJobs.runLength)]
      try jobs.addRun(
        start / BulkJobs.runLength, of: job.id,
        Array(part.map(\.text).joined(separator: ",").utf8))
    }
  }

  private func cut(_ text: [UInt8], _ job: inout BulkJob) throws {
    var reader = CSVReader(delimiter: job.dialect.delimiterByte)
    var run = BulkDialect.kept.writer
    var (count, number) = (0, 0)
    var columns: [String] = []
    func keep() throws {
      guard count > 0 else { return }
      try jobs.addRun(number, of: job.id, run.bytes)
      (number, count) = (number + 1, 0)
      run.bytes.removeAll(keepingCapacity: true)
    }
    func take(_ row: [String]) throws {
      guard !columns.isEmpty else {
        columns = row
        return
      }
      guard row.count == columns.count else {
        throw Refusal(
          message: "InvalidBatch : a row has \(row.count) fields, the header has \(columns.count)")
      }
      run.row(row)
      count += 1
      if count == BulkJobs.runLength || run.bytes.count > 8 << 20 { try keep() }
    }
    try text.withUnsafeBytes { try reader.feed($0, row: take) }
    try reader.finish(row: take)
    try keep()
    job.columns = columns
  }

  private func checkLineEnding(_ bytes: UnsafeRawBufferPointer, _ job: BulkJob) throws {
    var isQuoted = false
    for (place, byte) in bytes.enumerated() {
      if byte == 0x22 { isQuoted.toggle() }
      guard byte == 0x0A, !isQuoted else { continue }
      let found = place > 0 && bytes[place - 1] == 0x0D ? "CRLF" : "LF"
      guard found == job.dialect.lineEnding else {
        throw Refusal(
          message: "ClientInputError : LineEnding is invalid on user data. Current LineEnding "
            + "setting is \(job.dialect.lineEnding)")
      }
      return
    }
  }

  private func checkColumns(_ job: BulkJob) throws {
    for column in job.columns where !isKnown(column) {
      throw Refusal(message: "InvalidBatch : Field name not found : \(column)")
    }
    if job.operation == .delete, job.columns.map({ $0.lowercased() }) != ["id"] {
      throw Refusal(message: "InvalidBatch : A delete has the one column Id")
    }
  }

  /// Whether a column is a field, or a path such as `Account.External_Id__c`, which refers to a
  /// parent by its external ID.
  private func isKnown(_ column: String) -> Bool {
    if object.field(column) != nil { return true }
    let parts = column.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 2 && object.lookup(relationship: BulkRow.relationship(parts[0])) != nil
  }
}
