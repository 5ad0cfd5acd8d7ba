import JSON

/// The soups of the histories' pipeline.
///
/// Two of them have the same records, and the last one has their details.
struct Soup: Sendable, Hashable {
  let name: String
  let sobject: String
  /// The field that permanently marks a record; it is never edited.
  let marker: String
  let listed: [String]
  let unlisted: String

  static let all = [
    Soup(
      name: "accounts", sobject: "Account", marker: "Name", listed: ["Phone", "Fax"],
      unlisted: "Description"),
    Soup(
      name: "calls", sobject: "Account", marker: "Name", listed: ["Website", "Phone"],
      unlisted: "Site"),
    Soup(
      name: "visits", sobject: "Site_Visit__c", marker: "Name",
      listed: ["Notes__c", "Equipment__c"], unlisted: "Legacy_Id__c"),
    Soup(
      name: "contacts", sobject: "Contact", marker: "LastName", listed: ["Title", "Department"],
      unlisted: "Description"),
  ]

  /// The address of an account: a value of several parts, which no request can write.
  static let compound = "BillingAddress"

  /// The text of a field of an element; that of an address is its city.
  static func text(_ field: String, of element: JSONObject) -> String? {
    field == compound ? element[field]?["city"]?.string : element[field]?.string
  }

  /// The fields that a device has of a record, in addition to its ID and date.
  func fields(upserts: Bool) -> [String] {
    let more: [String] =
      switch name {
      case "accounts": [Self.compound]
      case "visits": upserts ? ["External_Id__c"] : []
      case "contacts": ["AccountId"]
      default: []
      }
    return [marker] + listed + [unlisted] + more
  }

  /// The fields that an update sends.
  func sent(_ setup: HistorySetup) -> [String] {
    listed + (setup.moves && name == "contacts" ? ["AccountId"] : [])
  }

  static func fields(of sobject: String) -> [String] {
    var names: [String] = []
    for soup in all where soup.sobject == sobject {
      for name in soup.listed + [soup.unlisted] where !names.contains(name) { names.append(name) }
    }
    return names
  }

  static func named(_ name: String) -> Soup? { all.first { $0.name == name } }

  /// The fields that a phone edits: the listed ones and, less often, the unlisted one.
  func field(_ number: Int) -> String {
    let place = number % (listed.count * 2 + 1)
    return place == listed.count * 2 ? unlisted : listed[place % listed.count]
  }
}
