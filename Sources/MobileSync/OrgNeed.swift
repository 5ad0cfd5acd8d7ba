/// What a sync needs of the org's objects and fields, so that it can be held against what the org says of
/// them before anything is fetched or sent.
package struct OrgNeed: Sendable, Hashable {
  /// What is done with a field.
  package enum Use: Sendable, Hashable {
    /// Its values are fetched.
    case read
    /// A query compares it.
    case filter
    /// It is sent in new records.
    case create
    /// It is sent in changes.
    case update
    /// New records are sent under it.
    case externalID
    /// Records are known by it.
    case id
    /// It says when a record was changed.
    case modificationDate
    /// It names the parent, which is of this object.
    case parent(String)

    /// Whether the name is looked for in the rows of a soup, and not by the org alone.
    package var isOfRows: Bool {
      switch self {
      case .read, .filter: false
      case .create, .update, .externalID, .id, .modificationDate, .parent: true
      }
    }
  }

  /// The object's API name as the file has it.
  package var sobject: String
  /// The field, or the way to one such as `Account.Name`; nil for the object alone.
  package var field: String?
  /// What is done with the field.
  package var use = Use.read
  /// The keys below the sync's definition that lead to the text which names it.
  package var keys: [String]
}

extension OrgNeed {
  /// An object, the fields that are read of it, and those by which a sync knows its records.
  static func fetching(
    _ sobject: String, _ place: [String], reads: [String], _ list: [String], _ fields: TargetFields,
    namedIn section: [String] = ["target"]
  ) -> [OrgNeed] {
    [OrgNeed(sobject: sobject, keys: place)]
      + reads.map { OrgNeed(sobject: sobject, field: $0, keys: list) }
      + [
        OrgNeed(
          sobject: sobject, field: fields.idFieldName, use: .id, keys: section + ["idFieldName"]),
        OrgNeed(
          sobject: sobject, field: fields.modificationDateFieldName, use: .modificationDate,
          keys: section + ["modificationDateFieldName"]),
      ]
  }
}
