import HTTP
import System

/// A bucket of Amazon S3, or of a service with its protocol.
///
/// Requests are signed with the digest of their body. A request that failed is repeated until a
/// deadline; a write is never repeated blindly, because its condition does not hold any more once
/// it happened.
package struct S3Store: ObjectStore {
  /// Limits that tests lower.
  package struct Limits: Sendable {
    /// Larger content is written in parts.
    package var singlePutBytes = 64 << 20
    /// The size of a part, and of what is read at a time.
    package var partBytes = 16 << 20
    /// The time after which a failed request is not repeated.
    package var deadlineSeconds = 300
    /// The bound of the first pause; it doubles with each further one.
    package var firstPauseMilliseconds = 250
    package var pause = RetryPause.real
    /// How many objects a page of a list has.
    package var pageObjects = 1000

    package init() {}
  }

  let bucket: S3Location
  let credentials: S3Credentials
  let limits: Limits
  let words: Dialect
  private let client: HTTPClient
  private let signer: RequestSigner

  /// Opens a bucket; sends no request.
  ///
  /// - Parameter caFile: A file of trusted authorities, as in `HTTPClient.Configuration`.
  package init(
    _ bucket: S3Location, _ credentials: S3Credentials, caFile: String? = nil,
    limits: Limits = Limits()
  ) throws(ObjectStoreError) {
    (self.bucket, self.credentials, self.limits) = (bucket, credentials, limits)
    words = Dialect(bucket.dialect)
    var configuration = HTTPClient.Configuration()
    configuration.caFile = caFile
    configuration.responseLimitBytes = limits.partBytes + (16 << 20)
    do throws(HTTPError) {
      client = try HTTPClient(configuration)
    } catch {
      throw ObjectStoreError(.refused(error.message), bucket.description)
    }
    signer = RequestSigner(credentials, region: bucket.region, scheme: words.scheme)
  }

  package var location: String { bucket.description }

  /// The object in messages.
  func location(_ key: String) -> String { bucket.description + "/" + key }

  package func url(_ method: String, _ key: String, seconds: Int) -> String? {
    let path = bucket.path(key)
    let query = signer.presigned(
      method, host: bucket.host, path: path, seconds: seconds, at: Clock.wallMilliseconds())
    return bucket.url(path, query)
  }

  // MARK: sending

  /// A request for an object, or for the bucket.
  struct Request {
    var method: String
    var key: String?
    var query: [(String, String)] = []
    var headers: HTTPHeaders = [:]
    var body: [UInt8]?
    var file: FilePart?
    /// The SHA-256 of the body.
    var sha256 = S3Store.emptySHA256
    /// Whether the request may be repeated when another one is changing the object.
    var repeatsConflicts = true
  }

  /// A response, and whether an earlier attempt may have been executed.
  struct Response {
    var http: HTTPResponse
    var isRepeated: Bool
    /// The error in the body.
    var fault: S3Fault?
    var status: Int { http.status }
  }

  /// The SHA-256 of no bytes.
  static let emptySHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

  /// Sends a request until it has an answer that a repeat would not change, or the deadline passes.
  func send(_ request: Request) async throws(ObjectStoreError) -> Response {
    let place = request.key.map(location) ?? location
    let end = Clock.monotonicNanoseconds() + UInt64(limits.deadlineSeconds) * 1_000_000_000
    var attempt = 0
    while true {
      var reason: String
      do throws(HTTPError) {
        let response = try await client.send(signed(request))
        let fault = S3Fault(response, credentials.mask)
        guard Self.isMomentary(response.status, fault, request) else {
          return Response(http: response, isRepeated: attempt > 0, fault: fault)
        }
        reason = fault?.description ?? HTTPStatus.words(response.status)
      } catch {
        guard let text = try Self.repeatable(error, place) else {
          throw ObjectStoreError(.unreachable(error.message), place)
        }
        reason = text
      }
      guard Clock.monotonicNanoseconds() < end else {
        throw ObjectStoreError(.unreachable(reason), place)
      }
      do {
        let bound = min(limits.firstPauseMilliseconds << min(attempt, 10), 20_000)
        try await limits.pause.sleep(bound / 2 + limits.pause.random(bound / 2))
      } catch {
        throw ObjectStoreError(.cancelled, place)
      }
      attempt += 1
    }
  }

  private func signed(_ request: Request) -> HTTPRequest {
    let path = bucket.path(request.key)
    let headers = signer.signed(
      request.method, host: bucket.host, path: path, query: request.query,
      headers: request.headers, payloadSHA256: request.sha256, at: Clock.wallMilliseconds())
    var message = HTTPRequest(
      request.method, bucket.url(path, RequestSigner.sorted(request.query)), headers: headers,
      body: request.body)
    message.file = request.file
    let count = request.file?.count ?? request.body?.count ?? limits.partBytes
    message.timeoutSeconds = 60 + count / Self.leastBytesPerSecond
    return message
  }

  /// A connection that is slower is closed, and the request repeated.
  private static let leastBytesPerSecond = 100_000

  /// Whether the store may answer the same request otherwise a moment later.
  private static func isMomentary(_ status: Int, _ fault: S3Fault?, _ request: Request) -> Bool {
    if status == 409 { return request.repeatsConflicts && fault?.code != "BucketNotEmpty" }
    if S3Fault.momentary.contains(fault?.code ?? "") { return true }
    return status == 429 || ((500...599).contains(status) && status != 501)
  }

  /// Returns the reason why no answer came; nil if a repeat would not help.
  private static func repeatable(
    _ error: HTTPError, _ place: String
  ) throws(ObjectStoreError) -> String? {
    switch error.kind {
    case .unreachable, .timeout, .truncated, .other: return error.message
    case .cancelled: throw ObjectStoreError(.cancelled, place)
    case .file: throw ObjectStoreError(.file(error.message), place)
    case .tooLarge: throw ObjectStoreError(.tooLarge, place)
    case .notAllowed: throw ObjectStoreError(.refused(error.message), place)
    case .tls, .authorities: return nil
    }
  }

  /// Returns the error for an answer that is not a success.
  func error(_ response: Response, _ key: String?) -> ObjectStoreError {
    let place = key.map(location) ?? location
    let reason = response.fault?.description ?? "HTTP status \(response.status)"
    switch response.status {
    // MinIO once answered 304 to a conditional write.
    case 304, 412: return ObjectStoreError(.conditionFailed, place)
    case 401, 403: return ObjectStoreError(.denied(reason), place)
    case HTTPStatus.success: return ObjectStoreError(.invalidResponse(reason), place)
    default: return ObjectStoreError(.refused(reason), place)
    }
  }
}
