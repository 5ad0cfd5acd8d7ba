import Foundation
import Ledger
import Reports
import Synchronization
import Testing

struct DeathTests {
  static func day() throws -> FieldDay {
    let day = try FieldDay()
    day.rules.append(
      FieldDay.rule(
        "visits", ["Name", "Notes__c", "External_Id__c", "Account__c"], mode: .overwrite,
        externalID: "External_Id__c"))
    let ids = try (0..<4).map {
      try day.make("Account", ["Name": .string("A\($0)"), "Phone": "1"])
    }
    try day.org.transfer(ids[1], to: "ada@example.com")
    let conflict = try day.edited(account: ids[2], ["Phone": "device"])
    try day.change("Account", ids[2], ["Phone": "server"])
    try day.handBack([
      try day.edited(account: ids[0], ["Phone": "2"]),
      try day.edited(account: ids[1], [:], deleted: true), conflict,
      day.account("local_p", ["Name": "Parent"]),
      day.contact("local_c", ["LastName": "Kid", "AccountId": "local_p"]),
      day.contact("local_t", ["LastName": "Twin"]), day.contact("local_u", ["LastName": "Twin"]),
      day.account("local_f", ["Phone": "no name"]),
    ])
    try day.handBack([try day.edited(account: ids[3], ["Phone": "ben"])], user: day.ben)
    return day
  }

  struct End: Equatable {
    var org: String
    var report: String

    func differences(from other: End) -> [String] {
      let mine = (org + report).split(separator: "\n").map(String.init)
      let theirs = (other.org + other.report).split(separator: "\n").map(String.init)
      return mine.difference(from: theirs).map { "\($0)" }
    }

    /// The result without what depends on the order of requests: new IDs, dates, and the order of
    /// lines by them.
    var unordered: End {
      func masked(_ text: String) -> String {
        var text = text
        for pattern in [
          #"[0-9a-zA-Z]{15}AAA"#, #"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(\+0000|Z)"#,
        ] { text = text.replacingOccurrences(of: pattern, with: "*", options: .regularExpression) }
        return text.split(separator: "\n").sorted().joined(separator: "\n")
      }
      return End(org: masked(org), report: masked(report))
    }
  }

  private static func end(_ day: FieldDay, _ state: LedgerDatabase) throws -> End {
    let run = try #require(try state.runs(limit: 1).first)
    let report = try JSONReport.bytes(
      "report.json", try ReportModel(state: state, run: run.id, called: "demo"), .init())
    return End(
      org: try day.org.dump(objects: ["Account", "Contact"]),
      report: String(decoding: report, as: UTF8.self))
  }

  private static func whole(_ inFlight: Int) async throws -> (requests: Int, end: End) {
    let day = try day()
    day.options.inFlight = inFlight
    let before = day.server.log.count
    try await day.run()
    return (day.server.log.count - before, try end(day, day.state))
  }

  @Test func `concurrent requests give the same outcome as sequential ones`() async throws {
    let one = try await Self.whole(1)
    let several = try await Self.whole(4)
    #expect(several.end.unordered.differences(from: one.end.unordered) == [])
    #expect(several.requests == one.requests)
  }

  @Test func `a run interrupted with concurrent requests ends like a whole one`() async throws {
    let whole = try await Self.whole(1)
    for nth in 1...whole.requests {
      let end = try await Self.dying(at: nth, arrives: nth % 3 > 0, inFlight: 4)
      let differences = end.unordered.differences(from: whole.end.unordered)
      #expect(differences == [], "interrupted at request \(nth)")
    }
  }

  @Test func `a run interrupted at any request ends like an uninterrupted one`() async throws {
    let whole = try await Self.whole(1)
    #expect(whole.requests > 15)
    for nth in 1...whole.requests {
      // A request that arrives is the harder case; of the others, every third is tested.
      for arrives in nth % 3 == 0 ? [true, false] : [true] {
        let end = try await Self.dying(at: nth, arrives: arrives)
        let differences = end.differences(from: whole.end)
        #expect(differences == [], "interrupted at request \(nth), which arrived: \(arrives)")
      }
    }
  }

  /// Copies the ledger from disk while the org processes a request, and resumes with that copy.
  private static func dying(at nth: Int, arrives: Bool, inFlight: Int = 1) async throws -> End {
    let day = try day()
    day.options.inFlight = inFlight
    let source = day.directory.file("state.sqlite")
    let copy = day.directory.file("copy.sqlite")
    let task = Mutex<Task<Void, any Error>?>(nil)
    let faults = day.server.faults
    faults.add(
      .any, nth: nth, times: 1,
      .mutate { _ in
        // A killed process sends nothing: requests after the copy, which does not have them, do not
        // arrive.
        faults.add(.any, times: 1_000_000, .drop(afterCommit: false))
        try? FileManager.default.copyItem(atPath: source, toPath: copy)
        try? FileManager.default.copyItem(atPath: source + "-wal", toPath: copy + "-wal")
        task.withLock { $0?.cancel() }
      })
    if !arrives { day.server.faults.add(.any, nth: nth, times: 1, .drop(afterCommit: false)) }
    let run = try day.state.beginRun(
      pipeline: "field", now: day.org.now(), configHash: "c", host: "h")
    let dying = Dying(day: day, run: run)
    let gate = AsyncStream.makeStream(of: Void.self)
    let work = Task {
      for await _ in gate.stream {}
      try await dying.run()
    }
    task.withLock { $0 = work }
    gate.continuation.finish()
    _ = await work.result
    // A request that the org still processes would arrive during the resumed run.
    try day.restartServer()
    let ledger = try LedgerDatabase(path: copy)
    let resumed = try #require(try ledger.openRun(now: run.now))
    _ = try await day.reconciler(ledger).run(resumed)
    return try end(day, ledger)
  }
}

/// The scenario in the task that is killed; nothing else uses it until that task has ended.
private final class Dying: @unchecked Sendable {
  let day: FieldDay
  let run: RunRow
  init(day: FieldDay, run: RunRow) {
    self.day = day
    self.run = run
  }
  func run() async throws { _ = try await day.reconciler().run(run) }
}
