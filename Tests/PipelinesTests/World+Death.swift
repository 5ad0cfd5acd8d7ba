import Pipelines
import System
import Testing

extension World {
  /// Interrupts a run at the first event that `isIt`: its files stay as they are at that moment.
  ///
  /// The org is not reset, so the run is stopped between two requests, and sends no others. It
  /// primes one snapshot after the other, so that nothing is written while its files are copied.
  func die(_ stages: Stage..., at isIt: @escaping @Sendable (RunEvent) -> Bool) async throws {
    let aside = directory.file("aside")
    let died = Locked(false)
    let copied = Locked<(any Error)?>(nil)
    let task = Locked<Task<Void, any Error>?>(nil)
    var single = self.pipeline
    single.limits.jobs = 1
    let (pipeline, root, variables) = (single, root, variables)
    var options = RunOptions()
    if !stages.isEmpty { options.stages = Set(stages) }
    let asked = options
    let gate = AsyncStream.makeStream(of: Void.self)
    let work = Task {
      for await _ in gate.stream {}
      _ = try await PipelineRun.execute(
        pipeline, root: root, variables: variables, options: asked
      ) { event in
        guard !died.withLock({ $0 }), isIt(event) else { return }
        died.withLock { $0 = true }
        do { try Tree.copy(root, to: aside) } catch { copied.withLock { $0 = error } }
        task.withLock { $0?.cancel() }
      }
    }
    task.withLock { $0 = work }
    gate.continuation.finish()
    _ = await work.result
    if let error = copied.withLock({ $0 }) { throw error }
    guard died.withLock({ $0 }) else { throw NoDeath() }
    try Tree.copy(aside, to: root)
  }

  /// The run did not reach the event.
  struct NoDeath: Error {}

  /// Runs an ingest that fails in its stage, because the named file is removed once the stage has
  /// started.
  func ingestFails() async throws {
    let file = directory.file("gone.sqlite")
    try DurableFile.write([1], to: file)
    var options = RunOptions()
    (options.stages, options.files) = ([.ingest], [file])
    let asked = options
    await #expect(throws: PipelineError.self) {
      try await PipelineRun.execute(pipeline, root: root, variables: variables, options: asked) {
        if case .stageStarted(.ingest) = $0 { try? Files.remove(file) }
      }
    }
  }
}
