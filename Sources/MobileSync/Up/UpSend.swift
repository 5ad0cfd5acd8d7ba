import JSON
import Salesforce

/// A local change with what is to be sent of it.
struct UpSend: Sendable {
  /// What is asked of the org.
  enum Action: Int, Sendable, Hashable, CaseIterable {
    // In the order in which the SDK sends them.
    case create, update, upsert, delete
  }

  /// The element.
  let record: UpRecord
  /// What is asked of the org.
  let action: Action
  /// The fields, as the members of an object without its braces.
  let fields: [UInt8]
  /// Whether the record had been there and was deleted.
  let isRecreated: Bool
  /// The moment after which the record must not have been modified.
  var unmodifiedSince: Int64?

  /// The id of the record that is meant; nil for a new one.
  var recordID: String? {
    switch action {
    case .update, .delete: record.serverID
    case .create, .upsert: nil
    }
  }

  /// The fields as an object.
  var body: [UInt8] { [0x7B] + fields + [0x7D] }

  /// The object of a collection: the type, what names the record, the fields.
  func collectionRecord(externalIDField: String) -> [UInt8] {
    var writer = JSONWriter(reserving: fields.count + 96)
    writer.beginObject()
    writer.name("attributes")
    writer.beginObject()
    writer.name("type")
    writer.string(record.objectType)
    writer.endObject()
    if let recordID {
      writer.name("Id")
      writer.string(recordID)
    }
    if action == .upsert, let key = record.externalID {
      writer.name(externalIDField)
      writer.raw(key.json)
    }
    if !fields.isEmpty { writer.raw(fields) }
    writer.endObject()
    return writer.bytes
  }
}

/// Makes the bodies of what is sent.
struct UpBodies {
  private let target: SyncUpTarget
  private let options: SyncOptions
  private var prepared: [UpSend.Action: RecordBody] = [:]

  init(_ target: SyncUpTarget, _ options: SyncOptions) {
    self.target = target
    self.options = options
  }

  /// What is to be sent of an element; `operation` is a create, an update or a delete.
  mutating func send(
    _ record: UpRecord, _ operation: SyncOperation, isRecreated: Bool = false
  ) throws(SyncError) -> UpSend {
    let action: UpSend.Action
    switch operation {
    case .delete: action = .delete
    case .create:
      let upserts = FieldSelection.upserts(operation, externalID: record.externalID?.text)
      action = upserts ? .upsert : .create
    case .update, .none, .dropLocally: action = .update
    }
    return UpSend(
      record: record, action: action, fields: try fields(of: record, action),
      isRecreated: isRecreated)
  }

  private mutating func fields(
    of record: UpRecord, _ action: UpSend.Action
  ) throws(SyncError) -> [UInt8] {
    if action == .delete { return [] }
    let body: RecordBody
    if let known = prepared[action] {
      body = known
    } else {
      body = try self.body(action)
      prepared[action] = body
    }
    var writer = JSONWriter(reserving: record.bytes.count)
    do {
      try body.append(record.bytes, to: &writer)
    } catch {
      throw SyncError(
        .store, "the element \(record.soupEntryID) is no JSON object: \(error.message)")
    }
    return writer.bytes
  }

  private func body(_ action: UpSend.Action) throws(SyncError) -> RecordBody {
    let operation: SyncOperation = action == .update ? .update : .create
    var fields = try FieldSelection.fields(for: operation, target: target, options: options)
    // An upsert names its key beside the fields, or in the address.
    if action == .upsert { fields.removeAll { $0 == target.externalIdFieldName } }
    return RecordBody(fields: fields)
  }
}
