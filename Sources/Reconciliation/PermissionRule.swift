import JSON
import Ledger
import Salesforce

/// What an edit may do that is not sent by its own user.
///
/// Salesforce cannot decide there: the device chooses the record, its type and what it refers to, and
/// the integration user has rights that the device's user has not. So an edit stays within what its
/// user was given: the object types of the soup's syncs, the records that the soup was issued with,
/// and references to records that its user was issued or made.
package enum PermissionRule {
  /// What is known of the record that an edit is about.
  package struct Subject: Sendable {
    /// `attributes.type` of the element.
    var sobject: String
    /// The object types that the syncs of the soup name, in lower case.
    var types: Set<String>
    /// Whether it is a new record.
    var isNew: Bool
    /// Whether the soup was issued to the user with the record, or the user's own edit made it.
    var isGiven: Bool

    package init(sobject: String, types: Set<String>, isNew: Bool, isGiven: Bool) {
      self.sobject = sobject
      self.types = types
      self.isNew = isNew
      self.isGiven = isGiven
    }
  }

  /// Why the record may not be written; nil where it may.
  package static func refusal(of subject: Subject) -> String? {
    guard subject.types.contains(subject.sobject.lowercased()) else {
      return "no sync that the app has for it names the object type \(subject.sobject)"
    }
    if subject.isNew || subject.isGiven { return nil }
    return "the user was not issued the record where the device edited it"
  }

  /// A field of a write that may hold another record's Id.
  package struct Reference: Sendable, Hashable {
    /// The field.
    var field: String
    /// What the field is to hold.
    var value: JSONValue
    /// What the device was given in it, and what the org holds now.
    var former: [JSONValue] = []

    /// The Id that the field is to hold anew; nil where it stays as it was, or is to be empty.
    var newID: String? {
      guard let id = value.string?.recordID18 else { return nil }
      return former.contains { $0.string?.recordID18 == id } ? nil : id
    }

    /// Whether it names a record by something else than its Id, such as an external id.
    var isIndirect: Bool {
      switch value {
      case .object, .array: true
      case .null, .bool, .number, .string: false
      }
    }
  }

  /// The fields of a write that may refer to a record.
  ///
  /// Where the org does not say what a field is, whatever looks like an Id counts. A record type is a
  /// kind of record, and no record that anybody is issued.
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

  /// Why something may not be written: what a person may lift for one edit.
  package struct Limit: Sendable, Hashable {
    /// The reason.
    var words: String
    /// The record that it is about, beside the edit's own.
    var recordID: String?

    /// The verdict that tells of it.
    func settlement(of edit: OpenEdit) -> Settlement {
      var detail = OutcomeDetail.because(words)
      detail.recordID = edit.recordID
      detail.otherID = recordID
      return Settlement(.notPermitted, detail)
    }

    /// Says whether a person has lifted it for an edit.
    func isLifted(for edit: OpenEdit) -> Bool {
      edit.lifted.contains(settlement(of: edit).detail.limit)
    }
  }

  /// Why a write may not refer to what it refers to; nothing where it may.
  package static func limits(
    of references: [Reference], mayRefer: (_ id: String) -> Bool
  ) -> [Limit] {
    references.compactMap { reference in
      if reference.isIndirect, !reference.former.contains(reference.value) {
        // Which record that is, its text says.
        return Limit(
          words: "\(reference.field) names a record by something else than its Id",
          recordID: reference.value.text)
      }
      guard let id = reference.newID, !mayRefer(id) else { return nil }
      return Limit(
        words: "\(reference.field) refers to a record that was not issued to the user",
        recordID: id)
    }
  }
}
