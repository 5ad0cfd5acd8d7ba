import ObjectStore
import System

/// The publication of a run's bundles, after they are packed.
struct RunPublication {
  private let run: RunContext
  private var isChecked = false

  /// A store that does not answer must not delay the run.
  private static let checkSeconds = 20
  /// The number of users of whose failure a run warns.
  private static let mostWarnings = 5

  init(run: RunContext) { self.run = run }

  private var isAsked: Bool {
    run.pipeline.publish != nil && run.options.stages.contains(.pack) && !run.options.isDryRun
  }

  /// Throws if the access key is missing or the store ignores conditions, before the run changes
  /// anything.
  ///
  /// Any other fault of the store does not stop the run: its bundles are made, and the next run
  /// publishes them.
  mutating func check() async throws {
    guard isAsked,
      let publisher = try Publisher(
        run.pipeline, run.data, run.variables, deadlineSeconds: Self.checkSeconds)
    else { return }
    do {
      try await publisher.check()
      isChecked = true
    } catch let error as ObjectStoreError {
      if error.kind == .ignoresConditions { throw error }
    }
  }

  /// Publishes what is new; a failure is a finding of the run, and the next run tries again.
  func perform() async throws {
    guard isAsked else { return }
    do {
      let summary = try await publish()
      run.summary.published = summary
      if !summary.isEmpty { run.report(.published(summary)) }
      for failure in summary.failures.prefix(Self.mostWarnings) {
        run.warn("bundles were not published: \(failure)")
      }
      let more = summary.failures.count - Self.mostWarnings
      if more > 0 {
        run.warn("the bundles of \(CountText.of(more, "other user")) were not published either")
      }
      if !summary.failures.isEmpty {
        run.summary.findings.insert(summary.isForLater ? .limitReached : .notPublished)
      }
    } catch {
      try Task.checkCancellation()
      let error = PipelineError(describing: error)
      run.warn("the bundles were not published: \(error.message)")
      run.summary.findings.insert(
        error.kind == .configuration ? .notPublished : RunFinding(ofEnd: error.kind))
    }
  }

  private func publish() async throws -> PublishSummary {
    if let publisher = try Publisher(run.pipeline, run.data, run.variables) {
      if !isChecked { try await publisher.check() }
      return try await publisher.publish(isWhole: false)
    }
    let program = PublishProgram(run.pipeline, run.data, run.variables)
    return try await program?.publish(
      isWhole: false, isDryRun: false, pause: run.options.retryPause) ?? PublishSummary()
  }
}
