import JSON
import MobileSync
import Salesforce
import Testing

struct SyncUpJobTests {
  @Test func `a write without a result is unknown, unless the job never started`() throws {
    let rows = try ["A", "B"].map {
      try #require(BulkRow([(name: "Name", value: JSONValue.string($0))]))
    }
    var results = BulkIngestJob.Results()
    results.successes = [.init(id: "001000000000001AAA", isCreated: true, row: rows[0])]
    let writes: [(row: BulkRow?, write: SyncUpAction, id: String?)] = rows.map {
      ($0, .create, nil)
    }
    let answers = SyncUpJob.answers(results, writes)
    guard case .done = answers[0], case .unknown = answers[1] else {
      Issue.record("the answers are \(answers)")
      return
    }
    results.successes = []
    results.isUntouched = true
    for answer in SyncUpJob.answers(results, writes) {
      guard case .unprocessed = answer else {
        Issue.record("the answer is \(answer)")
        return
      }
    }
  }
}
