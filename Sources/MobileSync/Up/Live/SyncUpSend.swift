import JSON

/// A changed element with its write.
package struct SyncUpSend: Sendable, SyncUpChange {
  package let record: SyncUpRecord
  package var write: SyncUpWrite
  /// Whether the record existed and was deleted.
  let isRecreated: Bool
}

/// Creates the request bodies of a sync up, reading the field list of each action once.
package struct SyncUpBodies {
  private let target: SyncUpTarget
  private let options: SyncOptions
  /// The sObject type, if one applies to all elements, whatever type they name.
  private let objectType: String?
  private var prepared: [SyncUpAction: RecordBody] = [:]

  package init(_ target: SyncUpTarget, _ options: SyncOptions, objectType: String? = nil) {
    self.target = target
    self.options = options
    self.objectType = objectType
  }

  /// Returns what to send for an element; `operation` is a create, an update or a delete.
  package mutating func send(
    _ record: SyncUpRecord, _ operation: SyncOperation, isRecreated: Bool = false,
    unmodifiedSince: Int64? = nil
  ) throws(SyncError) -> SyncUpSend {
    var key: SyncUpWrite.ExternalKey?
    let action: SyncUpAction
    switch operation {
    case .delete: action = .delete
    case .create:
      if FieldSelection.upserts(operation, externalID: record.externalID?.text),
        let field = target.externalIdFieldName, let value = record.externalID
      {
        key = SyncUpWrite.ExternalKey(field: field, text: value.text, json: value.json)
      }
      action = key == nil ? .create : .upsert
    case .update, .none, .dropLocally: action = .update
    }
    let meant = action == .update || action == .delete
    return SyncUpSend(
      record: record,
      write: SyncUpWrite(
        action, objectType ?? record.objectType, recordID: meant ? record.serverID : nil,
        externalKey: key, fields: try fields(of: record, action),
        unmodifiedSince: unmodifiedSince),
      isRecreated: isRecreated)
  }

  /// Returns the outcome of an element whose operation the sync up names no fields for; nil if the
  /// error ends the sync, because nothing can be sent without a list.
  func end(_ error: SyncError, _ kind: SyncUpTarget.Kind) -> SyncUpSettled.End? {
    // The children of a family have lists in any case.
    let isOfFamily = objectType != nil
    guard error.code == .definition,
      isOfFamily || FieldSelection.isOfOneOperation(target, options)
    else { return nil }
    return SyncUpSettled.End.noFields(error, kind)
  }

  private mutating func fields(
    of record: SyncUpRecord, _ action: SyncUpAction
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
        .store, "the element \(record.soupEntryID) is not a JSON object: \(error.message)")
    }
    return writer.bytes
  }

  private func body(_ action: SyncUpAction) throws(SyncError) -> RecordBody {
    let operation: SyncOperation = action == .update ? .update : .create
    var fields = try FieldSelection.fields(for: operation, target: target, options: options)
    // An upsert has its key next to the fields or in the URL.
    if action == .upsert { fields.removeAll { $0 == target.externalIdFieldName } }
    return RecordBody(fields: fields)
  }
}
