import SmartStore

/// Removes the elements of a sync that the org no longer gives.
struct GhostCleaner {
  let files: StoreFiles
  let policy: GhostPolicy
  let soup: String
  let syncID: Int64

  /// What became of the ghosts.
  enum Result: Sendable, Hashable {
    /// This many were removed.
    case removed(Int)
    /// This many would have been, of so many elements: more than the guard allows.
    case refused(Int, of: Int)
  }

  /// Removes the clean elements of the sync for whose ids `isGhost` holds, in all stores.
  ///
  /// Dirty elements are never touched.
  func clean(idPath: String, isGhost: (String) -> Bool) throws(SyncError) -> Result {
    guard let first = files.stores.first else { return .removed(0) }
    let ghosts = try find(in: first, idPath, isGhost)
    guard !ghosts.isEmpty else { return .removed(0) }
    let total = try SoupReader(store: first, soup: soup).count()
    guard policy.allows(deleting: ghosts.count, of: total) else {
      return .refused(ghosts.count, of: total)
    }
    try files.makeWritable()
    for store in files.stores {
      try SoupReader(store: store, soup: soup).remove(find(in: store, idPath, isGhost))
    }
    return .removed(ghosts.count)
  }

  private func find(
    in store: Store, _ idPath: String, _ isGhost: (String) -> Bool
  ) throws(SyncError) -> [SoupReader.Entry] {
    try SoupReader(store: store, soup: soup)
      .cleanEntries(idPath: idPath, syncID: syncID, where: isGhost)
  }
}
