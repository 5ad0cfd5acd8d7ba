import Ledger
import Salesforce

/// The names of objects and users in an org, and its address, as far as a run has read them.
package struct OrgNames: Sendable {
  /// The org's labels for its objects, by API name.
  package let labels: [String: String]
  /// The names of users, by ID: user names for the pipeline's users, names in the org for others.
  package let people: [String: String]
  /// The org's address for browsers, without a trailing slash; empty if no run has recorded it, or
  /// if the org has no web pages.
  package let instance: String

  package init(_ state: LedgerDatabase) throws {
    (labels, people) = try state.displayNames()
    instance = try OrgAddress.webPages(of: state.noted(.instance)) ?? ""
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
    let isPlain = recordID.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    return isPlain ? instance + "/" + recordID : nil
  }
}
