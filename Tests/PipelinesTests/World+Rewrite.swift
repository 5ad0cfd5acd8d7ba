import Pipelines
import System
import Testing

extension World {
  /// A world whose users share no records, so that a fault of a user's requests always hits them.
  static func withoutSharing() throws -> World {
    try World {
      $0.replacing(#""platforms":"#, with: #""prime": {"share": "never"}, "platforms":"#)
    }
  }

  /// A run of the current pipeline file.
  func runAsWritten(
    _ stages: Set<Stage> = [.prime, .pack], options change: (inout RunOptions) -> Void = { _ in }
  ) async throws -> RunSummary {
    var options = RunOptions()
    options.stages = stages
    change(&options)
    return try await execute(
      PipelineFile.read(path: pipeline.file, variables: variables), options,
      files: FirstRun.digest(files: directory.file("pipelines")))
  }

  @discardableResult func runAllAsWritten(options change: (inout RunOptions) -> Void = { _ in })
    async throws -> RunSummary
  { try await runAsWritten(Set(Stage.allCases), options: change) }

  func rewrite(_ old: String, _ new: String, in file: String = "demo.json") throws {
    let path = directory.file("pipelines") + "/" + file
    let text = String(decoding: try Files.read(path), as: UTF8.self)
    #expect(text.contains(old))
    try DurableFile.write(Array(text.replacing(old, with: new).utf8), to: path)
  }

  /// Makes the sync up of accounts overwrite, for runs of the current pipeline file.
  func overwriteAccounts() throws {
    try rewrite(
      #"["Name", "Phone", "Website", "Description"], "mergeMode": "LEAVE_IF_CHANGED""#,
      #"["Name", "Phone", "Website", "Description"], "mergeMode": "OVERWRITE""#,
      in: "demo/usersyncs.json")
  }
}
