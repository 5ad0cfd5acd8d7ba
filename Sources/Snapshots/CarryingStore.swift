import JSON
import SmartStore
import System

/// Puts edits that are open into a store of a generation that is being made.
///
/// The store as the org has it is kept beside it: the next prime goes on from that one and never sees a
/// row that a device has changed, so a record that is fetched, gone or settled needs no rule of its own.
package final class CarryingStore {
  private let store: Store

  /// The directory, in that of a generation, of the stores as the org has them, where those that devices
  /// get carry edits.
  package static let cleanDirectory = "clean"

  /// Where the next prime goes on from: the store as the org has it.
  package static func source(of name: String, in directory: String) -> String {
    let clean = "\(directory)/\(cleanDirectory)/\(name)"
    return Files.exists(clean) ? clean : "\(directory)/\(name)"
  }

  /// Opens the store `name` of a generation's directory, and keeps a copy of it as it is.
  package init(_ name: String, in directory: String) throws(SnapshotError) {
    store = try SnapshotError.mapping {
      let clean = "\(directory)/\(Self.cleanDirectory)/\(name)"
      try Files.makeDirectory(Files.parent(of: clean) ?? directory)
      try Files.copy("\(directory)/\(name)", to: clean)
      return try Store(opening: "\(directory)/\(name)")
    }
  }

  /// Writes an element in the place of the record's, or as a new one; answers it as it is stored.
  ///
  /// `recordID` is nil for a record that the org does not have. `make` is given what the store has of the
  /// record: what its user may see.
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

  /// Says in the store's stamp which run has put edits into it, `now` in ms.
  package func mark(_ run: String, now: Int64) throws(SnapshotError) {
    guard case .stamp(var stamp) = try Provenance.read(from: store) else { return }
    stamp.carried = run
    store.clock = { now }
    try stamp.write(into: store)
  }

  /// Ends the change.
  package func close() throws(SnapshotError) {
    try SnapshotError.mapping {
      try store.checkpoint()
      try store.close()
    }
  }
}
