import JSON
import Salesforce

/// A sync down that updates the records already in a soup.
public struct RefreshTarget: ListedFields, ConfiguredDownKind {
  /// The maximum number of IDs in one query, and the SDK's default.
  public static let mostIds = RequestLimits.idsPerQuery

  /// The object type.
  public var sobjectType: String
  /// The fields to fetch.
  public var fieldlist: [String]
  /// The soup whose records are fetched again.
  public var soupName: String
  /// The number of IDs in one query, at most 500.
  public var countIdsPerSoql: Int
  /// The field names and classes common to all targets.
  public var fields: TargetFields

  /// Creates a target.
  public init(
    sobjectType: String, fieldlist: [String], soupName: String, countIdsPerSoql: Int = mostIds,
    fields: TargetFields = TargetFields()
  ) {
    self.sobjectType = sobjectType
    self.fieldlist = fieldlist
    self.soupName = soupName
    self.countIdsPerSoql = min(countIdsPerSoql, Self.mostIds)
    self.fields = fields
  }

  /// The SDK for iOS misspells the name of the last key; a file written for it has that spelling.
  static let misspelled = "coundIdsPerSoql"
  static let type = "refresh"
  static let keys = ["sobjectType", "fieldlist", "soupName", "countIdsPerSoql", misspelled]

  init?(_ object: ConfigurationObject) {
    let type = object.objectName("sobjectType")
    let list = object.fields("fieldlist")
    let soup = object.requiredText("soupName", "\"accounts\"")
    let ios = object.count(Self.misspelled, most: Self.mostIds)
    let count =
      object.member("countIdsPerSoql") == nil
      ? ios : object.count("countIdsPerSoql", most: Self.mostIds)
    guard let type, let list, let soup else { return nil }
    self.init(
      sobjectType: type, fieldlist: list, soupName: soup, countIdsPerSoql: count,
      fields: TargetFields(object))
  }

  /// The target as a device stores it, with both the key that Android reads and the one that iOS
  /// reads.
  package var json: JSONValue {
    fields.json(
      type: Self.type,
      [
        ("sobjectType", .string(sobjectType)), ("fieldlist", JSONValue(fieldlist)),
        ("soupName", .string(soupName)), ("countIdsPerSoql", JSONValue(countIdsPerSoql)),
        (Self.misspelled, JSONValue(countIdsPerSoql)),
      ])
  }

  func soups(soupName: String) -> [SoupUse] {
    (soupName == self.soupName ? [soupName] : [soupName, self.soupName]).map {
      SoupUse(
        soupName: $0, paths: [idFieldName], modificationField: modificationDateFieldName)
    }
  }

  func objectTypes(of soup: String, soupName: String) -> [String] {
    [soupName, self.soupName].contains(soup) ? [sobjectType] : []
  }
}
