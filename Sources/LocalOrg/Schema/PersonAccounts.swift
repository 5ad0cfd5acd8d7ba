import JSON

/// Person accounts: an account that is also a contact, in an org whose setup enables them.
///
/// The org makes the contact together with the account, and keeps what both have alike. The account
/// has the contact's other fields under names with `Person`. Clients change the account only.
enum PersonAccounts {
  private static let nameParts = ["LastName", "FirstName", "Salutation"]

  /// The contact's fields that an account has under their own names.
  private static let shared = nameParts + ["Phone", "Fax", "OwnerId"]

  /// The contact's fields that an account has with `Person` before their names.
  private static let prefixed =
    [
      "Email", "MobilePhone", "HomePhone", "OtherPhone", "AssistantPhone", "Title", "Department",
      "AssistantName", "Birthdate", "LeadSource", "DoNotCall", "HasOptedOutOfEmail",
      "HasOptedOutOfFax",
    ]
    + ["Mailing", "Other"].flatMap { prefix in AddressPart.allCases.map { prefix + $0.suffix } }

  /// The account's fields with the contact's fields that have the same values.
  static let pairs: [(account: String, contact: String)] =
    shared.map { ($0, $0) } + prefixed.map { ("Person" + $0, $0) }

  /// The account's fields of business accounts, and of person accounts, only.
  static let businessField = "Name"
  static let personFields = Set(nameParts + prefixed.map { "Person" + $0 })

  /// Whether the members of a create make a person account: they have a last name.
  static func isPerson(_ fields: JSONObject, _ object: ObjectSchema) -> Bool {
    object.name == "Account" && object.field("IsPersonAccount") != nil
      && fields.contains { name, value in name.lowercased() == "lastname" && !value.isNull }
  }

  /// Why the members of a create or an update do not fit the kind of account; nil if they do.
  static func problem(_ input: RowInput, isPerson: Bool) -> OrgError? {
    guard input.object.name == "Account" else { return nil }
    let unfit = input.values.keys.filter {
      isPerson ? $0 == businessField : personFields.contains($0)
    }
    if unfit.isEmpty { return nil }
    return OrgError(
      code: "INVALID_FIELD_FOR_INSERT_UPDATE",
      message: "Account: bad field names on insert/update call: "
        + unfit.sorted().joined(separator: ", "),
      fields: unfit.sorted())
  }

  /// The error for a change of the contact of a person account.
  static func refusal(_ object: ObjectSchema) -> OrgError {
    OrgError(
      code: "INVALID_OPERATION",
      message: "\(object.label) of a person account: change the account instead")
  }

  private static let flag: FieldSchema =
    FieldSchema.flag("IsPersonAccount", "Is Person Account").readOnly

  /// Returns the catalog of an org with person accounts.
  static func enabled(in catalog: Catalog) -> Catalog {
    guard let contact = catalog.object("Contact") else { return catalog }
    return Catalog(
      catalog.objects.map { object in
        switch object.name {
        case "Account":
          object.with(
            rights: object.rights, fields: object.fields.map(named) + fields(from: contact))
        case "Contact": object.with(rights: object.rights, fields: object.fields + [flag])
        default: object
        }
      })
  }

  /// The name of an account is a whole of which a person account has the parts.
  private static func named(_ field: FieldSchema) -> FieldSchema {
    guard field.name == businessField else { return field }
    var field = field
    field.compoundFieldName = businessField
    return field
  }

  /// The fields that an account has from its contact.
  private static func fields(from contact: ObjectSchema) -> [FieldSchema] {
    let names = shared.prefix(3) + prefixed + ["MailingAddress", "OtherAddress"]
    let found = names.compactMap { contact.field($0) }.map { field in
      guard let name = pairs.first(where: { $0.contact == field.name })?.account ?? compound(field)
      else { return field }
      var field = field.renamed(name)
      field.compoundFieldName = field.compoundFieldName.map { $0 == "Name" ? $0 : "Person" + $0 }
      field.nillable = field.nillable || field.name == "LastName"
      field.idLookup = false
      return field
    }
    let link = FieldSchema.lookup(
      "PersonContactId", "Contact ID", ["Contact"], "PersonContact"
    ).readOnly
    return [flag, link] + found
  }

  private static func compound(_ field: FieldSchema) -> String? {
    field.isCompound ? "Person" + field.name : nil
  }
}
