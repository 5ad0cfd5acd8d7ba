import HTTP
import ObjectStore
import System
import TestSupport
import Testing

/// Answers that a working store gives rarely, or never.
@Suite struct UnreliableS3Tests {
  /// A store with one object that answers as a test tells it.
  private final class Fake: Sendable {
    struct State: Sendable {
      var object: (body: [UInt8], sha256: String, number: Int)?
      var requests: [String] = []
    }

    let state = Locked(State())
    let server: HTTPServer

    /// The rule returns an answer instead of the store's own, which `act` gives.
    init(
      _ rule:
        @escaping @Sendable (
          _ request: ServerRequest, _ number: Int, _ act: (ServerRequest) -> ServerResponse
        ) -> ServerResponse
    ) throws {
      let state = state
      server = try HTTPServer { request in
        let number = state.withLock { state in
          state.requests.append(request.method)
          return state.requests.count
        }
        return rule(request, number) { Self.act($0, state) }
      }
    }

    private static func act(_ request: ServerRequest, _ state: Locked<State>) -> ServerResponse {
      state.withLock { state in
        let tag = state.object.map { "\"\($0.number)\"" }
        switch request.method {
        case "PUT":
          if request.headers["If-None-Match"] == "*", tag != nil {
            return ServerResponse(status: 412)
          }
          if let wanted = request.headers["If-Match"], wanted != tag {
            return ServerResponse(status: 412)
          }
          state.object = (
            request.body, request.headers["x-amz-meta-sha256"] ?? "",
            (state.object?.number ?? 0) + 1
          )
          return ServerResponse(
            status: 200, headers: ["ETag": "\"\(state.object?.number ?? 0)\""])
        case "DELETE":
          state.object = nil
          return ServerResponse(status: 204)
        default:
          guard let object = state.object, let tag else { return ServerResponse(status: 404) }
          return ServerResponse(
            status: 200,
            headers: [
              "ETag": tag, "x-amz-meta-sha256": object.sha256,
              "Last-Modified": "Fri, 24 May 2013 00:00:00 GMT",
            ], body: object.body)
        }
      }
    }

    func store(deadlineSeconds: Int = 60) throws -> S3Store {
      var limits = S3Store.Limits()
      limits.pause = .none
      limits.deadlineSeconds = deadlineSeconds
      return try S3Store(
        S3Location(endpoint: server.url, region: "r", bucket: "b"),
        S3Credentials(accessKeyID: "KEYKEYKEY", secret: Secret("secret-words")), limits: limits)
    }
  }

  private let content = ObjectContent(Array("one".utf8))

  private static func fault(_ status: Int, _ code: String, _ message: String) -> ServerResponse {
    ServerResponse(
      status: status,
      body: Array("<Error><Code>\(code)</Code><Message>\(message)</Message></Error>".utf8))
  }

  @Test(arguments: ["If-None-Match", "If-Match"])
  func `a store that ignores a condition does not pass the probe`(_ header: String) async throws {
    let fake = try Fake { request, _, act in
      var headers = request.headers
      headers[header] = nil
      return act(
        ServerRequest(
          method: request.method, rawTarget: request.rawTarget, headers: headers,
          body: request.body))
    }
    do {
      try await fake.store().checkConditions(below: "p/")
      Issue.record("it passed")
    } catch {
      #expect((error as? ObjectStoreError)?.kind == .ignoresConditions)
    }
    #expect(fake.state.withLock { $0.object == nil })
  }

  @Test(arguments: [
    (503, "SlowDown"), (500, "InternalError"), (409, "ConditionalRequestConflict"),
    (429, "TooManyRequests"), (400, "RequestTimeout"),
  ])
  func `a request that may succeed a moment later is repeated`(
    _ status: Int, _ code: String
  ) async throws {
    let fake = try Fake { request, number, act in
      number <= 3 ? Self.fault(status, code, "later") : act(request)
    }
    try await fake.store().put("key", content, if: .absent)
    #expect(fake.state.withLock { $0.requests } == ["PUT", "PUT", "PUT", "PUT"])
  }

  @Test(arguments: [false, true])
  func `a write whose response was lost succeeds, and is not done twice`(
    _ isReplaced: Bool
  ) async throws {
    let fake = try Fake { request, number, act in
      let response = act(request)
      return number == 1 ? ServerResponse(status: 500) : response
    }
    if isReplaced { fake.state.withLock { $0.object = ([], "", 7) } }
    let condition = isReplaced ? PutCondition.matching(ObjectVersion("\"7\"")) : .absent
    let version = try await fake.store().put("key", content, if: condition)
    #expect(version.text == (isReplaced ? "\"8\"" : "\"1\""))
    #expect(fake.state.withLock { $0.requests } == ["PUT", "PUT", "HEAD"])
  }

  @Test func `a write of another client does not count as the lost one`() async throws {
    let fake = try Fake { request, number, act in
      if number == 1 { return Self.fault(503, "SlowDown", "later") }
      return act(request)
    }
    fake.state.withLock { $0.object = ([1], "other", 1) }
    do {
      try await fake.store().put("key", content, if: .absent)
      Issue.record("it was written")
    } catch {
      #expect((error as? ObjectStoreError)?.kind == .conditionFailed)
    }
  }

  @Test func `repeats end at the deadline with the store's reason, without a secret`() async throws
  {
    let fake = try Fake { _, _, _ in
      Self.fault(503, "SlowDown", "you sent secret-words of KEYKEYKEY")
    }
    do {
      _ = try await fake.store(deadlineSeconds: 0).list("")
      Issue.record("it answered")
    } catch {
      let error = try #require(error as? ObjectStoreError)
      #expect(error.kind == .unreachable("SlowDown: you sent ••• of •••"))
    }
  }

  @Test(arguments: [
    (200, "<html/>"), (200, "<ListBucketResult><Contents/></ListBucketResult>"),
    (200, "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"), (200, "{}"),
  ])
  func `a list of another form is refused`(_ status: Int, _ body: String) async throws {
    let fake = try Fake { _, _, _ in ServerResponse(status: status, body: Array(body.utf8)) }
    do {
      _ = try await fake.store().list("")
      Issue.record("it was read")
    } catch {
      guard case .invalidResponse? = (error as? ObjectStoreError)?.kind else { throw error }
    }
  }

  @Test func `content that is not of its digest is not kept`() async throws {
    let fake = try Fake { request, _, act in act(request) }
    fake.state.withLock { $0.object = (Array("two".utf8), content.sha256, 1) }
    let scratch = TemporaryDirectory()
    do {
      _ = try await fake.store().get("key", to: scratch.file("copy"), limit: 99)
      Issue.record("it was kept")
    } catch {
      #expect((error as? ObjectStoreError)?.kind == .damaged)
    }
    #expect(!Files.exists(scratch.file("copy")))
  }
}
