import SmartStore

/// What a sync asks of a soup: which of its elements are dirty, and which it brought.
package struct SoupReader {
  let store: Store
  let soup: String

  /// Reads a soup.
  package init(store: Store, soup: String) {
    self.store = store
    self.soup = soup
  }

  /// An element by its row and its record's id.
  package struct Entry: Sendable, Hashable {
    let entryID: Int64
    let id: String
  }

  /// The ids of elements that were changed on a device; what a sync that leaves changes must not
  /// touch.
  package func dirtyIDs(idPath: String) throws(SyncError) -> Set<String> {
    Set(
      try SyncError.inStore {
        try store.values(of: idPath, in: soup, .dirty)
      })
  }

  /// The values of an id path in all elements, whoever brought them.
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

  /// The ids of the clean elements that a sync brought.
  func cleanIDs(idPath: String, syncID: Int64) throws(SyncError) -> RecordIDSet {
    var ids = RecordIDSet()
    try SyncError.inStore {
      try forEachClean(idPath, syncID, claimsOrphans: false) { _, id in ids.insert(id) }
    }
    return ids
  }

  /// The clean elements that a sync brought.
  ///
  /// Elements without `__local__` are neither clean nor dirty. Where the sync's id is not indexed
  /// it is read from the elements: the SDK would take those of other syncs for its own. With
  /// `claimsOrphans` the elements that no sync brought are the sync's too: a device made them, and
  /// since they were sent no sync down has seen them. `suspects` are the only ids of which some can hold,
  /// where that is known: a few of them are looked up, instead of reading what all others have.
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

  /// The rows of elements with some ids, and of others whose ids begin alike; nil where all had to be read to find
  /// them, or would be read as fast.
  ///
  /// An index that was added to rows that are there, and not filled, tells nothing of them.
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

  /// One is looked up in the time in which about so many are read.
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

  /// Whether the index on the sync's id tells all elements that count.
  private func isTold(bySyncID syncID: Int64, _ claimsOrphans: Bool) throws(StoreError) -> Bool {
    let isIndexed = try store.indexSpecs(of: soup).contains {
      $0.path == LocalFields.syncID && $0.type != .json1
    }
    guard isIndexed, claimsOrphans else { return isIndexed }
    return try store.count(of: soup, .clean(syncID: nil))
      == store.count(of: soup, .clean(syncID: syncID))
  }

  /// How many elements there are.
  package func count() throws(SyncError) -> Int {
    try SyncError.inStore { try store.count(of: soup) }
  }

  func remove(_ entries: [Entry]) throws(SyncError) {
    try SyncError.inStore { try store.remove(entries.map(\.entryID), from: soup) }
  }
}
