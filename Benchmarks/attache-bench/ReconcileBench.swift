import LocalOrg
import Pipelines
import Rehearsal
import System

/// A run's returns sent to a local org, repeatedly from the same state.
///
/// The org is served here. The reconciliation is a separate process, so that its peak memory is its
/// own.
struct ReconcileBench {
  private let options: BenchOptions
  private var returns: Int { options.returns ?? 1000 }
  private var directory: String { options.directory + "/reconcile" }
  /// The state before each run.
  private var kept: String { directory + "/kept" }

  init(_ options: BenchOptions) { self.options = options }

  func measure() async throws -> ReconcileReport {
    if Files.exists(directory) { try Files.remove(directory) }
    defer { try? Files.remove(directory) }
    var report = ReconcileReport(concurrency: options.concurrency)
    let small = try await prepare(max(4, returns / 10), "small")
    for (milliseconds, atOnce) in [
      (0, 1), (0, options.concurrency), (100, options.concurrency), (100, 1),
    ] {
      report.arms.append(try play(small, atOnce, delay: milliseconds))
    }
    report.small = try play(small, options.concurrency, strikes: true)
    if returns >= 10 {
      let large = try await prepare(returns, "large")
      for _ in 0..<options.rounds {
        report.large.append(try play(large, options.concurrency))
        report.struck.append(try play(large, options.concurrency, strikes: true))
      }
    }
    return report
  }

  private func prepare(_ returns: Int, _ name: String) async throws -> ReturnFleet {
    options.note(
      "\(returns) returns of \(options.edits) edits: creating the org, the bundles and the returns")
    let fleet = try ReturnFleet(
      returns: returns, edits: options.edits, directory: directory + "/" + name)
    try await fleet.prepare()
    if Files.exists(kept) { try Files.remove(kept) }
    try fleet.save(to: kept)
    return fleet
  }

  private func play(
    _ fleet: ReturnFleet, _ atOnce: Int, delay: Int = 0, strikes: Bool = false
  ) throws -> ReconcileReport.Arm {
    try fleet.restore(from: kept)
    _ = try fleet.pipeline(concurrency: atOnce)
    let org = try fleet.org()
    let server = try fleet.serve(org)
    defer { server.stop() }
    if delay > 0 { server.faults.add(.any, nth: 1, times: .max, .delay(milliseconds: delay)) }
    if strikes { fleet.strike(server) }
    let output = try BenchChild.run(
      .night, ["--directory", fleet.directory], variables: fleet.variables(server),
      deadlineSeconds: 7200)
    let told = try NightChild.Night(parsing: output)
    let arm = ReconcileReport.Arm(
      returns: fleet.returns, edits: fleet.returns * fleet.edits, delay: delay, atOnce: atOnce,
      strikes: strikes, night: told, calls: server.log.count, least: fleet.leastCalls,
      recount: try fleet.recount(org))
    options.note("  \(arm.line)")
    return arm
  }
}
