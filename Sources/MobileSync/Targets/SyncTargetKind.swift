import JSON

/// A kind of target: its configuration, and what that needs from a store and from an org.
///
/// Each kind is a separate type with a file here; another file implements how a sync down of it
/// fetches (`SyncDownTarget`). `SyncTarget.downKinds` lists the kinds that a file may name.
protocol SyncTargetKind: Sendable, Hashable {
  /// The target as written in a file.
  var json: JSONValue { get }
  /// The texts in which `:name` is a variable.
  var queries: [String] { get }

  /// Returns the target as a device stores it once it was constructed, with explicit defaults and a
  /// completed query.
  ///
  /// `variables` are SOQL literals for `:name` in a query; a device does not know them.
  func stored(variables: [String: String]) throws(SyncError) -> JSONValue

  /// Returns what it needs from the soups that it reads or writes; `soupName` is the one named by
  /// its definition.
  func soups(soupName: String) -> [SoupUse]

  /// Returns the objects whose records it writes to a soup.
  func objects(in soup: String, soupName: String) -> [String]

  /// Returns the object types that it names for a soup.
  func objectTypes(of soup: String, soupName: String) -> [String]

  /// Returns the fields that it fetches into a soup or may send from it.
  func fieldNames(of soup: String, _ sync: SyncDefinition) -> [String]

  /// Returns what it needs from the org's objects; `objects` returns the objects whose records a
  /// soup contains.
  func needs(
    _ sync: SyncDefinition, objects: (_ soupName: String) -> Set<String>
  ) -> [OrgNeed]
}

/// A kind of sync down that a file may name.
protocol ConfiguredDownKind: SyncTargetKind {
  /// Its value of `type`.
  static var type: String { get }
  /// Its specific keys.
  static var keys: [String] { get }

  /// Reads a target; nil, with problems reported, if it is invalid.
  init?(_ object: ConfigurationObject)
}

extension SyncTargetKind {
  var queries: [String] { [] }

  func stored(variables: [String: String]) throws(SyncError) -> JSONValue { json }

  func soups(soupName: String) -> [SoupUse] { [] }

  func objects(in soup: String, soupName: String) -> [String] { [] }

  /// The objects whose records it writes there.
  func objectTypes(of soup: String, soupName: String) -> [String] {
    objects(in: soup, soupName: soupName)
  }

  func fieldNames(of soup: String, _ sync: SyncDefinition) -> [String] { [] }

  func needs(
    _ sync: SyncDefinition, objects: (_ soupName: String) -> Set<String>
  ) -> [OrgNeed] { [] }
}

extension SyncTargetKind where Self: FieldNaming {
  /// The soup named by the definition.
  func soups(soupName: String) -> [SoupUse] {
    [
      SoupUse(
        soupName: soupName, paths: [idFieldName], modificationField: modificationDateFieldName)
    ]
  }
}

/// A kind with one object type and a list of fields to fetch.
protocol ListedFields: FieldNaming, SyncTargetKind {
  var sobjectType: String { get }
  /// The fields to fetch.
  var fieldlist: [String] { get }
}

extension ListedFields {
  /// The object, if the soup is the one named by the definition.
  func objects(in soup: String, soupName: String) -> [String] {
    soup == soupName ? [sobjectType] : []
  }

  /// The fields, if the soup is the one named by the definition.
  func fieldNames(of soup: String, _ sync: SyncDefinition) -> [String] {
    soup == sync.soupName ? fieldlist : []
  }

  /// The object and the fields.
  func needs(
    _ sync: SyncDefinition, objects: (_ soupName: String) -> Set<String>
  ) -> [OrgNeed] {
    OrgNeed.fetching(
      sobjectType, ["target", "sobjectType"], reads: fieldlist, ["target", "fieldlist"], fields)
  }
}
