import Crypto
import HTTP
import JSON
import System

/// Sends a run's outcome to the targets that the pipeline names: a metrics file, a program, a
/// webhook, a heartbeat.
///
/// Failures do not change the run's outcome; they are returned as messages.
package struct RunNotices: Sendable {
  /// The kinds of notification targets.
  package enum Target: String, Sendable, CaseIterable {
    case command = "notify.command"
    /// A URL that receives the notice.
    case webhook = "notify.webhook"
    /// A URL that is only requested.
    case heartbeat = "notify.heartbeat"
  }

  /// The result of one notification.
  package struct Answer: Sendable {
    package let target: Target
    package let isTold: Bool
    /// The target's answer, or the reason of the failure.
    package let words: String
  }

  private let pipeline: Pipeline
  private let variables: [String: String]

  /// Opens the notifications of a pipeline.
  ///
  /// Secrets are read on demand.
  package init(_ pipeline: Pipeline, variables: [String: String]) {
    (self.pipeline, self.variables) = (pipeline, variables)
  }

  /// Notifies all targets concurrently, and returns a message for each failure.
  ///
  /// It takes at most `notify.timeoutSeconds`, and stops at once if its task is cancelled.
  package func tell(_ end: RunEnd) async -> [String] {
    // The user who mistyped a name sees the message.
    if end.error?.kind == .unknownName { return [] }
    var failures: [String] = []
    // Another run is active, and writes its own metrics.
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
        answer.target == .heartbeat
        ? "could not be reached" : "could not be notified of the run's end"
      failures.append("\(answer.target.rawValue) \(what): \(answer.words)")
    }
    return failures
  }

  /// Sends a test to all targets, whatever `notify.on` says, and returns their answers.
  package func test() async -> [Answer] {
    await deliver(Notice(testOf: pipeline.name), to: targets)
  }

  /// The targets that the pipeline names.
  private var targets: [Target] {
    Target.allCases.filter { target in
      switch target {
      case .command: !pipeline.notify.command.isEmpty
      case .webhook: pipeline.notify.webhook != nil
      case .heartbeat: pipeline.notify.heartbeat != nil
      }
    }
  }

  /// Notifies all targets concurrently, so that a slow one does not delay the others.
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
    // The address or the key may come from a program, which blocks.
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

  /// The remaining time for all targets, in whole seconds, rounded up.
  private func secondsLeft(_ deadline: UInt64) -> Int {
    let now = Clock.monotonicNanoseconds()
    return now < deadline ? Int((deadline - now - 1) / 1_000_000_000) + 1 : 0
  }

  /// The time limit of a program that supplies an address or a key.
  private func secondsOfCommand(_ deadline: UInt64) -> Int {
    min(secondsLeft(deadline), SecretSource.commandSeconds)
  }

  /// Runs the program with the notice as JSON on its standard input.
  ///
  /// Its environment describes the outcome. None of our own variables are passed, because they may
  /// be secrets.
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
        dropsExcess: true, asksNobody: true, isCancelled: { Task.isCancelled })
    }
    let outcome = result.status == 0 ? "ended" : "failed"
    let end = "\(command[0]) \(outcome) with exit status \(result.status)"
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
    // Without the line break at the end of its file.
    let key = secret.text.map { Array($0.utf8) } ?? secret.reveal()
    return "sha256=" + Hex.encode(HMAC.sha256(key: key, Array(time.utf8) + [0x2E] + body))
  }

  private func address(_ source: TextSource, _ deadline: UInt64) throws -> String {
    let url = try source.resolve(
      variables, commandSeconds: secondsOfCommand(deadline),
      isCancelled: { Task.isCancelled })
    // The URL may contain a token, so it is not shown.
    guard TransferRules.isSafe(url) else { throw Failure("its URL is not an https URL") }
    return url
  }

  /// Sends a request, and retries once if it did not get through or the server failed.
  private func send(_ request: HTTPRequest, _ deadline: UInt64) async throws -> String {
    var configuration = HTTPClient.Configuration()
    configuration.connectTimeoutSeconds = min(10, pipeline.notify.timeoutSeconds)
    configuration.responseLimitBytes = 1 << 20
    let client = try HTTPClient(configuration)
    var (request, failure) = (request, Failure("the time limit was reached"))
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

  /// The reason why a target could not be notified.
  struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }
}
