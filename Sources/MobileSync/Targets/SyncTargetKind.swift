import JSON

/// A kind of target: what its configuration says, and what that needs of a store and of an org.
///
/// A new kind is a type of its own, with a file here; how a sync down of it fetches is in another one
/// (`SyncDownTarget`). `SyncTarget.downKinds` lists those that a file may name.
protocol SyncTargetKind: Sendable, Hashable {
  /// The target as a file has it.
  var json: JSONValue { get }
  /// The texts in which `:name` stands for a value.
  var queries: [String] { get }

  /// The target as a device stores it once it has constructed it: defaults explicit, query
  /// completed.
  ///
  /// `variables` are SOQL literals for `:name` in a query; a device knows nothing of them.
  func stored(variables: [String: String]) throws(SyncError) -> JSONValue

  /// What it needs of the soups that it reads or writes; `soupName` is the one that its definition names.
  func soups(soupName: String) -> [SoupUse]

  /// The objects whose records it puts into a soup.
  func objects(in soup: String, soupName: String) -> [String]

  /// The object types that it names for a soup.
  func objectTypes(of soup: String, soupName: String) -> [String]

  /// The fields that it fetches into a soup, or may send from it.
  func fieldNames(of soup: String, _ sync: SyncDefinition) -> [String]

  /// What it needs of the org's objects; `objects` are those whose records a soup holds.
  func needs(
    _ sync: SyncDefinition, objects: (_ soupName: String) -> Set<String>
  ) -> [OrgNeed]
}

/// A kind of sync down that a file may name.
protocol ConfiguredDownKind: SyncTargetKind {
  /// The word for it under `type`.
  static var type: String { get }
  /// The keys of its own.
  static var keys: [String] { get }

  /// Reads a target; nil with problems when it is none.
  init?(_ object: ConfigurationObject)
}

extension SyncTargetKind {
  var queries: [String] { [] }

  /// As the file has it.
  func stored(variables: [String: String]) throws(SyncError) -> JSONValue { json }

  /// None.
  func soups(soupName: String) -> [SoupUse] { [] }

  /// None.
  func objects(in soup: String, soupName: String) -> [String] { [] }

  /// Those whose records it puts there.
  func objectTypes(of soup: String, soupName: String) -> [String] {
    objects(in: soup, soupName: soupName)
  }

  /// None.
  func fieldNames(of soup: String, _ sync: SyncDefinition) -> [String] { [] }

  /// Nothing.
  func needs(
    _ sync: SyncDefinition, objects: (_ soupName: String) -> Set<String>
  ) -> [OrgNeed] { [] }
}

extension SyncTargetKind where Self: FieldNaming {
  /// The soup that the definition names.
  func soups(soupName: String) -> [SoupUse] {
    [
      SoupUse(
        soupName: soupName, paths: [idFieldName], modificationField: modificationDateFieldName)
    ]
  }
}

/// A kind that names one object type and the fields to fetch of it.
protocol ListedFields: FieldNaming, SyncTargetKind {
  /// The object type.
  var sobjectType: String { get }
  /// The fields to fetch.
  var fieldlist: [String] { get }
}

extension ListedFields {
  /// The object, in the soup that the definition names.
  func objects(in soup: String, soupName: String) -> [String] {
    soup == soupName ? [sobjectType] : []
  }

  /// The fields, in the soup that the definition names.
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
