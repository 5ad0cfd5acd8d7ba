import System

// Records that a cut result or list leaves out.
extension SyncDownEngine {
  /// Fetches by ID what a cut result did not return: the sync's records that have changed, and those
  /// that the stores lack although their user has edited them.
  ///
  /// Returns which of the sync's records match. If the org cannot be asked for them, that is unknown,
  /// and a warning is added.
  func renewUnseen() async throws(SyncError) -> [RemoteIDs] {
    let unseen = sink.isInitialLoad ? [:] : try unseenRecords()
    let missing = try missingEditedRecords()
    if unseen.isEmpty, missing.isEmpty { return [] }
    if let lists = try await request(unseen, missing) {
      try await fetchMissing(lists)
      return lists
    }
    let what = [
      (unseen, "of the store that it lacks cannot be requested by ID; they keep their values"),
      (missing, "that the user edited and that it lacks cannot be requested by ID"),
    ]
    for (ids, words) in what where !ids.isEmpty {
      let count = ids.values.reduce(0) { $0 + $1.count }
      context.warn("the result is cut, and \(CountText.of(count, "record")) \(words)")
    }
    return places.map { RemoteIDs(soupName: $0.soupName, idPath: $0.idPath) }
  }

  /// Returns the records of each soup that the org still has.
  ///
  /// If the target's list is cut, the sync's own records are requested by ID; if that is impossible,
  /// a warning is added.
  func listed() async throws(SyncError) -> [RemoteIDs] {
    let remote = try await target.remoteIDs(context)
    guard remote.contains(where: { $0.ids == nil }) else { return remote }
    if let lists = try await request(try unseenRecords()) { return lists }
    context.warn(Self.cutWarning)
    return remote
  }

  /// The warning if a cut result does not show which records the org still has.
  private static let cutWarning =
    "the result is cut, so missing records cannot be distinguished from deleted ones; "
    + "none was removed"

  private var places: [SyncDestination] { target.destinations(soupName: context.soupName) }

  /// The sync's records that did not arrive, by soup.
  private func unseenRecords() throws(SyncError) -> [String: IDList] {
    var unseen: [String: IDList] = [:]
    for place in places {
      let ids = try cleaner.candidates(in: place, among: nil, without: arrived)
      if ids.count > 0 { unseen[place.soupName] = ids }
    }
    return unseen
  }

  /// The records that the stores lack although their user has edited them, by soup.
  private func missingEditedRecords() throws(SyncError) -> [String: IDList] {
    guard let store = sink.stores.first else { return [:] }
    var missing: [String: IDList] = [:]
    for place in places where place.idPath == "Id" {
      let edited = [request.changed, request.edited].compactMap { $0[place.soupName] }.joined()
      let ids = RecordIDSet(edited.filter { IDQuery.isAsked($0, of: place.idPath) })
      if ids.count == 0 { continue }
      let here = try SoupReader(store: store, soup: place.soupName).allIDs(idPath: place.idPath)
      let lacking = ids.subtracting(here)
      if lacking.count > 0 { missing[place.soupName] = lacking }
    }
    return missing
  }

  /// Returns which of the `unseen` records match, even outside the limit, and when each last changed,
  /// and fetches the `missing` ones; nil if the org cannot be asked for them.
  private func request(
    _ unseen: [String: IDList], _ missing: [String: IDList] = [:]
  ) async throws(SyncError) -> [RemoteIDs]? {
    do throws(SyncError) {
      guard let lists = try await target.dates(of: unseen, context) else { return nil }
      if !missing.isEmpty {
        let pages = try await target.pages(among: missing, context)
        try await load(pages.next(), of: pages, isExtra: true)
      }
      return lists
    } catch {
      // For example a query on a number field, whose values are text in the store.
      guard error.code == .queryRefused else { throw error }
      return nil
    }
  }
}
