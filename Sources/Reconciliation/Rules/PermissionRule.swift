import JSON
import Ledger
import Salesforce

/// Decides what an edit may change if it is not sent as its own user.
///
/// Salesforce cannot decide this: the device chooses the record, its type and its references, and
/// the integration user has permissions that the device's user lacks. So an edit is limited to what
/// its user was issued: the object types of the soup's syncs, the records issued with the soup, and
/// references to records that the user was issued or created.
package enum PermissionRule {
  /// What is known about the edit's record.
  package struct Subject: Sendable {
    /// The element's `attributes.type`.
    var sobject: String
    /// The object types that the soup's syncs name, in lower case.
    var types: Set<String>
    /// Whether it is a new record.
    var isNew: Bool
    /// Whether the record was issued to the user with the soup, or created by the user's own edit.
    var isGiven: Bool

    package init(sobject: String, types: Set<String>, isNew: Bool, isGiven: Bool) {
      self.sobject = sobject
      self.types = types
      self.isNew = isNew
      self.isGiven = isGiven
    }
  }

  /// Why the record may not be written; nil if it may be.
  package static func refusal(of subject: Subject) -> String? {
    guard subject.types.contains(subject.sobject.lowercased()) else {
      return "none of the app's syncs for it names the object type \(subject.sobject)"
    }
    if subject.isNew || subject.isGiven { return nil }
    return "the user was not issued the record in the soup where the device edited it"
  }

  /// A field of a write that may have another record's ID.
  package struct Reference: Sendable, Hashable {
    var field: String
    /// The value to write.
    var value: JSONValue
    /// The value that the device was issued, and the org's current value.
    var former: [JSONValue] = []

    /// The field's new ID; nil if the value stays the same or is cleared.
    var newID: String? {
      guard let id = value.string?.recordID18 else { return nil }
      return former.contains { $0.string?.recordID18 == id } ? nil : id
    }

    /// Whether it refers to a record by something other than its ID, such as an external ID.
    var isIndirect: Bool {
      switch value {
      case .object, .array: true
      case .null, .bool, .number, .string: false
      }
    }
  }

  /// The fields of a write that may refer to a record.
  ///
  /// If the org does not describe a field, any value that looks like an ID counts. Record types do
  /// not count, because they are not issued to anyone.
  package static func references(
    in payload: JSONObject, of describe: Describe?, former: (String) -> [JSONValue]
  ) -> [Reference] {
    payload.compactMap { name, value in
      let reference = Reference(field: name, value: value, former: former(name))
      if reference.isIndirect { return reference }
      guard name.lowercased() != "recordtypeid" else { return nil }
      if let field = describe?.field(name), field.type != "reference" { return nil }
      return reference
    }
  }

  /// Why something may not be written; an operator can lift the limit for one edit.
  package struct Limit: Sendable, Hashable {
    var words: String
    /// The record that the limit is about, in addition to the edit's own.
    var recordID: String?

    /// The verdict that reports the limit.
    func settlement(of edit: OpenEdit) -> Settlement {
      var detail = OutcomeDetail.because(words)
      detail.recordID = edit.recordID
      detail.otherID = recordID
      return Settlement(.exceedsUserAccess, detail)
    }

    /// Whether an operator has lifted the limit for an edit.
    func isLifted(for edit: OpenEdit) -> Bool {
      edit.lifted.contains(settlement(of: edit).detail.limit)
    }
  }

  /// The reasons why a write may not have its references; empty if it may.
  package static func limits(
    of references: [Reference], mayRefer: (_ id: String) -> Bool
  ) -> [Limit] {
    references.compactMap { reference in
      if reference.isIndirect, !reference.former.contains(reference.value) {
        // The message names the record.
        return Limit(
          words: "\(reference.field) refers to a record by something other than its ID",
          recordID: reference.value.text)
      }
      guard let id = reference.newID, !mayRefer(id) else { return nil }
      return Limit(
        words: "\(reference.field) refers to a record that was not issued to the user",
        recordID: id)
    }
  }
}
