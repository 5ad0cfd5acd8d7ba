import SmartStore

/// A kind of sync down: where records come from, and which of them the org still has.
///
/// Each kind has a file of its own. The functions run where their caller does, on the thread that owns the
/// store.
package protocol SyncDownTarget: Sendable {
  /// Begins to fetch what was modified after `since`, in milliseconds, or everything for nil.
  func pages(since: Int64?, _ context: SyncContext) async throws(SyncError) -> any SyncDownPages

  /// Begins to fetch these records by soup, whenever they were modified, as far as they match.
  func pages(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages

  /// Begins to fetch what the sync selects of these records, by soup, whenever they were modified; others may
  /// come beside them.
  func pages(
    selectedOf ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages

  /// Whether it says which records are in its soups: a refresh only renews those that are there.
  var selects: Bool { get }

  /// The soups that the sync fills, `soupName` being the one that its definition names.
  func destinations(soupName: String) -> [SyncDestination]

  /// The records, by soup, that LEAVE_IF_CHANGED leaves as they are: their values at the soup's id
  /// path.
  func idsToSkip(_ context: SyncContext) throws(SyncError) -> [String: Set<String>]

  /// What the org still has of each soup; empty for a target that knows no ghosts.
  func remoteIDs(_ context: SyncContext) async throws(SyncError) -> [RemoteIDs]

  /// Which of these records, by soup, the org still has for the sync; nothing for a target whose every fetch
  /// tells.
  func remoteIDs(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs]

  /// Which of these records, by soup, match what the sync selects, and when each last changed, whether or not its
  /// result is cut before them; nil for a target that cannot be asked for single records.
  func dates(
    of ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs]?

  /// What was deleted after `since`, in milliseconds, as far as one question an object tells it: what
  /// a prime asks between two lists of all ids.
  func deletions(since: Int64, _ context: SyncContext) async throws(SyncError) -> [RemoteIDs]
}

extension SyncDownTarget {
  /// Everything is fetched, where the target cannot ask for some records.
  package func pages(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    try await pages(since: nil, context)
  }

  /// Those that are asked for by their ids.
  package func pages(
    selectedOf ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    try await pages(among: ids, context)
  }

  package var selects: Bool { true }

  /// Nothing is asked; the next list of all ids tells.
  package func remoteIDs(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] { [] }

  /// They cannot be asked for.
  package func dates(
    of ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs]? { nil }

  /// Nothing is asked; the next list of all ids tells.
  package func deletions(
    since: Int64, _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] { [] }

  /// The dirty records of each soup, as the SDK's targets have it.
  package func idsToSkip(_ context: SyncContext) throws(SyncError) -> [String: Set<String>] {
    var ids: [String: Set<String>] = [:]
    for place in destinations(soupName: context.soupName) {
      ids[place.soupName, default: []].formUnion(
        try SoupReader(store: context.store, soup: place.soupName).dirtyIDs(idPath: place.idPath))
    }
    return ids
  }
}

/// A soup that a sync down fills, and the fields that matter in it.
package struct SyncDestination: Sendable, Hashable {
  /// The soup's name.
  package var soupName: String
  /// The path of the record's id.
  package var idPath: String
  /// The path of the server's modification date.
  package var modificationPath: String

  /// Makes a destination of its parts.
  package init(soupName: String, idPath: String, modificationPath: String) {
    self.soupName = soupName
    self.idPath = idPath
    self.modificationPath = modificationPath
  }
}

/// The pages of one fetch, in order.
package protocol SyncDownPages: AnyObject {
  /// The records to expect, known once the first page is there.
  var totalSize: Int { get }
  /// Whether records come in the order of their modification date, so that the cursor may follow
  /// each page.
  var isSorted: Bool { get }
  /// Whether everything comes, though only changes were asked for.
  var isWhole: Bool { get }
  /// Whether other records may match than the result has room for, so that a record that is missing in it may be
  /// there and may have changed; known after the last page.
  var isCut: Bool { get }
  /// What was modified after this, in milliseconds, is still to be read; known after the last page.
  /// Nil where everything was.
  var cursorLimit: Int64? { get }
  /// What the org still has, where the fetch told it by the way; known after the last page. Nil where
  /// `remoteIDs` of the target has to ask.
  var remoteIDs: [RemoteIDs]? { get }
  /// What was deleted, where the fetch told it by the way; known after the last page. Nil where
  /// `deletions` of the target has to ask.
  var deletions: [RemoteIDs]? { get }
  /// When each record that the target listed last changed, in milliseconds, by soup and id; nil for a
  /// target that does not list them.
  var stamps: [String: [String: Int64]]? { get }
  /// How many records to expect in a soup.
  func expected(in soupName: String) -> Int
  /// The next page; nil after the last.
  func next() async throws(SyncError) -> SyncPage?
  /// Gives the last page back once it is stored; `records` is how many its parts held.
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
