/// The kinds of requests that are counted.
package enum RequestKind: String, Sendable, Hashable, CaseIterable {
  /// A login or its renewal; not counted against the org's limit.
  case token
  /// Who the token is.
  case userInfo
  /// Which versions there are; needs no login.
  case versions
  /// The limits.
  case limits
  /// A description of an object.
  case describe
  /// The first page of a query.
  case query
  /// A further page.
  case queryMore
  /// A page of the ids of a briefcase.
  case primingRecords
  /// What a search finds.
  case search
  /// What the user opened last.
  case recentItems
  /// A page layout.
  case layout
  /// Records by their ids.
  case retrieve
  /// New records.
  case create
  /// Changed records.
  case update
  /// Records by an external id.
  case upsert
  /// Records to go.
  case delete
  /// Records to come back.
  case undelete
  /// Several requests in one.
  case composite
  /// A bulk job, its state and its results.
  case bulk
  /// Any other.
  case other
}
