/// One named sync of a configuration.
public struct SyncDefinition: Sendable {
  /// The sync's name, unique in its store.
  public let syncName: String
  /// The direction.
  public let syncType: SyncType
  /// The soup that the sync fills or sends; a briefcase target names its own.
  public let soupName: String
  /// Where records come from or go to.
  public let target: SyncTarget
  /// The merge mode and the field list.
  public let options: SyncOptions
  /// The 1-based line of the definition in its file; 0 for one made in code.
  public let line: Int
  /// The 1-based column of the definition in its file; 0 for one made in code.
  public let column: Int

  /// A sync; `line` and `column` say where a file defines it.
  public init(
    syncName: String, syncType: SyncType, soupName: String, target: SyncTarget,
    options: SyncOptions, line: Int = 0, column: Int = 0
  ) {
    self.syncName = syncName
    self.syncType = syncType
    self.soupName = soupName
    self.target = target
    self.options = options
    self.line = line
    self.column = column
  }

  /// What the sync needs of the soups that it reads or writes.
  package var soups: [SoupUse] { target.kind.soups(soupName: soupName) }

  /// The objects whose records the sync puts into a soup.
  package func objects(in soup: String) -> Set<String> {
    Set(target.kind.objects(in: soup, soupName: soupName))
  }

  /// The object types that the sync names for a soup, in lower case: a name of an object has no case
  /// for an org.
  ///
  /// A sync up names none but in families: there the elements say what they are.
  package func objectTypes(of soup: String) -> Set<String> {
    Set(target.kind.objectTypes(of: soup, soupName: soupName).map { $0.lowercased() })
  }

  /// The members of a soup's elements that say for the sync when a record was last modified.
  package func modificationFields(of soup: String) -> [String] {
    soups.filter { $0.soupName == soup }.compactMap(\.modificationField)
  }

  /// The fields that the sync fetches into a soup, or may send from it.
  package func fieldNames(of soup: String) -> [String] { target.kind.fieldNames(of: soup, self) }

  /// What the sync needs of the org; `objects` are those whose records a soup holds.
  package func needs(objects: (_ soupName: String) -> Set<String>) -> [OrgNeed] {
    target.kind.needs(self, objects: objects)
  }
}

/// What a sync needs of one soup.
package struct SoupUse: Sendable, Hashable {
  /// The soup.
  package let soupName: String
  /// The paths by which records are looked up: each must be indexed.
  package let paths: [String]
  /// The member that says when a record was last modified; nil where none does.
  package var modificationField: String?
  /// Whether an app may edit the records, so that `__local__` must be indexed.
  package var isEdited = true
}
