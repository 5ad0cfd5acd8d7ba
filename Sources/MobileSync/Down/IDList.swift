import JSON
import Salesforce
import SmartStore

/// IDs in byte order, without a heap object for each.
package struct IDList: Sendable {
  private struct Place: Sendable {
    let start: Int
    let count: Int
  }

  private var bytes: [UInt8] = []
  private var places: [Place] = []

  package var count: Int { places.count }
  /// The length of the longest ID in bytes.
  package var longest: Int { places.reduce(0) { max($0, $1.count) } }

  package init(_ ids: some Sequence<String> = []) {
    for var id in ids { id.withUTF8 { append(UnsafeRawBufferPointer($0)) } }
    sort()
  }

  /// Appends an ID; call `sort` afterwards.
  package mutating func append(_ id: UnsafeRawBufferPointer) {
    places.append(Place(start: bytes.count, count: id.count))
    bytes.append(contentsOf: id)
  }

  /// Sorts the IDs and removes duplicates.
  package mutating func sort() {
    let bytes = self.bytes
    func id(_ place: Place) -> ArraySlice<UInt8> { bytes[place.start..<place.start + place.count] }
    places.sort { id($0).lexicographicallyPrecedes(id($1)) }
    var distinct: [Place] = []
    distinct.reserveCapacity(places.count)
    for place in places where distinct.last.map({ id($0) != id(place) }) ?? true {
      distinct.append(place)
    }
    places = distinct
  }

  /// Returns the union of these IDs and others.
  func adding(_ others: IDList?) -> IDList {
    guard let others, others.count > 0 else { return self }
    return adding(others.slice(0, of: others.count))
  }

  /// Returns the union of these IDs and others.
  func adding(_ ids: [String]) -> IDList {
    guard !ids.isEmpty else { return self }
    var list = self
    for var id in ids { id.withUTF8 { list.append(UnsafeRawBufferPointer($0)) } }
    list.sort()
    return list
  }

  /// Returns the IDs of the slice at an index, for slices of `size` IDs.
  package func slice(_ index: Int, of size: Int) -> [String] {
    let start = min(index * size, count)
    return places[start..<min(start + size, count)].map { place in
      String(decoding: bytes[place.start..<place.start + place.count], as: UTF8.self)
    }
  }

  package var set: RecordIDSet {
    var set = RecordIDSet()
    bytes.withUnsafeBytes { bytes in
      for place in places {
        set.insert(UnsafeRawBufferPointer(rebasing: bytes[place.start..<place.start + place.count]))
      }
    }
    return set
  }
}

extension IDQuery {
  /// Whether a query can ask for a value of an ID field: the org does not know local IDs, and
  /// refuses a query with an invalid Id.
  static func isAsked(_ value: String, of idField: String) -> Bool {
    !LocalFields.isLocalID(value) && (idField != "Id" || RecordID(value) != nil)
  }

  /// Returns which possible ghosts of a sync the org still has; no other IDs are requested.
  func remoteIDs(_ context: SyncContext) async throws(SyncError) -> [RemoteIDs] {
    let asked = IDList(
      try context.ghostCandidates(idField) { Self.isAsked($0, of: idField) })
    let ids = try await existing(among: asked, context)
    return [
      RemoteIDs(soupName: context.soupName, idPath: idField, ids: ids, asked: asked.set)
    ]
  }
}
