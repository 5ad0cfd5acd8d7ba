/// The requests that a fault affects; nil members match everything.
package struct FaultMatch: Sendable {
  /// The kind of request.
  package var kind: RequestKind?
  package var method: String?
  /// The prefix of the decoded path.
  package var pathPrefix: String?
  /// Whether it changes records.
  package var isWrite: Bool?
  /// The user name of the token.
  package var user: String?

  package init(
    kind: RequestKind? = nil, method: String? = nil, pathPrefix: String? = nil,
    isWrite: Bool? = nil, user: String? = nil
  ) {
    self.kind = kind
    self.method = method
    self.pathPrefix = pathPrefix
    self.isWrite = isWrite
    self.user = user
  }

  package static let any = FaultMatch()
  package static func kind(_ kind: RequestKind) -> FaultMatch { FaultMatch(kind: kind) }
  /// Requests that change records.
  package static let writes = FaultMatch(isWrite: true)

  /// Whether it matches a request.
  func covers(_ request: RequestFacts) -> Bool {
    (kind.map { $0 == request.kind } ?? true) && (method.map { $0 == request.method } ?? true)
      && (pathPrefix.map { request.path.hasPrefix($0) } ?? true)
      && (isWrite.map { $0 == request.isWrite } ?? true)
      && (user.map { $0.lowercased() == request.user?.lowercased() } ?? true)
  }
}

/// What is known about a request when its faults are selected.
struct RequestFacts: Sendable {
  let kind: RequestKind
  let method: String
  let path: String
  let isWrite: Bool
  let user: String?
}
