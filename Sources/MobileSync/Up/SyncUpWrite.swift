import JSON
import Salesforce

/// What is asked of the org.
package enum SyncUpAction: String, Sendable, Hashable, CaseIterable {
  // In the order in which the SDK sends them.
  case create, update, upsert, delete
  /// What no sync up asks for, and an undo does: a record is taken out of the recycle bin.
  case undelete
}

/// One write as it goes on the wire, whichever journal it stands in.
package struct SyncUpWrite: Sendable {
  /// The value by which an upsert names its record.
  package struct ExternalKey: Sendable {
    /// The field's name.
    package var field: String
    /// The value as text, for an address or a query.
    package var text: String
    /// The value as JSON.
    package var json: [UInt8]

    /// A value of a field.
    package init(field: String, text: String, json: [UInt8]) {
      self.field = field
      self.text = text
      self.json = json
    }
  }

  /// What is asked of the org.
  package var action: SyncUpAction
  /// The sObject type.
  package var objectType: String
  /// The record that is meant; nil for a new one.
  package var recordID: String?
  /// How an upsert names its record.
  package var externalKey: ExternalKey?
  /// The fields, as the members of an object without its braces.
  package var fields: [UInt8]
  /// The moment after which the record must not have been modified.
  package var unmodifiedSince: Int64?
  /// Whether it is the parent of the tree that its request carries.
  package var isParent = false
  /// The field of a child that gets the id of the parent, where the same request makes that.
  package var parentField: String?

  /// A write.
  package init(
    _ action: SyncUpAction, _ objectType: String, recordID: String? = nil,
    externalKey: ExternalKey? = nil, fields: [UInt8] = [], unmodifiedSince: Int64? = nil
  ) {
    self.action = action
    self.objectType = objectType
    self.recordID = recordID
    self.externalKey = externalKey
    self.fields = fields
    self.unmodifiedSince = unmodifiedSince
  }

  /// The fields as an object.
  package var body: [UInt8] { [0x7B] + fields + [0x7D] }

  /// Adds a field.
  package mutating func set(_ field: String, _ value: String) {
    var writer = JSONWriter(reserving: fields.count + 64)
    if !fields.isEmpty { writer.raw(fields) }
    writer.name(field)
    writer.string(value)
    fields = writer.bytes
  }

  /// The object of a collection: the type, what names the record, the fields.
  package var collectionRecord: [UInt8] {
    var writer = JSONWriter(reserving: fields.count + 96)
    writer.beginObject()
    writer.name("attributes")
    writer.beginObject()
    writer.name("type")
    writer.string(objectType)
    writer.endObject()
    if let recordID {
      writer.name("Id")
      writer.string(recordID)
    }
    if let externalKey {
      writer.name(externalKey.field)
      writer.raw(externalKey.json)
    }
    if !fields.isEmpty { writer.raw(fields) }
    writer.endObject()
    return writer.bytes
  }

  /// The write as a request inside a composite one.
  func compositeRequest(_ session: Session, referenceId: String) -> CompositeRequest {
    let (method, path): (String, String) =
      switch action {
      case .create: ("POST", session.rowPath(objectType))
      case .update: ("PATCH", session.rowPath(objectType, recordID ?? ""))
      case .delete: ("DELETE", session.rowPath(objectType, recordID ?? ""))
      // No composite brings a record back; it can tell whether it is there.
      case .undelete: ("GET", session.rowPath(objectType, recordID ?? ""))
      case .upsert:
        (
          "PATCH",
          session.rowPath(objectType, externalKey?.field ?? "", externalKey?.text ?? "")
        )
      }
    return CompositeRequest(
      method: method, url: path, referenceId: referenceId,
      body: action == .delete || action == .undelete ? nil : body, unmodifiedSince: unmodifiedSince)
  }

  /// Sends the write as a request of its own.
  func sendRow(_ session: Session) async throws(OrgError) -> RowAnswer {
    switch action {
    case .create: try await session.createRow(objectType, body)
    case .update:
      try await session.updateRow(
        objectType, id: recordID ?? "", body, unmodifiedSince: unmodifiedSince)
    case .upsert:
      try await session.upsertRow(
        objectType, externalIDField: externalKey?.field ?? "", value: externalKey?.text ?? "", body)
    case .delete: try await session.deleteRow(objectType, id: recordID ?? "")
    case .undelete: try await session.undelete([recordID ?? ""])[0]
    }
  }
}
