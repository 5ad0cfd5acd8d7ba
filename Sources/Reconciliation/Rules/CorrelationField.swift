import Crypto
import Ledger
import Salesforce

/// The field of an object that identifies the edit that created a record.
///
/// The field is unique in the org, so a repeated create is refused with the ID of the record that
/// the first one created, and its outcome is never unconfirmed.
package struct CorrelationField: Sendable, Hashable {
  package var sobject: String
  package var name: String

  package init(sobject: String, name: String) {
    self.sobject = sobject
    self.name = name
  }

  package func problem(_ describe: Describe) -> String? {
    let place = "\(sobject).\(name)"
    guard let field = describe.field(name) else {
      return "there is no field \(place), or the user may not see it"
    }
    if field.type != "string" { return "\(place) is not a text field" }
    if !field.isUnique { return "\(place) is not unique" }
    if !field.isExternalID { return "\(place) is not an external ID" }
    if !field.isCreateable { return "the user may not set \(place) on a new record" }
    if field.length < Self.valueLength {
      return "\(place) is \(field.length) characters long, and \(Self.valueLength) are needed"
    }
    return nil
  }

  /// The length of a value, in characters.
  package static let valueLength = prefix.utf8.count + digits
  private static let prefix = "attache-"
  private static let digits = 40

  /// The value for an identity.
  ///
  /// It is the same for each attempt and on each machine, differs between edits, and reveals
  /// nothing about them.
  static func value(of identity: [String]) -> String {
    // Each part is prefixed with its length, so that two identities never have the same text.
    let text = identity.map { "\($0.utf8.count):\($0)" }.joined(separator: ",")
    return prefix + Digest.sha256Hex(Array(text.utf8)).prefix(digits)
  }
}

/// A correlation field that cannot be used; nothing was sent.
package struct CorrelationError: Error, Sendable, CustomStringConvertible {
  /// What is wrong, and where.
  package var description: String
}

extension LedgerDatabase {
  /// The identity that an edit's correlation value is derived from: that of the device's creation,
  /// or of the record that is being recreated.
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
