/// The records of a soup that the org still has.
package struct RemoteIDs: Sendable {
  var soupName: String
  var idPath: String
  /// Nil where they cannot be told, so that nothing may be removed.
  var ids: RecordIDSet?
  /// When each of them last changed, and the path of that date in an element; nil where the list does not
  /// tell it.
  var dates: (path: String, of: RecordDates)?
  /// The ids that the org was asked about, so that no other can be missing; nil for all.
  var asked: RecordIDSet?
  /// Whether it is known why what the org no longer gives is gone, so that no guard keeps it.
  var isExpected = false
  /// Whether it tells what was deleted in the org, which no sync selects.
  var areDeleted = false
  /// Whether ghosts of this soup count in the number that `cleanResyncGhosts` answers.
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

  /// What was deleted of a soup's records.
  package static func deleted(_ ids: RecordIDSet, in place: SyncDestination) -> RemoteIDs {
    RemoteIDs(
      soupName: place.soupName, idPath: place.idPath, ids: RecordIDSet(), asked: ids,
      areDeleted: true)
  }

  /// The list as far as it tells of these records, of which it is known why the org may no longer give them.
  func expecting(_ changed: RecordIDSet) -> RemoteIDs {
    var list = self
    list.asked = asked?.intersection(changed) ?? changed
    list.isExpected = true
    return list
  }

  /// The ids of which some may be ghosts, where others cannot be; nil for any.
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
