import JSON
import SmartStore
import System

/// Writes open edits into a store of a generation that is being created.
///
/// The store without them is kept next to it. The next prime starts from that one and never sees a
/// row that a device has changed, so records that are fetched, deleted or resolved need no special
/// rule.
package final class CarryingStore {
  private let store: Store

  /// The directory inside a generation with the stores without open edits, if the devices' stores
  /// have some.
  package static let cleanDirectory = "clean"

  /// The store from which the next prime starts: the one without open edits.
  package static func source(of name: String, in directory: String) -> String {
    let clean = "\(directory)/\(cleanDirectory)/\(name)"
    return Files.exists(clean) ? clean : "\(directory)/\(name)"
  }

  /// Opens the store `name` in a generation's directory, and keeps an unchanged copy of it.
  package init(_ name: String, in directory: String) throws(SnapshotError) {
    store = try SnapshotError.mapping {
      let clean = "\(directory)/\(Self.cleanDirectory)/\(name)"
      try Files.makeDirectory(Files.parent(of: clean) ?? directory)
      try Files.copy("\(directory)/\(name)", to: clean)
      return try Store(opening: "\(directory)/\(name)")
    }
  }

  /// Writes an element in place of the record's, or as a new one; returns it as stored.
  ///
  /// `recordID` is nil for a record that the org does not have. `make` receives the store's element
  /// for the record, with the values that its user may see.
  package func put(
    into soup: String, idField: String, recordID: String?, lastModified: Int64,
    make: (_ held: JSONObject?) -> JSONObject
  ) throws(SnapshotError) -> JSONObject {
    try SnapshotError.mapping {
      var held: JSONObject?
      if let recordID {
        held = try store.elements(in: soup, where: idField, is: recordID).first?.object
      }
      var element = make(held)
      element[StoreField.soupEntryID] = held?[StoreField.soupEntryID]
      if let sync = held?[SyncField.syncID] { element[SyncField.syncID] = sync }
      store.clock = { lastModified }
      return try store.upsert([.object(element)], into: soup).first?.object ?? [:]
    }
  }

  /// Records in the store's stamp which run has written edits into it; `now` in milliseconds.
  package func mark(_ run: String, now: Int64) throws(SnapshotError) {
    guard case .stamp(var stamp) = try Provenance.read(from: store) else { return }
    stamp.carried = run
    store.clock = { now }
    try stamp.write(into: store)
  }

  /// Commits the change.
  package func close() throws(SnapshotError) {
    try SnapshotError.mapping {
      try store.checkpoint()
      try store.close()
    }
  }
}
