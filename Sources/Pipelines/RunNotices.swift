import Crypto
import HTTP
import JSON
import System

/// Tells of a run's end whom the pipeline names: a file of metrics, a program, an address, a heartbeat.
///
/// Nothing of it changes what the run came to: what could not be told is answered as sentences.
package struct RunNotices: Sendable {
  private let pipeline: Pipeline
  private let variables: [String: String]

  /// The longest that a program or an address may take.
  static let timeoutSeconds = 30

  /// The notices of a pipeline; secrets are read when they are needed.
  package init(_ pipeline: Pipeline, variables: [String: String]) {
    (self.pipeline, self.variables) = (pipeline, variables)
  }

  /// Tells everybody, and says whom it could not tell.
  ///
  /// It is done also where the task was cancelled: an interrupted run is told as one.
  package func tell(_ end: RunEnd) async -> [String] {
    // Whoever mistypes a command sees it.
    if end.status == .usage { return [] }
    let notices = self
    return await Task.detached { await notices.telling(end) }.value
  }

  private func telling(_ end: RunEnd) async -> [String] {
    var failures: [String] = []
    func attempt(_ what: String, _ body: () async throws -> Void) async {
      do { try await body() } catch { failures.append("\(what): \(error)") }
    }
    // Another run is at work, and writes its own.
    if let path = pipeline.report.metricsFile, end.status != .locked {
      await attempt("the metrics could not be written to \(path)") {
        try MetricsFile.write(end, to: path)
      }
    }
    let notify = pipeline.notify
    if notify.on.contains(end.outcome) {
      if !notify.command.isEmpty {
        await attempt("notify.command could not be told of the run's end") {
          try await runCommand(end)
        }
      }
      if let webhook = notify.webhook {
        await attempt("notify.webhook could not be told of the run's end") {
          try await post(end, to: webhook)
        }
      }
    }
    if let heartbeat = notify.heartbeat, end.didItsWork {
      await attempt("notify.heartbeat could not be reached") {
        try await send(HTTPRequest("GET", try address(heartbeat)))
      }
    }
    return failures
  }

  /// Runs the program, which gets the end as JSON on its standard input.
  ///
  /// Its environment says what it is about; no variable of ours, which may be a secret, goes there.
  private func runCommand(_ end: RunEnd) async throws {
    var environment = [
      "ATTACHE_PIPELINE": end.pipeline, "ATTACHE_RUN": end.run ?? "",
      "ATTACHE_OUTCOME": end.outcome.rawValue, "ATTACHE_STATUS": String(end.status.rawValue),
      "ATTACHE_WORDS": VisibleText.line(end.words),
    ]
    for name in ["PATH", "HOME", "LANG", "TZ"] { environment[name] = variables[name] }
    let (command, input) = (pipeline.notify.command, end.json.bytes + [0x0A])
    let thread = StoreThread(name: "notify")
    let result = try await withTaskExecutorPreference(thread) { [environment] in
      try ChildProcess.run(
        command[0], Array(command.dropFirst()), environment: environment, input: input,
        deadlineSeconds: Self.timeoutSeconds, outputLimit: 1 << 20)
    }
    guard result.status == 0 else {
      let words = String(decoding: result.error.prefix { $0 != 0x0A }, as: UTF8.self)
      throw Failure(
        "\(command[0]) ended with exit status \(result.status)"
          + (words.isEmpty ? "" : ": \(words)"))
    }
  }

  private func post(_ end: RunEnd, to webhook: NotifySettings.Webhook) async throws {
    let body = end.json.bytes
    var headers: HTTPHeaders = ["Content-Type": "application/json"]
    if let secret = try webhook.secret?.resolve(variables) {
      let time = String(Clock.wallMilliseconds() / 1000)
      headers["X-Attache-Timestamp"] = time
      headers["X-Attache-Signature"] = Self.signature(of: body, at: time, with: secret)
    }
    try await send(HTTPRequest("POST", try address(webhook.url), headers: headers, body: body))
  }

  /// The signature of a message: HMAC-SHA-256 over the time, a full stop and the body.
  static func signature(of body: [UInt8], at time: String, with secret: Secret) -> String {
    // Without the line's end of the file that it stands in.
    let key = secret.text.map { Array($0.utf8) } ?? secret.reveal()
    return "sha256=" + Hex.encode(HMAC.sha256(key: key, Array(time.utf8) + [0x2E] + body))
  }

  private func address(_ source: TextSource) throws -> String {
    let url = try source.resolve(variables)
    // It may bear a token: it is not shown.
    guard NotifySettings.isSafe(url) else { throw Failure("its address is no https address") }
    return url
  }

  /// Sends a request, once more where it did not get through or the server failed.
  private func send(_ request: HTTPRequest) async throws {
    var request = request
    request.timeoutSeconds = Self.timeoutSeconds
    var configuration = HTTPClient.Configuration()
    configuration.connectTimeoutSeconds = 10
    configuration.responseLimitBytes = 1 << 20
    let client = try HTTPClient(configuration)
    var failure = Failure("")
    for _ in 0..<2 {
      do {
        let status = try await client.send(request).status
        if (200..<300).contains(status) { return }
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
