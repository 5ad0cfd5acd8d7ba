import JSON
import SmartStore
import System

/// Records that an overlap brings again although a later sync has completed them with fields of its own.
///
/// The syncs of a soup run in the order of their ids, and a record belongs to the last one that brings
/// it. As long as the record does not move, the later sync does not bring it again: what stands in the
/// store is what a new load would write, and it stays.
package struct CompletedRecords {
  let store: Store
  let place: SyncDestination
  let laterSyncIDs: [Int64]
  /// What was modified after this the sync sees for the first time; nil where that does not matter.
  var seenUntil: Int64?

  /// What is left of a page without them.
  package struct Rest {
    /// An array of the other records.
    package var page: [UInt8] = [UInt8(ascii: "[")]
    /// How many they were.
    package var completed = 0
    /// The greatest modification date of those that are left out.
    package var latestModification: String?
  }

  /// The records of `place` that a sync with one of these ids has completed.
  package init(
    store: Store, place: SyncDestination, laterSyncIDs: [Int64], seenUntil: Int64? = nil
  ) {
    self.store = store
    self.place = place
    self.laterSyncIDs = laterSyncIDs
    self.seenUntil = seenUntil
  }

  /// What of a page is to be written; nil for all of it.
  package func rest(
    of page: UnsafeRawBufferPointer, in container: RecordScanner.Container
  ) throws(SyncError) -> Rest? {
    guard !laterSyncIDs.isEmpty else { return nil }
    var rest = Rest()
    try SyncError.reading("a page of records") {
      _ = try RecordScanner(paths: []).scan(page, in: container) { _, range, _ in
        let record = UnsafeRawBufferPointer(rebasing: page[range])
        if let date = try date(of: record) {
          rest.completed += 1
          rest.latestModification = max(rest.latestModification ?? "", date)
          return
        }
        if rest.page.count > 1 { rest.page.append(UInt8(ascii: ",")) }
        rest.page.append(contentsOf: record)
      }
    }
    rest.page.append(UInt8(ascii: "]"))
    return rest.completed > 0 ? rest : nil
  }

  /// The modification date of such a record; nil for any other.
  package func date(of record: UnsafeRawBufferPointer) throws(SyncError) -> String? {
    try SyncError.inStore {
      let record = try JSONValue(parsing: record)
      guard
        let id = try store.text(
          ofID: JSONProjection.project(place.idPath, from: record), soup: place.soupName,
          path: place.idPath),
        let date = JSONProjection.project(place.modificationPath, from: record)?.string,
        seenUntil.map({ Dates.milliseconds(iso8601: date) ?? .max <= $0 }) ?? true
      else { return nil }
      let stored = try store.elements(in: place.soupName, where: place.idPath, is: id)
      guard stored.count == 1, let element = stored.first,
        !store.platform.isSet(element[LocalFields.local]),
        let syncID = element[LocalFields.syncID]?.int, laterSyncIDs.contains(syncID),
        JSONProjection.project(place.modificationPath, from: element)?.string == date
      else { return nil }
      return date
    }
  }
}
