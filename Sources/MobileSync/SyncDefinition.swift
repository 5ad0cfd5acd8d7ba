/// One named sync of a configuration.
public struct SyncDefinition: Sendable {
  /// The sync's name, unique in its store.
  public let syncName: String
  /// The direction of the sync.
  public let syncType: SyncType
  /// The soup that the sync fills or sends.
  ///
  /// A briefcase target names its soups itself.
  public let soupName: String
  /// The source or the destination of the records.
  public let target: SyncTarget
  /// The merge mode and the field list.
  public let options: SyncOptions
  /// The 1-based line of the definition in its file; 0 if it was created in code.
  public let line: Int
  /// The 1-based column of the definition in its file; 0 if it was created in code.
  public let column: Int

  /// Creates a definition; `line` and `column` are its location in a file.
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

  /// The soups that the sync reads or writes, with what it needs from each.
  package var soups: [SoupUse] { target.kind.soups(soupName: soupName) }

  /// The objects whose records the sync writes to a soup.
  package func objects(in soup: String) -> Set<String> {
    Set(target.kind.objects(in: soup, soupName: soupName))
  }

  /// The object types that the sync names for a soup, in lower case, since object names are not
  /// case-sensitive in an org.
  ///
  /// A sync up names object types only for families; otherwise the elements have them.
  package func objectTypes(of soup: String) -> Set<String> {
    Set(target.kind.objectTypes(of: soup, soupName: soupName).map { $0.lowercased() })
  }

  /// The members of a soup's elements that have a record's modification date, as the sync defines
  /// them.
  package func modificationFields(of soup: String) -> [String] {
    soups.filter { $0.soupName == soup }.compactMap(\.modificationField)
  }

  /// The fields that the sync fetches into a soup or may send from it.
  package func fieldNames(of soup: String) -> [String] { target.kind.fieldNames(of: soup, self) }

  /// What the sync needs from the org; `objects` returns the objects whose records a soup contains.
  package func needs(objects: (_ soupName: String) -> Set<String>) -> [OrgNeed] {
    target.kind.needs(self, objects: objects)
  }
}

/// What a sync needs from one soup.
package struct SoupUse: Sendable, Hashable {
  package let soupName: String
  /// The paths by which records are looked up; each must be indexed.
  package let paths: [String]
  /// The member that has a record's modification date; nil if there is none.
  package var modificationField: String?
  /// Whether an app may edit the records, so that `__local__` must be indexed.
  package var isEdited = true
}
