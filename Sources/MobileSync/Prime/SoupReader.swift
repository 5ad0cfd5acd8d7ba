import SmartStore

/// What a sync asks of a soup: which of its elements are dirty, and which it brought.
struct SoupReader {
  /// The store.
  let store: Store
  /// The soup's name.
  let soup: String

  /// An element by its row and its record's id.
  struct Entry: Sendable, Hashable {
    let entryID: Int64
    let id: String
  }

  /// The ids of elements that were changed on a device; what a sync that leaves changes must not
  /// touch.
  func dirtyIDs(idPath: String) throws(SyncError) -> Set<String> {
    Set(
      try SyncError.inStore { () throws(StoreError) in
        try store.values(of: idPath, in: soup, .dirty)
      })
  }

  /// The clean elements that a sync brought.
  ///
  /// Elements without `__local__` are neither clean nor dirty. Where the sync's id is not indexed
  /// it is read from the elements: the SDK would take those of other syncs for its own.
  func cleanEntries(
    idPath: String, syncID: Int64, where holds: (String) -> Bool
  ) throws(SyncError) -> [Entry] {
    let isIndexed = try SyncError.inStore { () throws(StoreError) in
      try store.indexSpecs(of: soup).contains {
        $0.path == LocalFields.syncID && $0.type != .json1
      }
    }
    var entries: [Entry] = []
    func add(_ entryID: Int64, _ id: String) {
      if holds(id) { entries.append(Entry(entryID: entryID, id: id)) }
    }
    do {
      if isIndexed {
        try store.forEachValue(of: idPath, in: soup, .clean(syncID: syncID)) { entryID, value in
          add(entryID, String(decoding: value, as: UTF8.self))
        }
      } else {
        let paths = [idPath, LocalFields.syncID]
        let text = Array(String(syncID).utf8)
        try store.forEachElement(in: soup, paths: paths, .clean(syncID: nil)) { element in
          guard element.raw(1).elementsEqual(text), let id = element.text(0) else { return }
          add(element.soupEntryID, id)
        }
      }
    } catch {
      throw SyncError(.store, "\(error)")
    }
    return entries
  }

  /// The number of elements.
  func count() throws(SyncError) -> Int {
    try SyncError.inStore { () throws(StoreError) in try store.count(of: soup) }
  }

  /// Removes elements.
  func remove(_ entries: [Entry]) throws(SyncError) {
    try SyncError.inStore { () throws(StoreError) in
      try store.remove(entries.map(\.entryID), from: soup)
    }
  }
}
