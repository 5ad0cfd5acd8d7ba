import Ledger
import Pipelines
import System
import TestSupport
import Testing

/// Every fault of an org, at every kind of request: the run succeeds, or ends with a message that
/// names a fix.
@Suite struct SecondOrgFaultTests {
  struct Fault: Sendable, CustomTestStringConvertible {
    let kind: String
    let lasting: System.ExitStatus
    var testDescription: String { kind }
  }

  static let faults = [
    Fault(kind: "session", lasting: .authentication), Fault(kind: "page 200", lasting: .tryLater),
    Fault(kind: "page 502", lasting: .tryLater), Fault(kind: "page 503", lasting: .tryLater),
    Fault(kind: "redirect", lasting: .tryLater), Fault(kind: "unavailable", lasting: .tryLater),
    Fault(kind: "error 500", lasting: .tryLater), Fault(kind: "busy", lasting: .tryLater),
    Fault(kind: "limit", lasting: .tryLater), Fault(kind: "cut before", lasting: .tryLater),
    Fault(kind: "cut after", lasting: .tryLater), Fault(kind: "page 500 after", lasting: .tryLater),
  ]

  /// The requests of a scheduled run.
  ///
  /// A fault of a login affects each user's run.
  static let stages: [(method: String, path: String)] = [
    ("GET", "/services/data"), ("GET", "priming-records"), ("POST", "/composite/sobjects/"),
    ("GET", "/query?"), ("GET", "/query/0r8"), ("GET", "/queryAll?"), ("GET", "/describe"),
    ("POST", "/composite/sobjects"), ("PATCH", "/composite/sobjects"),
    ("DELETE", "/composite/sobjects"), ("POST", "/composite"),
  ]

  /// Faults with the stages at which each is played; even a small part has every fault and every
  /// stage.
  private static let played = mixedPairs(Array(stages.indices), faults)
    .prefix(CampaignSize.secondOrgFaults.count)

  /// Parts of them, each of which is played in one org after the other.
  private static let parts = stride(from: 0, to: played.count, by: 6).map {
    $0..<min($0 + 6, played.count)
  }

  @Test func `every request of a run has a fault, and every fault a request`() {
    #expect(Set(Self.played.map(\.0)) == Set(Self.stages.indices))
    #expect(Set(Self.played.map(\.1.kind)) == Set(Self.faults.map(\.kind)))
  }

  @Test(arguments: parts)
  func `after a temporary fault, each edit is in the org once`(_ part: Range<Int>) async throws {
    let scene = try await SecondOrgScene(seed: 3)
    try await scene.night()
    for (number, (place, fault)) in Self.played[part].enumerated() {
      let stage = Self.stages[place]
      let before = try await scene.org.log().count
      let day = try await Chores(scene, number: number)
      try await scene.org.order([
        "kind": .string(fault.kind), "method": .string(stage.method), "path": .string(stage.path),
      ])
      var verdicts: [Verdict: Int] = [:]
      for _ in 0..<3 {
        // A run that ends with a message is followed by the next scheduled run.
        guard let night = try? await scene.night() else { continue }
        verdicts.merge(night.verdicts) { $0 + $1 }
      }
      let words: Comment = "\(fault.kind) at \(stage.method) \(stage.path)"
      #expect(verdicts == Chores.verdicts, words)
      #expect(try await day.faults(since: before) == [], words)
      #expect(try await scene.differences() == [], words)
      #expect(try await scene.org.log().count - before < 300, words)
    }
  }

  @Test func `a permanent fault ends in a message after few requests`() async throws {
    let scene = try await SecondOrgScene(seed: 4)
    for fault in Self.faults {
      // Each is met by a first run.
      try Files.remove(scene.directory.file("snapshots"))
      try await scene.org.order([
        "kind": .string(fault.kind), "path": "/services/data/v", "times": 100_000,
      ])
      let before = try await scene.org.log().count
      do { #expect(try await scene.run().exitStatus == fault.lasting, "\(fault.kind)") } catch {
        let told = PipelineError(describing: error)
        #expect(told.kind.exitStatus == fault.lasting, "\(fault.kind): \(told)")
        #expect(told.fix != nil || told.reason != nil, "\(fault.kind): \(told)")
      }
      #expect(try await scene.org.log().count - before < 40, "\(fault.kind)")
    }
  }
}
