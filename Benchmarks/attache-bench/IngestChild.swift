import Crypto
import SQLite
import System

/// Ingests the stores of an `IngestFleet`, or does the minimum work on them, in a separate process.
struct IngestChild {
  private let options: BenchOptions
  private var fleet: IngestFleet {
    IngestFleet(returns: options.returns ?? 1, directory: options.directory)
  }

  init(_ options: BenchOptions) { self.options = options }

  /// The stage, as in a run.
  func ingest() async throws -> Measurement {
    var result = Measurement()
    result.arm = "ingest"
    let start = Clock.monotonicNanoseconds()
    let summary = try await fleet.ingest()
    result.end(start)
    result.records = summary.edits.new
    guard summary.returns.ingested == fleet.returns,
      result.records == fleet.returns * IngestFleet.edits
    else {
      throw BenchFailure(
        "\(summary.returns.ingested) of \(fleet.returns) returns and \(result.records) edits were ingested"
      )
    }
    return result
  }

  /// The floor: each file is copied, hashed and checked, without waiting for anything.
  ///
  /// Each copy is deleted before the next one is made, as a file leaves the inbox, because memory
  /// that the kernel has not reclaimed yet costs far less than memory that it has to find.
  func floor() throws -> Measurement {
    let copies = fleet.directory + "/copies"
    if Files.exists(copies) { try Files.remove(copies) }
    try Files.makeDirectory(copies)
    defer { try? Files.remove(copies) }
    var result = Measurement()
    result.arm = "floor"
    var digests: Set<String> = []
    let start = Clock.monotonicNanoseconds()
    for (number, file) in fleet.files.enumerated() {
      let copy = "\(copies)/\(number).sqlite"
      try Files.copy(file, to: copy)
      digests.insert(try Digest.sha256Hex(file: copy))
      let connection = try Connection(copy, mode: .readOnly)
      guard try connection.quickCheck().isEmpty else { throw BenchFailure("\(file) is damaged") }
      connection.close()
      try Files.remove(copy)
    }
    result.end(start)
    result.records = digests.count
    guard result.records == fleet.returns else { throw BenchFailure("two of the files are equal") }
    return result
  }
}
