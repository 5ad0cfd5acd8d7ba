import Crypto
import Ledger
import Salesforce

/// The field of an object that bears the identity of the edit that made a record.
///
/// The org keeps it unique, so that a create that is sent again is refused with the Id of the record
/// that the first one made: there is no doubt at all.
package struct CorrelationField: Sendable, Hashable {
  /// The sObject.
  package var sobject: String
  /// The field's API name.
  package var name: String

  /// A field of an object.
  package init(sobject: String, name: String) {
    self.sobject = sobject
    self.name = name
  }

  /// Says why a field cannot serve, as its org describes the object to who creates; nil when it can.
  package func problem(_ describe: Describe) -> String? {
    let place = "\(sobject).\(name)"
    guard let field = describe.field(name) else {
      return "there is no field \(place), or the user may not see it"
    }
    if field.type != "string" { return "\(place) is no text field" }
    if !field.isUnique { return "\(place) is not unique" }
    if !field.isExternalID { return "\(place) is no external id" }
    if !field.isCreateable { return "the user may not set \(place) on a new record" }
    if field.length < Self.valueLength {
      return "\(place) holds \(field.length) characters, and \(Self.valueLength) are needed"
    }
    return nil
  }

  /// How many characters a value has.
  package static let valueLength = prefix.utf8.count + digits
  private static let prefix = "attache-"
  private static let digits = 40

  /// The value of an identity: the same at each attempt and on each machine, another for every edit, and
  /// nothing can be read from it.
  static func value(of identity: [String]) -> String {
    // Each part with its length, so that no two identities make one text.
    let text = identity.map { "\($0.utf8.count):\($0)" }.joined(separator: ",")
    return prefix + Digest.sha256Hex(Array(text.utf8)).prefix(digits)
  }
}

/// A correlation field that cannot serve: nothing was sent.
package struct CorrelationError: Error, Sendable, CustomStringConvertible {
  /// What is wrong, and where.
  package var description: String
}

extension LedgerDatabase {
  /// What the value of an edit's correlation field is made of: the identity of what the device made, or
  /// of the record in whose place one is made anew.
  func identity(of edit: OpenEdit) throws -> [String]? {
    if let recordID = edit.recordID { return ["anew", recordID] }
    guard let creation = edit.creation else { return nil }
    let row = try connection.first(
      """
      SELECT stamp_id, store, soup, entry_id, created_ms, local_id FROM creation
      WHERE id = \(creation.id)
      """)
    guard let row else { return nil }
    return [
      "made", row[0].text ?? "", row[1].text ?? "", row[2].text ?? "",
      String(row[3].integer ?? 0), String(row[4].integer ?? 0), row[5].text ?? "",
    ]
  }
}
