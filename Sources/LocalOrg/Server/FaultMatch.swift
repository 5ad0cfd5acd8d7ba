/// Which requests a fault means; what is nil does not matter.
package struct FaultMatch: Sendable {
  /// What the request asks for.
  package var kind: RequestKind?
  /// The method.
  package var method: String?
  /// The beginning of the decoded path.
  package var pathPrefix: String?
  /// Whether it changes records.
  package var isWrite: Bool?
  /// The user name of its token.
  package var user: String?

  /// Requests of this description.
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

  /// Every request.
  package static let any = FaultMatch()
  /// Requests of a kind.
  package static func kind(_ kind: RequestKind) -> FaultMatch { FaultMatch(kind: kind) }
  /// Requests that change records.
  package static let writes = FaultMatch(isWrite: true)

  /// Says whether it means a request.
  func covers(_ request: RequestFacts) -> Bool {
    (kind.map { $0 == request.kind } ?? true) && (method.map { $0 == request.method } ?? true)
      && (pathPrefix.map { request.path.hasPrefix($0) } ?? true)
      && (isWrite.map { $0 == request.isWrite } ?? true)
      && (user.map { $0.lowercased() == request.user?.lowercased() } ?? true)
  }
}

/// What is known of a request when its faults are chosen.
struct RequestFacts: Sendable {
  let kind: RequestKind
  let method: String
  let path: String
  let isWrite: Bool
  let user: String?
}
