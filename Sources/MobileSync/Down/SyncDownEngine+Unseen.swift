import System

// Records that a cut result leaves out.
extension SyncDownEngine {
  /// Fetches by ID the sync's records that a cut result did not return and that have changed, or
  /// that edits of the stores' user have made; if the org cannot be asked for them, adds a warning.
  func renewUnseen() async throws(SyncError) {
    guard !sink.isInitialLoad else { return }
    guard let store = sink.stores.first else { return }
    var unseen: [String: IDList] = [:]
    var absent: [String: IDList] = [:]
    for place in target.destinations(soupName: context.soupName) {
      let ids = try cleaner.candidates(in: place, among: nil, without: arrived)
      if ids.count > 0 { unseen[place.soupName] = ids }
      guard place.idPath == "Id", let changed = request.changed[place.soupName] else { continue }
      let here = try SoupReader(store: store, soup: place.soupName).allIDs(idPath: place.idPath)
      let made = RecordIDSet(changed).subtracting(here)
      if made.count > 0 { absent[place.soupName] = made }
    }
    guard !unseen.isEmpty || !absent.isEmpty else { return }
    var lists: [RemoteIDs]?
    do throws(SyncError) {
      lists = try await target.dates(of: unseen, context)
      if lists != nil, !absent.isEmpty {
        let pages = try await target.pages(among: absent, context)
        try await load(pages.next(), of: pages, isExtra: true)
      }
    } catch {
      // For example a query on a number field, whose values are text in the store.
      guard error.code == .queryRefused else { throw error }
    }
    guard let lists else {
      let count = (Array(unseen.values) + absent.values).reduce(0) { $0 + $1.count }
      return context.warn(
        "the result is cut, and \(CountText.of(count, "record")) of the store that it lacks cannot be "
          + "requested by "
          + "ID; they keep their values")
    }
    try await fetchMissing(lists)
  }
}
