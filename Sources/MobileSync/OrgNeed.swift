/// An object or a field of the org that a sync needs; it is validated against the org's describes
/// before anything is fetched or sent.
package struct OrgNeed: Sendable, Hashable {
  /// How the sync uses a field.
  package enum Use: Sendable, Hashable {
    /// The field's values are fetched.
    case read
    /// A query filters by the field.
    case filter
    /// The field is sent in new records.
    case create
    /// The field is sent in updates.
    case update
    /// New records are upserted by this field.
    case externalID
    /// Records are identified by the field.
    case id
    /// The field has the record's modification date.
    case modificationDate
    /// The field refers to the parent, which is a record of this object.
    case parent(String)

    /// Whether the field is also looked up in the rows of a soup.
    package var isOfRows: Bool {
      switch self {
      case .read, .filter: false
      case .create, .update, .externalID, .id, .modificationDate, .parent: true
      }
    }
  }

  /// The object's API name as spelled in the file.
  package var sobject: String
  /// The field, or a relationship path such as `Account.Name`; nil for the object alone.
  package var field: String?
  package var use = Use.read
  /// The keys below the sync's definition that lead to the text that names the field.
  package var keys: [String]
}

extension OrgNeed {
  /// Whether a user who reads the field has what the sync needs, if the field is that of another
  /// user's description.
  package var isOfReading: Bool {
    switch use {
    case .read, .filter, .id, .modificationDate: true
    case .create, .update, .externalID, .parent: false
    }
  }

  /// An object, the fields that are read from it, and the fields by which a sync identifies its
  /// records.
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
