import Pipelines
import System
import Testing

extension World {
  func loseLedger() throws {
    for ending in ["", "-wal", "-shm"] { try Files.remove(data.state + ending) }
  }

  @discardableResult
  func recover(
    _ change: (inout PipelineRecovery.Request) -> Void = { _ in }
  ) throws -> RecoveryFindings {
    var request = PipelineRecovery.Request(by: "olga", now: org.now())
    change(&request)
    return try PipelineRecovery.perform(pipeline, root: root, request)
  }

  func backUp() throws -> String {
    let done = try PipelineBackup.write(
      pipeline, root: root, to: directory.file("backups"), now: org.now())
    return try #require(done.path)
  }

  func runAndBackUp() async throws -> String {
    try await run()
    return try backUp()
  }
}
