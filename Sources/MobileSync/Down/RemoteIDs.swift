/// The records of a soup that the org still has.
package struct RemoteIDs: Sendable {
  var soupName: String
  var idPath: String
  /// The IDs; nil if they are unknown, so that nothing may be removed.
  var ids: RecordIDSet?
  /// The last change of each of them, with the path of that date in an element; nil if the list
  /// does not have the dates.
  var dates: (path: String, of: RecordDates)?
  /// The IDs that were checked, so that only these can be missing; nil for all.
  var asked: RecordIDSet?
  /// Whether the reason for removals is known, so that no guard prevents them.
  var isExpected = false
  /// Whether the list contains records deleted in the org, which no sync selects.
  var areDeleted = false
  /// Whether ghosts of this soup count in the result of `cleanResyncGhosts`.
  var isCounted = true

  package init(
    soupName: String, idPath: String, ids: RecordIDSet? = nil,
    dates: (path: String, of: RecordDates)? = nil, asked: RecordIDSet? = nil,
    isExpected: Bool = false, areDeleted: Bool = false, isCounted: Bool = true
  ) {
    self.soupName = soupName
    self.idPath = idPath
    self.ids = ids
    self.dates = dates
    self.asked = asked
    self.isExpected = isExpected
    self.areDeleted = areDeleted
    self.isCounted = isCounted
  }

  /// Returns the deleted records of a soup.
  package static func deleted(_ ids: RecordIDSet, in place: SyncDestination) -> RemoteIDs {
    RemoteIDs(
      soupName: place.soupName, idPath: place.idPath, ids: RecordIDSet(), asked: ids,
      areDeleted: true)
  }

  /// Returns the list limited to these records, for which it is known why the org may no longer
  /// return them.
  func expecting(_ changed: RecordIDSet) -> RemoteIDs {
    var list = self
    list.asked = asked?.intersection(changed) ?? changed
    list.isExpected = true
    return list
  }

  /// Whether a record that the list lacks may have been deleted, or stopped matching.
  var mayLackDeletions: Bool { ids == nil || asked != nil && (suspects?.count ?? 0) > 0 }

  /// Returns the list without the records that other lists report as deleted.
  func excluding(_ deletions: [RemoteIDs]) -> RemoteIDs {
    var list = self
    for deleted in deletions where deleted.soupName == soupName {
      if let ids = deleted.asked { list.asked?.subtract(ids) }
    }
    return list
  }

  /// The IDs to which ghosts are limited; nil if any ID may be one.
  var suspects: RecordIDSet? {
    guard let ids else { return RecordIDSet() }
    guard var suspects = asked else { return nil }
    suspects.subtract(ids)
    return suspects
  }

  /// Whether a clean record of the sync is no longer in the org.
  func isGhost(_ id: String) -> Bool {
    guard let ids, asked?.contains(id) ?? true else { return false }
    return !ids.contains(id)
  }
}
