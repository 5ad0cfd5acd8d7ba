/// The records of a soup that the org still has.
package struct RemoteIDs: Sendable {
  /// The soup.
  package var soupName: String
  /// The path of the id.
  package var idPath: String
  /// The ids; nil where they cannot be told, so that nothing may be removed.
  package var ids: RecordIDSet?
  /// The ids that the org was asked about, so that no other can be missing; nil for all.
  package var asked: RecordIDSet?
  /// Whether ghosts of this soup count in the number that `cleanResyncGhosts` answers.
  package var isCounted: Bool

  /// Ids of a soup.
  package init(
    soupName: String, idPath: String, ids: RecordIDSet?, asked: RecordIDSet? = nil,
    isCounted: Bool = true
  ) {
    self.soupName = soupName
    self.idPath = idPath
    self.ids = ids
    self.asked = asked
    self.isCounted = isCounted
  }

  /// What was deleted of a soup's records.
  static func deleted(_ ids: RecordIDSet, in place: SyncDestination) -> RemoteIDs {
    RemoteIDs(
      soupName: place.soupName, idPath: place.idPath, ids: RecordIDSet(), asked: ids)
  }

  /// Whether a clean record of the sync is no longer in the org.
  package func isGhost(_ id: String) -> Bool {
    guard let ids, asked?.contains(id) ?? true else { return false }
    return !ids.contains(id)
  }
}
