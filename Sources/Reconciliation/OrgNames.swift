import Ledger

/// The names of objects and users in an org, and its address, as far as a run has read them.
package struct OrgNames: Sendable {
  /// The org's labels for its objects, by API name.
  package let labels: [String: String]
  /// The names of users, by ID: user names for the pipeline's users, names in the org for others.
  package let people: [String: String]
  /// The org's address for browsers, without a trailing slash; empty if no run has recorded it, or
  /// if the org has no web pages.
  package let instance: String

  /// Reads the names from a ledger.
  package init(_ state: LedgerDatabase) throws {
    labels = try state.labels()
    people = try state.people()
    instance = Self.pages(of: try state.instance) ?? ""
  }

  /// The org's label for an object, or its API name split into words.
  package func label(_ object: String) -> String {
    if let label = labels[object] { return label }
    var words = ""
    let name = object.hasSuffix("__c") ? object.dropLast(3) : object[...]
    for character in name {
      let isNew = character.isUppercase && words.last?.isLowercase == true
      if isNew || character == "_" { words += " " }
      if character != "_" { words.append(character) }
    }
    return words
  }

  /// The address of a record in the org for a browser; nil if unknown.
  package func address(of recordID: String?) -> String? {
    guard let recordID, !recordID.isEmpty, !instance.isEmpty else { return nil }
    return recordID.utf8.allSatisfy(Self.isLetterOrDigit) ? instance + "/" + recordID : nil
  }

  /// The address of an org, if it has web pages.
  ///
  /// Every Salesforce org is on HTTPS. The embedded org has no pages: it is on plain HTTP, or on
  /// this machine.
  package static func pages(of instance: String?) -> String? {
    guard let instance, instance.hasPrefix("https://") else { return nil }
    let isHere = ["localhost", "127.", "[::1]"].contains { instance.hasPrefix("https://" + $0) }
    return isHere ? nil : instance
  }

  /// The address of the recycle bin of an org with web pages, for a browser.
  static func recycleBin(of instance: String) -> String {
    instance + "/lightning/o/DeleteEvent/home"
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: false
    }
  }
}
