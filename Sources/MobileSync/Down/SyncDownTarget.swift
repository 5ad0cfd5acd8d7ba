import Salesforce
import SmartStore

/// A kind of sync down: the source of records, and which of them the org still has.
///
/// Its functions run on the caller's executor, the thread that owns the store.
package protocol SyncDownTarget: Sendable {
  /// Starts fetching what was modified after `since`, in milliseconds, or everything if nil.
  func pages(since: Int64?, _ context: SyncContext) async throws(SyncError) -> any SyncDownPages

  /// Starts fetching these records, by soup, regardless of when they were modified, if they match.
  func pages(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages

  /// Starts fetching those of these records, by soup, that the sync selects, regardless of when
  /// they were modified; other records may be included.
  func pages(
    selectedOf ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages

  /// Whether the target selects the records of its soups; a refresh only updates existing ones.
  var selects: Bool { get }

  /// Returns the queries that a run sends if nothing was modified after `since`, in milliseconds, as
  /// far as they are known without its stores.
  ///
  /// `asksDeletions` means that the run removes records deleted since then.
  func queriesAhead(
    since: Int64, asksDeletions: Bool, variables: [String: String]
  ) throws(SyncError) -> [AheadQuery]

  /// The soups that the sync fills; `soupName` is the one named by its definition.
  func destinations(soupName: String) -> [SyncDestination]

  /// The records, by soup, that LEAVE_IF_CHANGED skips: their values at the soup's ID path.
  func idsToSkip(_ context: SyncContext) throws(SyncError) -> [String: Set<String>]

  /// The records of each soup that the org still has; empty for a target without ghosts.
  func remoteIDs(_ context: SyncContext) async throws(SyncError) -> [RemoteIDs]

  /// Returns which of these records, by soup, the org still has for the sync; empty for a target
  /// whose every fetch shows this.
  func remoteIDs(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs]

  /// Returns which of these records, by soup, match what the sync selects, and when each last
  /// changed, even if a limit excludes them; nil for a target that cannot query single records.
  func dates(
    of ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs]?

  /// Returns what was deleted after `since`, in milliseconds, as far as one request per object
  /// shows it; a prime uses this between two lists of all IDs.
  func deletions(since: Int64, _ context: SyncContext) async throws(SyncError) -> [RemoteIDs]
}

extension SyncDownTarget {
  /// Fetches everything, if the target cannot fetch single records.
  package func pages(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    try await pages(since: nil, context)
  }

  /// Fetches the records requested by their IDs.
  package func pages(
    selectedOf ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    try await pages(among: ids, context)
  }

  /// Returns none.
  package func queriesAhead(
    since: Int64, asksDeletions: Bool, variables: [String: String]
  ) throws(SyncError) -> [AheadQuery] { [] }

  package var selects: Bool { true }

  /// Sends no request; the next list of all IDs shows it.
  package func remoteIDs(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] { [] }

  /// Returns nil: unsupported.
  package func dates(
    of ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs]? { nil }

  /// Sends no request; the next list of all IDs shows it.
  package func deletions(
    since: Int64, _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] { [] }

  /// The dirty records of each soup, as in the SDK's targets.
  package func idsToSkip(_ context: SyncContext) throws(SyncError) -> [String: Set<String>] {
    var ids: [String: Set<String>] = [:]
    for place in destinations(soupName: context.soupName) {
      ids[place.soupName, default: []].formUnion(
        try SoupReader(store: context.store, soup: place.soupName).dirtyIDs(idPath: place.idPath))
    }
    return ids
  }
}

/// A soup that a sync down fills, with the fields that the sync needs.
package struct SyncDestination: Sendable, Hashable {
  package var soupName: String
  /// The path of the record's ID.
  package var idPath: String
  /// The path of the org's modification date.
  package var modificationPath: String

  package init(soupName: String, idPath: String, modificationPath: String) {
    self.soupName = soupName
    self.idPath = idPath
    self.modificationPath = modificationPath
  }
}

/// The pages of one fetch, in order.
package protocol SyncDownPages: AnyObject {
  /// The expected number of records, known after the first page.
  var totalSize: Int { get }
  /// Whether records arrive in the order of their modification date, so that the cursor may advance
  /// after each page.
  var isSorted: Bool { get }
  /// Whether everything is fetched, although only changes were requested.
  var isWhole: Bool { get }
  /// Whether more records may match than the result contains, so that a missing record may still
  /// exist and have changed; known after the last page.
  var isCut: Bool { get }
  /// Changes after this time, in milliseconds, are still to be read; known after the last page. Nil
  /// if everything was read.
  var cursorLimit: Int64? { get }
  /// The records that the org still has, if the fetch already shows it; known after the last page.
  /// Nil if the target's `remoteIDs` must ask the org.
  var remoteIDs: [RemoteIDs]? { get }
  /// The deleted records, if the fetch already shows them; known after the last page. Nil if the
  /// target's `deletions` must ask the org.
  var deletions: [RemoteIDs]? { get }
  /// The last change of each record that the target listed, in milliseconds, by soup and ID; nil
  /// for a target that does not list them.
  var stamps: [String: [String: Int64]]? { get }
  /// Returns the number of records expected in a soup.
  func expected(in soupName: String) -> Int
  /// Returns the next page; nil after the last one.
  func next() async throws(SyncError) -> SyncPage?
  /// Returns the last page's buffer for reuse once it is stored; `records` is the number of records
  /// in its parts.
  func recycle(_ page: consuming SyncPage, records: Int)
}

extension SyncDownPages {
  package var isWhole: Bool { false }
  package var isCut: Bool { false }
  package var cursorLimit: Int64? { nil }
  package var remoteIDs: [RemoteIDs]? { nil }
  package var deletions: [RemoteIDs]? { nil }
  package var stamps: [String: [String: Int64]]? { nil }
  package func expected(in soupName: String) -> Int { max(0, totalSize) }
  package func recycle(_ page: consuming SyncPage, records: Int) {}
}
