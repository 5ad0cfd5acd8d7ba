import Salesforce
import System

/// The floor: the pages that a prime requests, read by the same client and discarded.
struct DownloadChild {
  private let options: BenchOptions

  init(_ options: BenchOptions) { self.options = options }

  func run() async throws -> Measurement {
    let session = try await Workload.session(options)
    let statement = try ObjectShape.contact.statement()
    var result = Measurement()
    result.arm = "download"
    let start = Clock.monotonicNanoseconds()
    let pages = session.query(statement)
    while let page = try await pages.next() {
      result.bytes += page.count
      pages.recycle(page)
    }
    result.end(start)
    result.pages = result.wall
    result.records = pages.totalSize ?? 0
    guard result.records == options.records else {
      throw BenchFailure("the org gave \(result.records) of \(options.records) records")
    }
    return result
  }
}
