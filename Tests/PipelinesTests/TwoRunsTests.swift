import Dispatch
import Pipelines
import System
import Testing

@Suite struct TwoRunsTests {
  // Against a lock that is never released. All tests of a group start at once, and this one waits
  // for its turn.
  @Test(.timeLimit(.minutes(10)))
  func `a second run of one pipeline is refused while the first is active`() async throws {
    let world = try World()
    let gate = DispatchSemaphore(value: 0)
    let entered = AsyncStream.makeStream(of: Void.self)
    world.server.faults.add(
      .init(kind: .retrieve), nth: 1, times: 1,
      .pause(afterBytes: 0) {
        entered.continuation.finish()
        gate.wait()
      })
    let first = Task { try await world.run() }
    for await _ in entered.stream {}
    for stages in [Set(Stage.allCases), [.pack]] {
      let error = await #expect(throws: PipelineError.self) {
        try await world.run { $0.stages = stages }
      }
      #expect(error?.kind == .locked)
      #expect(error?.reason?.contains("process \(ProcessEnvironment.processID())") == true)
    }
    let other = try await world.program(["run"])
    #expect(other.status == 7 && other.messages.contains("[run.locked]"), "\(other.everything)")
    gate.signal()
    #expect(try await first.value.exitStatus == .done)
    #expect(try await world.run().exitStatus == .done)
  }
}
