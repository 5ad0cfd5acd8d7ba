import HTTP
import System

/// The headers in which services with the protocol of S3 differ.
struct Dialect: Sendable {
  let scheme: RequestSigner.Scheme
  /// Whether an object that is written in parts can have a condition.
  let hasConditionalParts: Bool
  private let isByGeneration: Bool

  init(_ dialect: S3Location.Dialect) {
    isByGeneration = dialect == .gcs
    scheme = isByGeneration ? .google : .aws
    hasConditionalParts = !isByGeneration
  }

  /// The header with the SHA-256 of an object's content.
  var digestHeader: String { scheme.headerPrefix + "meta-sha256" }

  /// Adds the condition of a request.
  func add(_ condition: PutCondition, to headers: inout HTTPHeaders) {
    switch (condition, isByGeneration) {
    case (.absent, false): headers["If-None-Match"] = "*"
    case (.absent, true): headers["x-goog-if-generation-match"] = "0"
    case (.matching(let version), false): headers["If-Match"] = version.text
    case (.matching(let version), true): headers["x-goog-if-generation-match"] = version.text
    }
  }

  /// The version of an object by the headers of a response; nil if they have none.
  func version(_ headers: HTTPHeaders) -> ObjectVersion? {
    headers[isByGeneration ? "x-goog-generation" : "ETag"].map { ObjectVersion($0) }
  }

  /// The name of the element with the version of an object in a list.
  var versionElement: String { isByGeneration ? "Generation" : "ETag" }
}
