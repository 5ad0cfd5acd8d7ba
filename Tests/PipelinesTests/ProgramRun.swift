import System

struct ProgramRun {
  let status: Int32
  let output: String
  let messages: String

  /// Runs `attache` with the arguments; `shell` is the script around it, by default `"$@"`.
  ///
  /// It blocks, so do not call it on the cooperative pool.
  init(
    _ arguments: [String], variables: [String: String] = [:], shell: String = #"exec "$@""#,
    deadlineSeconds: Int = 120
  ) throws {
    var environment = variables
    for name in ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"] {
      environment[name] = ProcessEnvironment.variable(name)
    }
    let result = try ChildProcess.run(
      "/bin/bash", ["-c", shell, "bash", ChildRun.executable] + arguments,
      environment: environment, deadlineSeconds: deadlineSeconds)
    status = result.status
    output = String(decoding: result.output, as: UTF8.self)
    messages = String(decoding: result.error, as: UTF8.self)
  }

  /// The same on its own thread.
  static func blocking(
    _ arguments: [String], variables: [String: String] = [:], shell: String = #"exec "$@""#,
    deadlineSeconds: Int = 120
  ) async throws -> ProgramRun {
    try await StoreThread(name: "program").run { () throws in
      try ProgramRun(
        arguments, variables: variables, shell: shell, deadlineSeconds: deadlineSeconds)
    }
  }

  var everything: String { output + messages }
}

extension World {
  var called: String { "\(pipeline.called) --data \(root)" }

  func program(
    _ command: [String], _ more: [String] = [], shell: String = #"exec "$@""#,
    variables other: [String: String] = [:], deadlineSeconds: Int = 120
  ) async throws -> ProgramRun {
    // A command that only reads refuses a missing data directory.
    if !Files.exists(root) { try Files.makeDirectory(root) }
    return try await ProgramRun.blocking(
      command + [pipeline.file, "--data", root] + more,
      variables: variables.merging(other) { $1 }, shell: shell, deadlineSeconds: deadlineSeconds)
  }
}
