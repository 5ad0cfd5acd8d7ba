/// The records of a soup that the org still has.
package struct RemoteIDs: Sendable {
  /// The soup.
  package var soupName: String
  /// The path of the id.
  package var idPath: String
  /// The ids; nil where they cannot be told, so that nothing may be removed.
  package var ids: RecordIDSet?
  /// Whether ghosts of this soup count in the number that `cleanResyncGhosts` answers.
  package var isCounted: Bool

  /// Ids of a soup.
  package init(soupName: String, idPath: String, ids: RecordIDSet?, isCounted: Bool = true) {
    self.soupName = soupName
    self.idPath = idPath
    self.ids = ids
    self.isCounted = isCounted
  }
}
