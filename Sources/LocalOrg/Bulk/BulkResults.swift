import CSV
import System

/// The results of a job as they are sent: a run at a time, each read when the last one has gone.
final class BulkResults: Sendable {
  /// Which rows of a job that wrote.
  enum Which: Sendable {
    case successful, failed, unprocessed
  }

  private enum Place: Sendable {
    case start
    case after(run: Int)
  }

  private let org: Org
  private let job: BulkJob
  private let which: Which
  private let place = Locked(Place.start)

  init(org: Org, job: BulkJob, _ which: Which) {
    self.org = org
    self.job = job
    self.which = which
  }

  /// The next piece: the header, then the rows of each run.
  func next() throws -> [UInt8]? {
    switch place.withLock({ $0 }) {
    case .start:
      place.withLock { $0 = .after(run: -1) }
      return header
    case .after(let number):
      let run = try org.locked { try BulkJobs(store: $0).run(after: number, of: self.job.id) }
      guard let run else { return nil }
      place.withLock { $0 = .after(run: run.number) }
      return try rows(of: run)
    }
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
    var results: [[String]] = []
    try BulkCSV.rows(output) { results.append($0) }
    var place = 0
    try BulkCSV.rows(run.input) { cells in
      let result = results[place]
      place += 1
      let isFailed = !result[2].isEmpty
      if which == .failed, isFailed { writer.row([result[0], result[2]] + cells) }
      if which == .successful, !isFailed { writer.row([result[0], result[1]] + cells) }
    }
    return writer.bytes
  }
}

/// A page of a query job's records as it is sent.
final class BulkPage: Sendable {
  private struct Place: Sendable {
    var row: Int
    var isHeaderSent = false
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

  /// The next piece: the header, then what each run has of the page.
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
      try BulkJobs(store: store).run(ofRow: current.row, of: self.job.id)
    }
    // The job was deleted while its results were read.
    guard let run, let output = run.output else { throw OrgError.notFound }
    let skipped = Self.offset(ofRow: current.row - run.first, in: output, from: 0)
    let wanted = end - current.row
    let stop = Self.offset(ofRow: wanted, in: output, from: skipped.offset)
    place.withLock { $0.row += stop.rows }
    return Array(output[skipped.offset..<stop.offset])
  }

  /// Where the row of this place begins, counted from an offset, or the end; and how many rows lie
  /// before it.
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
