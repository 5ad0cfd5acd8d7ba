import System

// Records that a cut result leaves out.
extension SyncDownEngine {
  /// Fetches by ID the sync's records that a cut result did not return and that have changed; if
  /// the org cannot be asked for them, adds a warning.
  func renewUnseen() async throws(SyncError) {
    guard !sink.isInitialLoad else { return }
    var unseen: [String: IDList] = [:]
    for place in target.destinations(soupName: context.soupName) {
      let ids = try cleaner.candidates(in: place, among: nil, without: arrived)
      if ids.count > 0 { unseen[place.soupName] = ids }
    }
    guard !unseen.isEmpty else { return }
    var lists: [RemoteIDs]?
    do throws(SyncError) {
      lists = try await target.dates(of: unseen, context)
    } catch {
      // For example a query on a number field, whose values are text in the store.
      guard error.code == .queryRefused else { throw error }
    }
    guard let lists else {
      let count = unseen.values.reduce(0) { $0 + $1.count }
      return context.warn(
        "the result is cut, and \(CountText.of(count, "record")) of the store that it lacks cannot be "
          + "requested by "
          + "ID; they keep their values")
    }
    try await fetchMissing(lists)
  }
}
