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
  package var soups: [SoupUse] {
    switch target {
    case .briefcase(let target):
      target.infos.map { SoupUse(soupName: $0.soupName, paths: [$0.idFieldName]) }
    case .parentChildren(let target): target.family.soups
    case .syncUp(let target):
      target.family?.soups ?? [SoupUse(soupName: soupName, paths: [target.idFieldName])]
    case .soql(let target): [SoupUse(soupName: soupName, paths: [target.idFieldName])]
    case .sosl(let target): [SoupUse(soupName: soupName, paths: [target.idFieldName])]
    case .mru(let target): [SoupUse(soupName: soupName, paths: [target.idFieldName])]
    case .refresh(let target):
      [SoupUse(soupName: soupName, paths: [target.idFieldName])]
        + (target.soupName == soupName
          ? [] : [SoupUse(soupName: target.soupName, paths: [target.idFieldName])])
    case .layout, .metadata:
      [SoupUse(soupName: soupName, paths: ["Id"], isEdited: false)]
    case .custom: []
    }
  }
}

/// What a sync needs of one soup.
package struct SoupUse: Sendable, Hashable {
  /// The soup.
  package let soupName: String
  /// The paths by which records are looked up: each must be indexed.
  package let paths: [String]
  /// Whether an app may edit the records, so that `__local__` must be indexed.
  package var isEdited = true
}
