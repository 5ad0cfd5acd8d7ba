import Foundation
import Ledger
import Pipelines
import Reconciliation
import Rehearsal
import System
import TestSupport
import Testing

/// The story of the README, in a directory of its own.
@Suite struct DemoTests {
  @Test func `the demo's verdicts are as they were played`() async throws {
    let directory = TemporaryDirectory("demo")
    let places = Demo.Places(
      snapshots: directory.file("snapshots"), scratch: directory.file("scratch"))
    let lines = Locked<[String]>([])
    let events = Locked<[RunEvent]>([])
    // It throws where the outcome is not what was played.
    try await Demo.run(
      places, report: { event in events.withLock { $0.append(event) } },
      say: { line in lines.withLock { $0.append(line) } })

    let told = lines.withLock { $0 }
    let played = told.filter { $0.hasSuffix("(as played)") }
    #expect(
      played.map { $0.drop { $0 == " " }.dropLast(" (as played)".count) } == [
        "3 created", "1 updated", "1 deleted", "1 already there", "1 filtered", "1 conflict",
        "2 clash", "1 deleted on server", "1 not visible", "1 failed",
      ])
    #expect(!told.contains { $0.contains("but ") && $0.hasSuffix("played)") })
    let stages = events.withLock { $0 }.compactMap {
      if case .stageFinished(let cost) = $0 { cost.stage } else { nil }
    }
    #expect(Set(stages) == Set(Stage.allCases))
    try expectResults(directory.file("snapshots/demo"))
    try expectStories(places)
  }

  /// Each edit of the day reads as a story: who was given what, what a device made of it, how it came back, what
  /// was decided, sent and said of it.
  private func expectStories(_ places: Demo.Places) throws {
    // The org has gone: a story needs the pipeline's directory alone.
    let pipeline = try PipelineFile.read(
      path: places.scratch + "/pipelines/demo.json",
      variables: [
        "ATTACHE_ORG_URL": "http://127.0.0.1:9", "ATTACHE_CLIENT_ID": "none",
        "ATTACHE_JWT_KEY": "none",
      ])
    var told: [String: Int] = [:]
    for number in 1...13 {
      let story = try Explanation.story(of: "\(number)", pipeline, root: places.snapshots)
      let lines = StoryText.lines(story, pipeline.report.reportMask)
      let text = lines.joined(separator: "\n")
      #expect(text.contains("edit \(number) came back in "), "\(text)")
      #expect(lines.contains { $0.contains("edit \(number) is ") && $0.contains(", says run ") })
      let kinds = story.events.map(\.kind)
      expectOrder(story.events, text)
      for kind in kinds {
        switch kind {
        case .issued(_, _, _, let syncs):
          told["issued", default: 0] += 1
          #expect(!syncs.isEmpty && syncs.allSatisfy { $0.hasSuffix(")") }, "\(syncs)")
        case .carried: told["carried", default: 0] += 1
        case .edited: told["edited", default: 0] += 1
        case .returned: told["returned", default: 0] += 1
        case .decided: told["decided", default: 0] += 1
        case .written: told["written", default: 0] += 1
        case .settled: told["settled", default: 0] += 1
        }
      }
    }
    // Two edits of one record are in each other's story. Six waited for a person.
    for (kind, least) in [
      ("edited", 13), ("returned", 13), ("settled", 13), ("decided", 6), ("issued", 10),
      ("written", 8), ("carried", 5),
    ] {
      #expect(told[kind, default: 0] >= least, "\(kind): \(told)")
    }
  }

  /// Causes stand before their effects, whatever the clocks of devices and of this machine say.
  private func expectOrder(_ events: [RecordEvent], _ text: String) {
    for edit in Set(events.compactMap(\.edit)) {
      let own = events.filter { $0.edit == edit }
      func first(_ isIt: (RecordEvent.Kind) -> Bool) -> Int? { own.firstIndex { isIt($0.kind) } }
      let edited = first { if case .edited = $0 { true } else { false } }
      let returned = first { if case .returned = $0 { true } else { false } }
      let settled = first { if case .settled = $0 { true } else { false } }
      #expect(edited == 0, "\(text)")
      #expect((edited ?? 0) < (returned ?? .max) && (returned ?? 0) < (settled ?? .max), "\(text)")
      for (place, event) in own.enumerated() {
        guard case .decided(let decision) = event.kind, let run = decision.run else { continue }
        let done = first {
          switch $0 {
          case .written(let write): write.run == run
          case .settled(_, _, let name): name == run
          default: false
          }
        }
        #expect((settled ?? .max) < place && place < (done ?? .max), "\(text)")
      }
    }
  }

  /// What it leaves to look at.
  private func expectResults(_ data: String) throws {
    let users = try Files.list(data + "/users")
    #expect(users.count == 3)
    let generations = try users.map { user in
      try Files.list("\(data)/users/\(user)").filter { Int($0) != nil }
    }
    // The night carried open edits to each of the three, and the morning after settled them.
    #expect(generations.map(\.count) == [3, 3, 3])
    let stores = try StoreFile.all(in: data)
    // Those that carry edits stand beside what the next ones are made from.
    #expect(stores.count == 23)
    #expect(stores.count { $0.path.contains("/clean/") } == 3)
    #expect(try ForeignReader.violations(stores) == [])
    let reports = try Files.list(data + "/reports")
    // That of the edits, and one of each later night: some of them wait for a person still.
    #expect(reports.count == 3)
    for report in reports {
      #expect(try Files.list("\(data)/reports/\(report)").contains("report.html"))
    }
    #expect(try Files.list(data + "/done").count == 3)
    for directory in ["processing", "quarantine", "inbox"] {
      #expect(try Files.list("\(data)/\(directory)") == [])
    }
  }
}
