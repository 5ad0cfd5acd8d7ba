/// The kinds of requests that are counted.
package enum RequestKind: String, Sendable, Hashable, CaseIterable {
  /// A login or its renewal; does not count against the org's limit.
  case token
  /// The identity of a token.
  case userInfo
  /// The API versions of the org; needs no login.
  case versions
  /// The limits of the org.
  case limits
  case describe
  /// The first page of a query.
  case query
  /// A further page of a query.
  case queryMore
  /// A page of the IDs in a briefcase.
  case primingRecords
  case search
  /// The records that the user opened last.
  case recentItems
  case layout
  /// Records by their IDs.
  case retrieve
  case create
  case update
  /// Records by an external ID.
  case upsert
  case delete
  /// Records restored from the recycle bin.
  case undelete
  /// Several requests in one.
  case composite
  /// A bulk job, its state and its results.
  case bulk
  case other
}
