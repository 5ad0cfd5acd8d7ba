import Crypto
import HTTP
import JSON
import System

/// Tells of a run's end whom the pipeline names: a file of metrics, a program, an address, a heartbeat.
///
/// Nothing of it changes what the run came to: what could not be told is answered as sentences.
package struct RunNotices: Sendable {
  /// Whom a pipeline may name.
  package enum Target: String, Sendable, CaseIterable {
    /// A program.
    case command = "notify.command"
    /// An address that is told.
    case webhook = "notify.webhook"
    /// An address that is only asked for.
    case heartbeat = "notify.heartbeat"
  }

  /// What became of one notice.
  package struct Answer: Sendable {
    /// Who was told.
    package let target: Target
    /// Whether it arrived.
    package let isTold: Bool
    /// What was answered, or why nobody could be told.
    package let words: String
  }

  private let pipeline: Pipeline
  private let variables: [String: String]

  /// The notices of a pipeline; secrets are read when they are needed.
  package init(_ pipeline: Pipeline, variables: [String: String]) {
    (self.pipeline, self.variables) = (pipeline, variables)
  }

  /// Tells everybody at once, and says whom it could not tell.
  ///
  /// All of it takes `notify.timeoutSeconds` at most, and ends at once where its task is cancelled.
  package func tell(_ end: RunEnd) async -> [String] {
    // Whoever mistypes a command sees it.
    if end.status == .usage { return [] }
    var failures: [String] = []
    // Another run is at work, and writes its own.
    if let path = pipeline.report.metricsFile, end.status != .locked {
      do { try MetricsFile.write(end, to: path) } catch {
        failures.append("the metrics could not be written to \(path): \(error)")
      }
    }
    let targets = targets.filter { target in
      target == .heartbeat ? end.didItsWork : pipeline.notify.on.contains(end.outcome)
    }
    for answer in await deliver(Notice(end), to: targets) where !answer.isTold {
      let what =
        answer.target == .heartbeat ? "could not be reached" : "could not be told of the run's end"
      failures.append("\(answer.target.rawValue) \(what): \(answer.words)")
    }
    return failures
  }

  /// Tells everybody a test, whatever `notify.on` says, and what each answered.
  package func test() async -> [Answer] {
    await deliver(Notice(testOf: pipeline.name), to: targets)
  }

  /// Whom the pipeline names.
  private var targets: [Target] {
    Target.allCases.filter { target in
      switch target {
      case .command: !pipeline.notify.command.isEmpty
      case .webhook: pipeline.notify.webhook != nil
      case .heartbeat: pipeline.notify.heartbeat != nil
      }
    }
  }

  /// Tells all of them at the same time, so that one that hangs costs the others nothing.
  private func deliver(_ notice: Notice, to targets: [Target]) async -> [Answer] {
    let deadline =
      Clock.monotonicNanoseconds() + UInt64(pipeline.notify.timeoutSeconds) * 1_000_000_000
    return await withTaskGroup(of: Answer.self) { group in
      for target in targets {
        group.addTask {
          do {
            let words = try await deliver(notice, to: target, deadline)
            return Answer(target: target, isTold: true, words: words)
          } catch {
            let words = Task.isCancelled ? "a signal ended it" : "\(error)"
            return Answer(target: target, isTold: false, words: words)
          }
        }
      }
      var answers: [Target: Answer] = [:]
      for await answer in group { answers[answer.target] = answer }
      return targets.compactMap { answers[$0] }
    }
  }

  private func deliver(
    _ notice: Notice, to target: Target, _ deadline: UInt64
  ) async throws -> String {
    try Task.checkCancellation()
    let notify = pipeline.notify
    if target == .command { return try await run(notify.command, notice) }
    // Where an address and a key come from may be a program, which is waited for.
    let thread = StoreThread(name: "notify")
    let request = try await withTaskExecutorPreference(thread) { () async throws -> HTTPRequest? in
      if target == .webhook, let webhook = notify.webhook {
        return try message(notice, to: webhook, deadline)
      }
      return try notify.heartbeat.map { HTTPRequest("GET", try address($0, deadline)) }
    }
    guard let request else { return "" }
    return try await send(request, deadline)
  }

  /// What is left of the time for all of it, in whole seconds, of which the last has begun.
  private func secondsLeft(_ deadline: UInt64) -> Int {
    let now = Clock.monotonicNanoseconds()
    return now < deadline ? Int((deadline - now - 1) / 1_000_000_000) + 1 : 0
  }

  /// What a program gets of it that gives an address or a key.
  private func secondsOfCommand(_ deadline: UInt64) -> Int {
    min(secondsLeft(deadline), SecretSource.commandSeconds)
  }

  /// Runs the program, which gets the notice as JSON on its standard input.
  ///
  /// Its environment says what it is about; no variable of ours, which may be a secret, goes there.
  private func run(_ command: [String], _ notice: Notice) async throws -> String {
    var environment = [
      "ATTACHE_PIPELINE": notice.pipeline, "ATTACHE_RUN": notice.run,
      "ATTACHE_OUTCOME": notice.outcome, "ATTACHE_STATUS": String(notice.status.rawValue),
      "ATTACHE_WORDS": VisibleText.line(notice.words),
    ]
    for name in ["PATH", "HOME", "LANG", "TZ"] { environment[name] = variables[name] }
    let input = notice.json.bytes + [0x0A]
    let thread = StoreThread(name: "notify")
    let result = try await withTaskExecutorPreference(thread) { [environment] in
      try ChildProcess.run(
        command[0], Array(command.dropFirst()), environment: environment, input: input,
        deadlineSeconds: pipeline.notify.timeoutSeconds, outputLimit: 1 << 20,
        asksNobody: true, isCancelled: { Task.isCancelled })
    }
    let end = "\(command[0]) ended with exit status \(result.status)"
    guard result.status == 0 else {
      let words = String(decoding: result.error.prefix { $0 != 0x0A }, as: UTF8.self)
      throw Failure(words.isEmpty ? end : "\(end): \(words)")
    }
    return end
  }

  private func message(
    _ notice: Notice, to webhook: NotifySettings.Webhook, _ deadline: UInt64
  ) throws -> HTTPRequest {
    let body = notice.json.bytes
    var headers: HTTPHeaders = ["Content-Type": "application/json"]
    let secret = try webhook.secret?.resolve(
      variables, commandSeconds: secondsOfCommand(deadline),
      isCancelled: { Task.isCancelled })
    if let secret {
      let time = String(Clock.wallMilliseconds() / 1000)
      headers["X-Attache-Timestamp"] = time
      headers["X-Attache-Signature"] = Self.signature(of: body, at: time, with: secret)
    }
    return HTTPRequest("POST", try address(webhook.url, deadline), headers: headers, body: body)
  }

  /// The signature of a message: HMAC-SHA-256 over the time, a full stop and the body.
  static func signature(of body: [UInt8], at time: String, with secret: Secret) -> String {
    // Without the line's end of the file that it stands in.
    let key = secret.text.map { Array($0.utf8) } ?? secret.reveal()
    return "sha256=" + Hex.encode(HMAC.sha256(key: key, Array(time.utf8) + [0x2E] + body))
  }

  private func address(_ source: TextSource, _ deadline: UInt64) throws -> String {
    let url = try source.resolve(
      variables, commandSeconds: secondsOfCommand(deadline),
      isCancelled: { Task.isCancelled })
    // It may bear a token: it is not shown.
    guard TransferRules.isSafe(url) else { throw Failure("its address is no https address") }
    return url
  }

  /// Sends a request, once more where it did not get through or the server failed.
  private func send(_ request: HTTPRequest, _ deadline: UInt64) async throws -> String {
    var configuration = HTTPClient.Configuration()
    configuration.connectTimeoutSeconds = min(10, pipeline.notify.timeoutSeconds)
    configuration.responseLimitBytes = 1 << 20
    let client = try HTTPClient(configuration)
    var (request, failure) = (request, Failure("no time was left"))
    for _ in 0..<2 {
      request.timeoutSeconds = secondsLeft(deadline)
      guard request.timeoutSeconds > 0, !Task.isCancelled else { break }
      do {
        let status = try await client.send(request).status
        if HTTPStatus.success.contains(status) { return "it answers \(status)" }
        failure = Failure("it answers \(status)")
        if status < 500 { break }
      } catch {
        failure = Failure(error.message)
      }
    }
    throw failure
  }

  /// Why somebody could not be told.
  struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }
}
