import CSV
import System

/// The results of a write job, in the form in which they are sent.
struct BulkResults: Sendable {
  /// The set of rows to return.
  enum Which: Sendable {
    case successful, failed, unprocessed
  }

  let job: BulkJob
  let which: Which

  /// Returns the parts: the header, then the rows of each run.
  func pieces(of org: Org) -> @Sendable () throws -> [UInt8]? {
    BulkRuns(org: org, jobID: job.id).pieces(after: header) { try rows(of: $0) }
  }

  private var header: [UInt8] {
    var writer = job.dialect.writer
    switch which {
    case .successful: writer.row(["sf__Id", "sf__Created"] + job.columns)
    case .failed: writer.row(["sf__Id", "sf__Error"] + job.columns)
    case .unprocessed: writer.row(job.columns)
    }
    return writer.bytes
  }

  private func rows(of run: BulkRun) throws -> [UInt8] {
    var writer = job.dialect.writer
    guard let output = run.output else {
      if which == .unprocessed { try BulkCSV.rows(run.input) { writer.row($0) } }
      return writer.bytes
    }
    guard which != .unprocessed else { return [] }
    var outcomes: [BulkOutcome] = []
    try BulkCSV.rows(output) { outcomes.append(BulkOutcome($0)) }
    var place = 0
    try BulkCSV.rows(run.input) { cells in
      let outcome = outcomes[place]
      place += 1
      guard outcome.isSuccess == (which == .successful) else { return }
      let second = outcome.isSuccess ? String(outcome.created) : outcome.text
      writer.row([outcome.id, second] + cells)
    }
    return writer.bytes
  }
}

/// A page of a query job's records, generated while it is sent.
final class BulkPage: Sendable {
  private struct Place: Sendable {
    var row: Int
    var isHeaderSent = false
    /// The run that was sent last.
    var run: Int?
  }

  private let org: Org
  private let job: BulkJob
  private let end: Int
  private let place: Locked<Place>

  init(org: Org, job: BulkJob, rows: Range<Int>) {
    self.org = org
    self.job = job
    end = rows.upperBound
    place = Locked(Place(row: rows.lowerBound))
  }

  /// Returns the next part: the header, then the records of each run that are on the page.
  func next() throws -> [UInt8]? {
    let current = place.withLock { place in
      defer { place.isHeaderSent = true }
      return place
    }
    guard current.isHeaderSent else {
      var writer = job.dialect.writer
      writer.row(job.columns)
      return writer.bytes
    }
    guard current.row < end else { return nil }
    let run = try org.locked { store in
      let jobs = BulkJobs(store: store)
      guard let last = current.run else { return try jobs.run(ofRow: current.row, of: self.job.id) }
      return try jobs.run(after: last, of: self.job.id)
    }
    // The job was deleted while its results were read.
    guard let run, let output = run.output else { throw OrgError.notFound }
    let skipped = Self.offset(ofRow: current.row - run.first, in: output, from: 0)
    let wanted = end - current.row
    let stop = Self.offset(ofRow: wanted, in: output, from: skipped.offset)
    place.withLock { place in
      place.row += stop.rows
      place.run = run.number
    }
    return Array(output[skipped.offset..<stop.offset])
  }

  /// Returns the offset at which the row with this index starts, counted from a given offset, or
  /// the end, with the number of rows before it.
  private static func offset(ofRow place: Int, in text: [UInt8], from start: Int) -> (
    offset: Int, rows: Int
  ) {
    guard place > 0 else { return (start, 0) }
    return text.withUnsafeBytes { bytes in
      var isQuoted = false
      var rows = 0
      for index in start..<bytes.count {
        if bytes[index] == 0x22 {
          isQuoted.toggle()
        } else if bytes[index] == 0x0A, !isQuoted {
          rows += 1
          if rows == place { return (index + 1, rows) }
        }
      }
      return (bytes.count, rows)
    }
  }
}
