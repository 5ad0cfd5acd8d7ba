import JSON
import SmartStore
import System

/// Records that an overlap fetches again although a later sync has added its own fields to them.
///
/// The syncs of a soup run in the order of their IDs, and a record belongs to the last one that
/// fetched it. While the record does not change, the later sync does not fetch it again. The stored
/// element equals what a new load would write, so it stays.
package struct CompletedRecords {
  let store: Store
  let place: SyncDestination
  let laterSyncIDs: [Int64]
  /// Records modified after this are new to the sync; nil if that is irrelevant.
  var seenUntil: Int64?

  /// A page without the completed records.
  package struct Rest {
    /// An array of the remaining records.
    package var page: [UInt8] = [UInt8(ascii: "[")]
    /// The number of completed records.
    package var completed = 0
    /// The greatest modification date of the completed records.
    package var latestModification: String?
  }

  /// Reads the records of `place` that a sync with one of these IDs has completed.
  package init(
    store: Store, place: SyncDestination, laterSyncIDs: [Int64], seenUntil: Int64? = nil
  ) {
    self.store = store
    self.place = place
    self.laterSyncIDs = laterSyncIDs
    self.seenUntil = seenUntil
  }

  /// Returns the part of a page to write; nil for the whole page.
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

  /// Returns the modification date of a completed record; nil for any other record.
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
