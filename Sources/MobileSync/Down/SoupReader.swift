import SmartStore

/// The queries of a sync on a soup: which elements are dirty, and which ones it fetched.
package struct SoupReader {
  let store: Store
  let soup: String

  package init(store: Store, soup: String) {
    self.store = store
    self.soup = soup
  }

  /// An element, with its row and its record's ID.
  package struct Entry: Sendable, Hashable {
    let entryID: Int64
    let id: String
  }

  /// The IDs of elements changed on a device, which a sync that keeps local changes must not
  /// overwrite.
  package func dirtyIDs(idPath: String) throws(SyncError) -> Set<String> {
    Set(
      try SyncError.inStore {
        try store.values(of: idPath, in: soup, .dirty)
      })
  }

  /// The values of an ID path in all elements, regardless of which sync fetched them.
  package func allIDs(
    idPath: String, where holds: (UnsafeRawBufferPointer) -> Bool = { _ in true }
  ) throws(SyncError) -> RecordIDSet {
    var ids = RecordIDSet()
    try SyncError.inStore {
      try store.forEachValue(of: idPath, in: soup) { _, id in
        if holds(id) { ids.insert(id) }
      }
    }
    return ids
  }

  /// The IDs of the clean elements that a sync fetched.
  func cleanIDs(idPath: String, syncID: Int64) throws(SyncError) -> RecordIDSet {
    var ids = RecordIDSet()
    try SyncError.inStore {
      try forEachClean(idPath, syncID, claimsOrphans: false) { _, id in ids.insert(id) }
    }
    return ids
  }

  /// The clean elements that a sync fetched.
  ///
  /// Elements without `__local__` are neither clean nor dirty. If the sync's ID is not indexed, it
  /// is read from the elements, because the SDK would treat other syncs' elements as its own. With
  /// `claimsOrphans`, elements that no sync fetched also count as the sync's: a device created
  /// them, and no sync down has fetched them since they were sent. `suspects` limits the IDs, if
  /// known; a few of them are looked up instead of reading all elements.
  package func cleanEntries(
    idPath: String, syncID: Int64, claimsOrphans: Bool = false, among suspects: RecordIDSet? = nil,
    where holds: (String) -> Bool
  ) throws(SyncError) -> [Entry] {
    var entries: [Entry] = []
    try SyncError.inStore {
      let rows = try suspects.flatMap { try self.rows(of: $0, idPath) }
      if let rows, rows.isEmpty { return }
      try forEachClean(idPath, syncID, claimsOrphans: claimsOrphans, among: rows) {
        entryID, value in
        let id = String(decoding: value, as: UTF8.self)
        if holds(id) { entries.append(Entry(entryID: entryID, id: id)) }
      }
    }
    return entries
  }

  /// Returns the rows of elements with these IDs, and of others with the same prefix; nil if a full
  /// scan is needed or would be as fast.
  ///
  /// An index that was added to existing rows and not filled does not contain them.
  private func rows(of ids: RecordIDSet, _ idPath: String) throws -> [Int64]? {
    if ids.count == 0 { return [] }
    if ids.hasNumbers { return nil }
    let types = try store.indexSpecs(of: soup).filter { $0.path == idPath }.map(\.type)
    guard !types.isEmpty, types.allSatisfy({ $0 == .string }),
      try ids.count * Self.lookup < store.count(of: soup),
      try !store.hasNull(at: idPath, in: soup)
    else { return nil }
    return try store.soupEntryIDs(in: soup, where: idPath, beginsWithAnyOf: ids.beginnings)
  }

  /// One lookup takes as long as reading about this many elements.
  private static let lookup = 8

  private func forEachClean(
    _ idPath: String, _ syncID: Int64, claimsOrphans: Bool, among rows: [Int64]? = nil,
    _ body: (_ entryID: Int64, _ id: UnsafeRawBufferPointer) throws -> Void
  ) throws {
    if try isTold(bySyncID: syncID, claimsOrphans) {
      return try store.forEachValue(
        of: idPath, in: soup, .clean(syncID: syncID), among: rows, body)
    }
    let paths = [idPath, LocalFields.syncID]
    let text = Array(String(syncID).utf8)
    try store.forEachElement(in: soup, paths: paths, .clean(syncID: nil), among: rows) { element in
      let isOrphan = [.missing, .null].contains(element.fields[1].kind)
      guard isOrphan ? claimsOrphans : element.raw(1).elementsEqual(text),
        var id = element.text(0), !isOrphan || !LocalFields.isLocalID(id)
      else { return }
      let entryID = element.soupEntryID
      try id.withUTF8 { try body(entryID, UnsafeRawBufferPointer($0)) }
    }
  }

  /// Whether the index on the sync's ID finds all relevant elements.
  private func isTold(bySyncID syncID: Int64, _ claimsOrphans: Bool) throws(StoreError) -> Bool {
    let isIndexed = try store.indexSpecs(of: soup).contains {
      $0.path == LocalFields.syncID && $0.type != .json1
    }
    guard isIndexed, claimsOrphans else { return isIndexed }
    return try store.count(of: soup, .clean(syncID: nil))
      == store.count(of: soup, .clean(syncID: syncID))
  }

  package func count() throws(SyncError) -> Int {
    try SyncError.inStore { try store.count(of: soup) }
  }

  func remove(_ entries: [Entry]) throws(SyncError) {
    try SyncError.inStore { try store.remove(entries.map(\.entryID), from: soup) }
  }
}
