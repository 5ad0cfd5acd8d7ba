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
  package static func restriction(of subject: Subject) -> Restriction? {
    guard subject.types.contains(subject.sobject.lowercased()) else {
      return Restriction(.objectType, subject.sobject)
    }
    return subject.isNew || subject.isGiven ? nil : Restriction(.record)
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

  /// Why something may not be written; an operator can lift the restriction for one edit.
  package struct Restriction: Sendable, Hashable {
    /// The restrictions, by the code that the ledger has.
    enum Code: String {
      case objectType, record, externalID, reference, indirectReference
    }

    let code: Code
    /// The object type or the field.
    let name: String
    /// The record that the restriction is about, in addition to the edit's own; of an indirect
    /// reference, its value.
    let recordID: String?

    init(_ code: Code, _ name: String = "", recordID: String? = nil) {
      (self.code, self.name, self.recordID) = (code, name, recordID)
    }

    /// The code with its subject, as in `decision.restriction`.
    private var text: String { [code.rawValue, name, recordID ?? ""].joined(separator: " ") }

    private var message: String {
      switch code {
      case .objectType: "none of the app's syncs for it names the object type \(name)"
      case .record: "the user was not issued the record in the soup where the device edited it"
      case .externalID: "its external ID is that of a record that was not issued to the user"
      case .reference: "\(name) refers to a record that was not issued to the user"
      case .indirectReference: "\(name) refers to a record by something other than its ID"
      }
    }

    /// The verdict that reports the restriction.
    package func settlement(of edit: OpenEdit) -> Settlement {
      var detail = OutcomeDetail.because(message)
      (detail.recordID, detail.otherID) = (edit.recordID, recordID)
      detail.restriction = text
      return Settlement(.exceedsUserAccess, detail)
    }

    /// Whether an operator has lifted the restriction for an edit.
    func isLifted(for edit: OpenEdit) -> Bool { edit.lifted.contains(text) }
  }

  /// The reasons why a write may not have its references; empty if it may.
  package static func restrictions(
    of references: [Reference], mayRefer: (_ id: String) -> Bool
  ) -> [Restriction] {
    references.compactMap { reference in
      if reference.isIndirect, !reference.former.contains(reference.value) {
        return Restriction(.indirectReference, reference.field, recordID: reference.value.text)
      }
      guard let id = reference.newID, !mayRefer(id) else { return nil }
      return Restriction(.reference, reference.field, recordID: id)
    }
  }
}
