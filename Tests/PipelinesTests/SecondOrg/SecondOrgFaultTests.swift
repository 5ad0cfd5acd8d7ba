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

  private static func stages(of fault: Fault) -> [(method: String, path: String)] {
    played.filter { $0.1.kind == fault.kind }.map { stages[$0.0] }
  }

  @Test func `every request of a run has a fault, and every fault a request`() {
    #expect(Set(Self.played.map(\.0)) == Set(Self.stages.indices))
    #expect(Set(Self.played.map(\.1.kind)) == Set(Self.faults.map(\.kind)))
  }

  @Test(arguments: faults)
  func `after a temporary fault, each edit is in the org once`(_ fault: Fault) async throws {
    let scene = try await SecondOrgScene(seed: 3)
    try await scene.night()
    for (number, stage) in Self.stages(of: fault).enumerated() {
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
      let place = "\(fault.kind) at \(stage.method) \(stage.path)"
      #expect(verdicts == Chores.verdicts, "\(place)")
      #expect(try await day.faults(since: before) == [], "\(place)")
      #expect(try await scene.differences() == [], "\(place)")
      #expect(try await scene.org.log().count - before < 300, "\(place)")
    }
  }

  @Test(arguments: faults)
  func `a permanent fault ends in a message after few requests`(_ fault: Fault) async throws {
    let scene = try await SecondOrgScene(seed: 4)
    try await scene.org.order([
      "kind": .string(fault.kind), "path": "/services/data/v", "times": 100_000,
    ])
    do { #expect(try await scene.run().exitStatus == fault.lasting) } catch {
      let told = PipelineError(describing: error)
      #expect(told.kind.exitStatus == fault.lasting, "\(told)")
      #expect(told.fix != nil || told.reason != nil, "\(told)")
    }
    #expect(try await scene.org.log().count < 40)
  }
}
