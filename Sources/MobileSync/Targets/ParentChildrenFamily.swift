import JSON

/// The relationship between children and their parent.
public enum RelationshipType: String, Sendable, Hashable, CaseIterable {
  /// Children are deleted with their parent.
  case masterDetail = "MASTER_DETAIL"
  /// Children remain when their parent is deleted.
  case lookup = "LOOKUP"
}

/// The parent or the children of a parent-children target.
public struct FamilyMember: Sendable, Hashable {
  /// The object type.
  public var sobjectType: String
  /// The soup.
  public var soupName: String
  /// The field that identifies a record.
  public var idFieldName = TargetFields().idFieldName
  /// The field that has a record's modification date.
  public var modificationDateFieldName = TargetFields().modificationDateFieldName
  /// The external ID by which creates are upserted.
  public var externalIdFieldName: String?
  /// The relationship's name in a nested query; for children only.
  public var sobjectTypePlural: String?
  /// The field that refers to the parent; for children only.
  public var parentIdFieldName: String?

  /// Creates a member.
  public init(sobjectType: String, soupName: String) {
    self.sobjectType = sobjectType
    self.soupName = soupName
  }

  init?(_ node: JSONNode, isParent: Bool, _ reader: ConfigurationReader) {
    let own = isParent ? [] : ["sobjectTypePlural", "parentIdFieldName"]
    let keys = [
      "sobjectType", "soupName", "idFieldName", "modificationDateFieldName", "externalIdFieldName",
    ]
    let what = isParent ? "the section parent" : "the section children"
    guard let object = reader.object(node, known: keys + own, what: what) else { return nil }
    let type = object.objectName("sobjectType")
    let soup = object.requiredText("soupName", "\"accounts\"")
    let plural = isParent ? nil : object.requiredText("sobjectTypePlural", "\"Contacts\"")
    let parentId = isParent ? nil : object.requiredText("parentIdFieldName", "\"AccountId\"")
    guard let type, let soup, isParent || plural != nil && parentId != nil else { return nil }
    self.init(sobjectType: type, soupName: soup)
    let fields = TargetFields(object)
    idFieldName = fields.idFieldName
    modificationDateFieldName = fields.modificationDateFieldName
    externalIdFieldName = object.text("externalIdFieldName")
    sobjectTypePlural = plural
    parentIdFieldName = parentId
  }

  var json: JSONValue {
    var object: JSONObject = [
      "sobjectType": .string(sobjectType), "soupName": .string(soupName),
      "idFieldName": .string(idFieldName),
      "modificationDateFieldName": .string(modificationDateFieldName),
    ]
    object["externalIdFieldName"] = externalIdFieldName.map(JSONValue.string)
    object["sobjectTypePlural"] = sobjectTypePlural.map(JSONValue.string)
    object["parentIdFieldName"] = parentIdFieldName.map(JSONValue.string)
    return .object(object)
  }
}

/// The part of a parent-children target that both directions share.
public struct ParentChildrenFamily: Sendable, Hashable {
  /// The parents.
  public var parent: FamilyMember
  /// The children.
  public var children: FamilyMember
  /// The relationship between children and their parent.
  public var relationshipType: RelationshipType

  /// Creates a family.
  public init(parent: FamilyMember, children: FamilyMember, relationshipType: RelationshipType) {
    self.parent = parent
    self.children = children
    self.relationshipType = relationshipType
  }

  static let keys = [
    "parent", "children", "relationshipType", "childrenCreateFieldlist", "childrenUpdateFieldlist",
  ]

  init?(_ object: ConfigurationObject) {
    let parent = object.required(
      "parent", "{\"sobjectType\": \"Account\", \"soupName\": \"accounts\"}"
    )
    .flatMap { FamilyMember($0, isParent: true, object.reader) }
    let children = object.required("children", "{ … }")
      .flatMap { FamilyMember($0, isParent: false, object.reader) }
    let type = object.required("relationshipType", "\"MASTER_DETAIL\"").flatMap {
      object.reader.word($0, "a relationship type", as: RelationshipType.self)
    }
    guard let parent, let children, let type else { return nil }
    self.init(parent: parent, children: children, relationshipType: type)
  }

  var soups: [SoupUse] {
    [
      SoupUse(
        soupName: parent.soupName, paths: [parent.idFieldName],
        modificationField: parent.modificationDateFieldName),
      SoupUse(
        soupName: children.soupName,
        paths: [children.idFieldName] + (children.parentIdFieldName.map { [$0] } ?? []),
        modificationField: children.modificationDateFieldName),
    ]
  }

  /// Returns the object types of the members in a soup.
  func types(of soup: String) -> [String] {
    [parent, children].filter { $0.soupName == soup }.map(\.sobjectType)
  }

  /// The org's fields that link children to their parent.
  var link: [OrgNeed] {
    guard let field = children.parentIdFieldName else { return [] }
    return [
      OrgNeed(
        sobject: children.sobjectType, field: field, use: .parent(parent.sobjectType),
        keys: ["target", "children", "parentIdFieldName"])
    ]
  }
}
