import JSON
import Salesforce

/// One object type of a briefcase target.
public struct BriefcaseObjectInfo: Sendable, Hashable {
  /// The soup for the records.
  public var soupName: String
  /// The object type.
  public var sobjectType: String
  /// The fields to fetch.
  public var fieldlist: [String]
  /// The field that identifies a record.
  public var idFieldName: String
  /// The field that has a record's modification date.
  public var modificationDateFieldName: String

  /// Creates the info of an object type.
  public init(
    soupName: String, sobjectType: String, fieldlist: [String],
    idFieldName: String = TargetFields().idFieldName,
    modificationDateFieldName: String = TargetFields().modificationDateFieldName
  ) {
    self.soupName = soupName
    self.sobjectType = sobjectType
    self.fieldlist = fieldlist
    self.idFieldName = idFieldName
    self.modificationDateFieldName = modificationDateFieldName
  }

  init?(_ node: JSONNode, _ reader: ConfigurationReader) {
    let keys = [
      "soupName", "sobjectType", "fieldlist", "idFieldName", "modificationDateFieldName",
    ]
    guard let object = reader.object(node, known: keys, what: "an info of a briefcase target")
    else { return nil }
    let soup = object.requiredText("soupName", "\"accounts\"")
    let type = object.objectName("sobjectType")
    let list = object.fields("fieldlist")
    let fields = TargetFields(object)
    guard let soup, let type, let list else { return nil }
    self.init(
      soupName: soup, sobjectType: type, fieldlist: list, idFieldName: fields.idFieldName,
      modificationDateFieldName: fields.modificationDateFieldName)
  }

  var json: JSONValue {
    [
      "sobjectType": .string(sobjectType), "fieldlist": JSONValue(fieldlist),
      "soupName": .string(soupName), "idFieldName": .string(idFieldName),
      "modificationDateFieldName": .string(modificationDateFieldName),
    ]
  }
}

/// A sync down of the records that briefcases assign to the user.
public struct BriefcaseTarget: ConfiguredDownKind {
  /// The maximum number of IDs per request, and the SDK's default.
  public static let mostIds = RequestLimits.retrieve

  /// The object types, each with its soup and fields.
  public var infos: [BriefcaseObjectInfo]
  /// The number of IDs per request, at most 2,000.
  public var countIdsPerRetrieve: Int
  /// The field names and classes common to all targets; the infos' field names take precedence.
  public var fields: TargetFields

  /// Creates a target.
  public init(
    infos: [BriefcaseObjectInfo], countIdsPerRetrieve: Int = mostIds,
    fields: TargetFields = TargetFields()
  ) {
    self.infos = infos
    self.countIdsPerRetrieve = min(countIdsPerRetrieve, Self.mostIds)
    self.fields = fields
  }

  static let type = "briefcase"
  static let keys = ["infos", "countIdsPerRetrieve"]

  init?(_ object: ConfigurationObject) {
    let example =
      "[{\"sobjectType\": \"Account\", \"fieldlist\": [\"Name\"], \"soupName\": \"accounts\"}]"
    guard let node = object.required("infos", example), let elements = object.elements("infos")
    else { return nil }
    if elements.isEmpty {
      object.reader.report(
        node, "a briefcase target without infos fetches nothing", "add an info: \(example)")
    }
    let infos = elements.map { BriefcaseObjectInfo($0, object.reader) }
    Self.checkDoubles(Array(zip(infos, elements)), object.reader)
    let count = object.count("countIdsPerRetrieve", most: Self.mostIds)
    let fields = TargetFields(object)
    guard !infos.contains(nil) else { return nil }
    self.init(infos: infos.compactMap(\.self), countIdsPerRetrieve: count, fields: fields)
  }

  private static func checkDoubles(
    _ infos: [(BriefcaseObjectInfo?, JSONNode)], _ reader: ConfigurationReader
  ) {
    // Stored targets were accepted before.
    guard !reader.isLenient else { return }
    var soups: [String: (type: String, line: Int)] = [:]
    for case (let info?, let node) in infos {
      let type = info.sobjectType.lowercased()
      // Two infos of one type are combined or fill different soups.
      if let other = soups[info.soupName], other.type != type, let place = node["soupName"] {
        reader.report(
          place,
          "two infos fill the soup \(JSONText.quoted(info.soupName)); "
            + "a device that cleans ghosts of one type deletes the other's records",
          "use a separate soup for each; the other is on line \(other.line)")
      }
      soups[info.soupName] = soups[info.soupName] ?? (type, node.line)
    }
  }

  package var json: JSONValue {
    fields.json(
      type: Self.type,
      [
        ("infos", .array(infos.map(\.json))),
        ("countIdsPerRetrieve", JSONValue(countIdsPerRetrieve)),
      ])
  }

  func soups(soupName: String) -> [SoupUse] {
    infos.map {
      SoupUse(
        soupName: $0.soupName, paths: [$0.idFieldName],
        modificationField: $0.modificationDateFieldName)
    }
  }

  func objects(in soup: String, soupName: String) -> [String] {
    infos.filter { $0.soupName == soup }.map(\.sobjectType)
  }

  func fieldNames(of soup: String, _ sync: SyncDefinition) -> [String] {
    infos.filter { $0.soupName == soup }.flatMap(\.fieldlist)
  }

  func needs(
    _ sync: SyncDefinition, objects: (_ soupName: String) -> Set<String>
  ) -> [OrgNeed] {
    infos.enumerated().flatMap { place, info in
      let keys = ["target", "infos", "\(place)"]
      return OrgNeed.fetching(
        info.sobjectType, keys + ["sobjectType"], reads: info.fieldlist, keys + ["fieldlist"],
        TargetFields(
          idFieldName: info.idFieldName,
          modificationDateFieldName: info.modificationDateFieldName))
    }
  }
}
