// What a result that is cut leaves out.
extension SyncDownEngine {
  /// Fetches by their ids the records of the sync that a cut result did not bring and that changed since; where
  /// the org cannot be asked for them, the run says so.
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
      // Such as one about a number field, whose values stand as text in the store.
      guard error.code == .queryRefused else { throw error }
    }
    guard let lists else {
      let count = unseen.values.reduce(0) { $0 + $1.count }
      return context.warn(
        "the result is cut, and \(count) records of the store that are not in it cannot be asked for by their ids; "
          + "they keep the values that they had")
    }
    try await fetchMissing(lists)
  }
}
