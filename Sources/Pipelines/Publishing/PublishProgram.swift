import Crypto
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
  /// The time limit of one call.
  private static let seconds = 3600
  /// The maximum length of the program's output.
  private static let outputLimit = 1 << 20

  /// Returns nil if the pipeline does not publish by a command.
  init?(_ pipeline: Pipeline, _ data: DataDirectory, _ variables: [String: String]) {
    guard case .command(let words)? = pipeline.publish else { return nil }
    (self.pipeline, self.data, self.variables, self.words) = (pipeline, data, variables, words)
  }

  private var location: String { words.joined(separator: " ") }

  /// Calls the program for the files of each user with something new, `latest.json` last.
  func publish(isWhole: Bool, isDryRun: Bool) throws -> PublishSummary {
    var summary = PublishSummary()
    summary.location = location
    var notes = PublishNotes(location, in: data)
    let scratch = isDryRun ? nil : try Files.makeScratchDirectory(variables)
    defer {
      if let scratch {
        // A leftover copy in the scratch directory does no harm.
        try? Files.remove(scratch)
      }
    }
    for user in try PublishedUser.list(in: data) {
      let latest = user.latest(of: pipeline.name)
      let digest = Digest.sha256Hex(latest)
      if !isWhole, notes.users[user.id] == digest { continue }
      if let scratch {
        for file in user.files {
          let path = data.path + "/" + file.path
          try call(path, file.path, file.sha256)
          summary.bytes += try Files.size(of: path)
        }
        let file = scratch + "/" + PublishedUser.latest
        try DurableFile.write(latest, to: file)
        try call(file, user.latestPath, digest)
        notes.users[user.id] = digest
        try notes.write(in: data)
      }
      summary.users.append(user.id)
      summary.files += user.files.count
    }
    return summary
  }

  /// Calls the program until it succeeds, a few times.
  private func call(_ file: String, _ path: String, _ sha256: String) throws {
    let arguments = Array(words.dropFirst()) + [file, pipeline.name + "/" + path, sha256]
    var reason = ""
    for _ in 0..<Self.attempts {
      do throws(SystemError) {
        let result = try ChildProcess.run(
          words[0], arguments, environment: variables, deadlineSeconds: Self.seconds,
          outputLimit: Self.outputLimit)
        if result.status == 0 { return }
        let last = String(decoding: result.error, as: UTF8.self).split(separator: "\n").last
        reason = "exit status \(result.status)"
        if let last { reason += ": " + VisibleText.line(String(last)) }
      } catch {
        reason = error.description
      }
    }
    throw PipelineError(
      .tryLater, "publish.command", "\(words[0]) failed for \(path)", reason: reason,
      fix: "run it by hand with \(file) \(pipeline.name)/\(path) \(sha256)")
  }
}
