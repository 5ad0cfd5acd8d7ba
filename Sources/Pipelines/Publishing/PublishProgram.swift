import Crypto
import JSON
import System

/// Publishes bundles by a program of the user, which is called for each file with its path, its
/// key and its SHA-256.
struct PublishProgram {
  private let pipeline: Pipeline
  private let data: DataDirectory
  private let variables: [String: String]
  private let words: [String]

  /// The number of calls for one file.
  private static let attempts = 3
  /// The number of users in a row after whose failure no other one is tried.
  private static let failures = 3
  /// The number of users after which the notes are written.
  private static let usersPerNote = 20
  /// The time limit of one call.
  private static let seconds = 3600
  /// The length of the program's output that is read.
  private static let outputLimit = 1 << 20

  /// Returns nil if the pipeline does not publish by a command.
  init?(_ pipeline: Pipeline, _ data: DataDirectory, _ variables: [String: String]) {
    guard case .command(let words)? = pipeline.publish else { return nil }
    (self.pipeline, self.data, self.variables, self.words) = (pipeline, data, variables, words)
  }

  /// The program in messages; its arguments may be secrets.
  var location: String { words[0] }
  /// The program in the notes; with other arguments it may publish elsewhere.
  private var noted: String { location + " " + Digest.sha256Hex(JSONValue(words).bytes) }

  /// Calls the program for the files of each user with something new, `latest.json` last.
  func publish(isWhole: Bool, isDryRun: Bool, pause: RetryPause) async throws -> PublishSummary {
    var summary = PublishSummary(location: location)
    var notes = PublishNotes(noted, in: data)
    let due = try notes.due(of: pipeline, in: data, isWhole: isWhole)
    let scratch = try ScratchDirectory(variables)
    defer { scratch.remove() }
    var failed = 0
    for (index, user) in due.enumerated() {
      do {
        if !isDryRun { try await publish(user, scratch.path, pause) }
        notes.note(user, of: pipeline)
        summary.users.append(user.id)
        for file in user.files {
          summary.paths.append(file.path)
          summary.bytes += try Files.size(of: data.path + "/" + file.path)
        }
        failed = 0
      } catch let error as PipelineError {
        summary.failures.append("\(user.id): \(error.message): \(error.reason ?? "")")
        summary.isForLater = true
        failed += 1
      }
      let isEnd = failed == Self.failures || index == due.count - 1
      if !isDryRun, isEnd || (index + 1) % Self.usersPerNote == 0 { try notes.write(in: data) }
      if failed == Self.failures { break }
    }
    return summary
  }

  private func publish(
    _ user: PublishedUser, _ scratch: String, _ pause: RetryPause
  ) async throws {
    for file in user.files {
      try await call(data.path + "/" + file.path, file.path, file.sha256, pause)
    }
    let (file, latest) = (scratch + "/" + PublishedUser.latest, user.latest(of: pipeline.name))
    try DurableFile.write(latest, to: file)
    try await call(file, user.latestPath, Digest.sha256Hex(latest), pause)
  }

  /// Calls the program until it succeeds, a few times.
  private func call(
    _ file: String, _ path: String, _ sha256: String, _ pause: RetryPause
  ) async throws {
    let key = pipeline.key(path)
    let arguments = Array(words.dropFirst()) + [file, key, sha256]
    var reason = ""
    for attempt in 1...Self.attempts {
      try Task.checkCancellation()
      do throws(SystemError) {
        let result = try ChildProcess.run(
          words[0], arguments, environment: environment, deadlineSeconds: Self.seconds,
          outputLimit: Self.outputLimit, dropsExcess: true, asksNobody: true,
          isCancelled: { Task.isCancelled })
        if result.status == 0 { return }
        let last = String(decoding: result.error, as: UTF8.self).split(separator: "\n").last
        reason = "exit status \(result.status)"
        if let last { reason += ": " + VisibleText.line(masked(String(last))) }
      } catch {
        reason = error.description
      }
      try Task.checkCancellation()
      if attempt < Self.attempts { try await pause.sleep(1000 << (2 * (attempt - 1))) }
    }
    throw PipelineError(
      .tryLater, "publish.command", "\(words[0]) failed for \(key)", reason: reason)
  }

  /// The length from which an argument is taken for a secret, if the program prints it.
  private static let secretLength = 8

  /// The text without the arguments that the pipeline file gives to the program.
  private func masked(_ text: String) -> String {
    let values = words.dropFirst().flatMap { [Substring($0), $0.drop { $0 != "=" }.dropFirst()] }
    return values.filter { !$0.hasPrefix("-") && $0.utf8.count >= Self.secretLength }
      .sorted { $0.utf8.count > $1.utf8.count }
      .reduce(text) { $0.replacing($1, with: "•••") }
  }

  /// The environment without the variables from which the pipeline takes its own secrets.
  private var environment: [String: String] {
    let own = Self.variables(in: pipeline.effectiveJSON)
    return variables.filter { !own.contains($0.key) }
  }

  /// The variables that a pipeline file names.
  private static func variables(in json: JSONValue) -> Set<String> {
    if let name = json["env"]?.string { return [name] }
    let parts = json.array ?? json.object?.map { $0.1 } ?? []
    return parts.reduce(into: []) { $0.formUnion(variables(in: $1)) }
  }
}
