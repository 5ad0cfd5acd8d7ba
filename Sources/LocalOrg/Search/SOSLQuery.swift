/// The group of fields to search.
enum SearchGroup: String {
  case all = "ALL"
  case name = "NAME"
  case email = "EMAIL"
  case phone = "PHONE"
  case sidebar = "SIDEBAR"

  /// Returns the fields of an object in the group.
  func fields(of object: ObjectSchema) -> [FieldSchema] {
    object.storedFields.filter { field in
      switch self {
      case .all:
        field.type.isText
          && ![.picklist, .multipicklist, .encryptedstring].contains(field.type)
      case .name: field.nameField
      case .email: field.type == .email
      case .phone: field.type == .phone
      case .sidebar: field.nameField || field.type == .email || field.type == .phone
      }
    }
  }
}

/// A parsed search.
struct SOSLQuery {
  var expression: SearchExpression
  var group = SearchGroup.all
  /// The objects to search, each as a query on its matches; nil for all objects with only their
  /// IDs.
  var returning: [SOQLQuery]?
  var limit: Int?
}
