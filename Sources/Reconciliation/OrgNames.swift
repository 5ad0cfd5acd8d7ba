import Ledger

/// What people call the things of an org, and where they find them: as far as a run has seen it.
package struct OrgNames: Sendable {
  /// What the org calls its objects, by API name.
  package let labels: [String: String]
  /// How everybody is called who is known by an Id: the pipeline's users by their user names, others by their
  /// names in the org.
  package let people: [String: String]
  /// Where people open the org, without a slash at its end; empty where no run has told it.
  package let instance: String

  /// What a ledger knows.
  package init(_ state: LedgerDatabase) throws {
    labels = try state.labels()
    people = try state.people()
    instance = try state.instance ?? ""
  }

  /// What the org calls an object; else its API name in words.
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

  /// The address of a record in the org, for a person to open; nil where it is not known.
  package func address(of recordID: String?) -> String? {
    guard let recordID, !recordID.isEmpty, !instance.isEmpty else { return nil }
    return recordID.utf8.allSatisfy(Self.isLetterOrDigit) ? instance + "/" + recordID : nil
  }

  /// The address of an org's recycle bin, for a person to open.
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
