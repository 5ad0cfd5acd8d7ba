import JSON
import Salesforce

/// The requested action.
package enum SyncUpAction: String, Sendable, Hashable, CaseIterable {
  // In the order in which the SDK sends them.
  case create, update, upsert, delete
  /// Restores a record from the recycle bin; used by an undo, never by a sync up.
  case undelete
}

/// One write as sent, independent of the journal.
package struct SyncUpWrite: Sendable {
  /// The value by which an upsert identifies its record.
  package struct ExternalKey: Sendable {
    package var field: String
    /// The value as text, for a URL or a query.
    package var text: String
    package var json: [UInt8]

    package init(field: String, text: String, json: [UInt8]) {
      self.field = field
      self.text = text
      self.json = json
    }
  }

  /// The requested action.
  package var action: SyncUpAction
  package var objectType: String
  /// The record to change; nil for a new one, and for an upsert by its key.
  ///
  /// An upsert that has a condition names its record by its ID, because the org checks conditions
  /// only there. Its request is that of an update.
  package var recordID: String?
  package var externalKey: ExternalKey?
  /// The fields, as the members of an object without its braces.
  package var fields: [UInt8]
  /// The time after which the record must not have been modified.
  package var unmodifiedSince: Int64?
  /// Whether it is the parent of the tree in its request.
  package var isParent = false
  /// The child's field that gets the parent's ID if the same request creates the parent.
  package var parentField: String?
  /// Whether it has a separate request, because an earlier request with others was answered as too
  /// large.
  package var goesAlone = false

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

  package var body: [UInt8] { [0x7B] + fields + [0x7D] }

  package mutating func set(_ field: String, _ value: String) {
    var writer = JSONWriter(reserving: fields.count + 64)
    if !fields.isEmpty { writer.raw(fields) }
    writer.name(field)
    writer.string(value)
    fields = writer.bytes
  }

  /// The object in a collection: the type, the record's identifier, and the fields.
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

  func compositeRequest(_ session: Session, referenceId: String) -> CompositeRequest {
    let (method, path): (String, String) =
      switch action {
      case .create: ("POST", session.rowPath(objectType))
      case .upsert where recordID == nil:
        (
          "PATCH",
          session.rowPath(objectType, externalKey?.field ?? "", externalKey?.text ?? "")
        )
      case .update, .upsert: ("PATCH", session.rowPath(objectType, recordID ?? ""))
      case .delete: ("DELETE", session.rowPath(objectType, recordID ?? ""))
      // No composite undeletes a record, but it can check whether the record exists.
      case .undelete: ("GET", session.rowPath(objectType, recordID ?? ""))
      }
    return CompositeRequest(
      method: method, url: path, referenceId: referenceId,
      body: action == .delete || action == .undelete ? nil : body, unmodifiedSince: unmodifiedSince)
  }

  func sendRow(_ session: Session) async throws(OrgError) -> RowAnswer {
    switch action {
    case .create: try await session.createRow(objectType, body)
    case .upsert where recordID == nil:
      try await session.upsertRow(
        objectType, externalIDField: externalKey?.field ?? "", value: externalKey?.text ?? "", body)
    case .update, .upsert:
      try await session.updateRow(
        objectType, id: recordID ?? "", body, unmodifiedSince: unmodifiedSince)
    case .delete: try await session.deleteRow(objectType, id: recordID ?? "")
    case .undelete: try await session.undelete([recordID ?? ""])[0]
    }
  }
}
