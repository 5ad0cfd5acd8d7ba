import ObjectStore

/// The publication of a run's bundles, after they are packed.
struct RunPublication {
  let run: RunContext

  private var isAsked: Bool {
    run.pipeline.publish != nil && run.options.stages.contains(.pack) && !run.options.isDryRun
  }

  /// Throws if the store ignores conditions or refuses the key, before the run changes anything.
  ///
  /// A store that cannot be reached does not stop the run: its bundles are made, and the next run
  /// publishes them.
  func check() async throws {
    guard isAsked, let publisher = try Publisher(run.pipeline, run.data, run.variables) else {
      return
    }
    do {
      try await publisher.check()
    } catch let error as ObjectStoreError {
      if case .unreachable = error.kind { return }
      throw error
    }
  }

  /// Publishes what is new; a failure is a finding of the run, and the next run tries again.
  func perform() async throws {
    guard isAsked else { return }
    do {
      let summary: PublishSummary
      if let publisher = try Publisher(run.pipeline, run.data, run.variables) {
        summary = try await publisher.publish(isWhole: false, isDryRun: false)
      } else {
        let program = PublishProgram(run.pipeline, run.data, run.variables)
        summary = try program?.publish(isWhole: false, isDryRun: false) ?? PublishSummary()
      }
      run.summary.published = summary
      for failure in summary.failures {
        run.warn("bundles were not published: \(failure)")
        run.summary.findings.insert(.notPublished)
      }
    } catch {
      try Task.checkCancellation()
      let error = PipelineError(describing: error)
      run.warn("the bundles were not published: \(error.message)")
      run.summary.findings.insert(
        error.kind == .configuration ? .notPublished : RunFinding(ofEnd: error.kind))
    }
  }
}
