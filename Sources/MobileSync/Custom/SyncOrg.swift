import Salesforce

/// The org as a custom target sees it, in the session of the store's user.
public struct SyncOrg: Sendable {
  private let login: @Sendable () async throws(OrgError) -> Session

  init(_ login: @escaping @Sendable () async throws(OrgError) -> Session) { self.login = login }

  /// Sends a request and returns the body of the response.
  ///
  /// An expired session is renewed, and a read that fails in transit is retried. An unsuccessful
  /// response throws an error with the org's `status` and `errorCode`.
  ///
  /// - Parameters:
  ///   - method: `GET`, `POST`, `PATCH` or `DELETE`.
  ///   - resource: A path such as `sobjects/Account` below the version's data resources; with a
  ///     leading slash, a path from the root of the org.
  ///   - query: Names and values; they are percent-encoded here.
  ///   - body: JSON text.
  public func send(
    _ method: String, _ resource: String, query: [(name: String, value: String)] = [],
    body: String? = nil
  ) async throws(SyncError) -> String {
    let bytes = try await SyncError.inOrg {
      try await login().bytes(method, resource, query: query, body: body.map { Array($0.utf8) })
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
