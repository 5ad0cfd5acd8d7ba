import HTTP

/// A query whose answer will be needed, known before it is sent.
package struct AheadQuery: Sendable, Hashable {
  package let soql: String
  /// Whether it includes deleted and archived records.
  package let all: Bool

  package init(_ soql: String, all: Bool = false) {
    self.soql = soql
    self.all = all
  }
}

extension Session {
  /// The query as a part of a composite request, with a short first page.
  package func request(_ query: AheadQuery, referenceId: String) -> CompositeRequest {
    let header = Self.queryOptions(batchSize: RequestLimits.queryPage.lowerBound)
    return CompositeRequest(
      method: "GET", url: path(of: query), referenceId: referenceId,
      headers: header.map { [("Sforce-Query-Options", $0)] } ?? [])
  }

  /// The session with answers to queries; each is used once, by the same query, which is then not
  /// sent.
  package func holding(_ answers: [AheadQuery: GivenPage]) -> Session {
    Session(
      identity: identity, apiVersion: apiVersion, connection: connection, token: token,
      objects: objects,
      answers: Dictionary(uniqueKeysWithValues: answers.map { (path(of: $0), $1) }))
  }

  /// The path of a query with its statement.
  func path(of query: AheadQuery) -> String {
    path(query.all ? "queryAll" : "query") + "?" + HTTPQuery.string([("q", query.soql)])
  }
}
