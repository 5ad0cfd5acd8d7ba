import JSON
import SmartStore

/// One locally changed element, as read when it was processed.
package struct SyncUpRecord: Sendable {
  package let soupEntryID: Int64
  /// The row's creation time, in milliseconds.
  let created: Int64
  /// The element's own bytes.
  package let bytes: [UInt8]
  /// The record's ID; one that a device generated starts with `local_`.
  package let id: String?
  /// The sObject type; empty if the element has none.
  package let objectType: String
  /// The modification date of the copy that was changed.
  package let modificationDate: ModificationDate?
  package let state: LocalState
  /// The value of the target's external ID, as text and as JSON.
  let externalID: (text: String, json: [UInt8])?

  /// The operation to send.
  ///
  /// Difference from the SDK: a local ID proves that the org does not know the record, whatever the
  /// flags are. The SDK sends an update of it, which fails.
  package var operation: SyncOperation {
    let operation = SyncOperation(state)
    guard let id, LocalFields.isLocalID(id) else { return operation }
    return switch operation {
    case .update: .create
    case .delete: .dropLocally
    default: operation
    }
  }

  /// The ID that an org assigned.
  var serverID: String? {
    guard let id, !id.isEmpty, !LocalFields.isLocalID(id) else { return nil }
    return id
  }

  init(_ element: borrowing StoredElement, platform: Platform) {
    soupEntryID = element.soupEntryID
    created = element.created
    bytes = Array(element.bytes)
    id = element.text(0)
    objectType = element.text(1) ?? ""
    modificationDate = element.text(2).map(ModificationDate.init)
    state = LocalState(
      isLocal: element.isSet(3, on: platform), isCreated: element.isSet(4, on: platform),
      isUpdated: element.isSet(5, on: platform), isDeleted: element.isSet(6, on: platform))
    externalID = element.fields.count > 7 ? Self.externalID(element) : nil
  }

  private static func externalID(
    _ element: borrowing StoredElement
  ) -> (text: String, json: [UInt8])? {
    let raw = Array(element.raw(7))
    switch element.fields[7].kind {
    case .number: return (String(decoding: raw, as: UTF8.self), raw)
    case .string, .escapedString:
      return element.text(7).map { ($0, [0x22] + raw + [0x22]) }
    default: return nil
    }
  }

  /// The paths to read, in the order that `init` expects.
  static func paths(_ target: SyncUpTarget) -> [String] {
    [
      target.idFieldName, LocalFields.objectType, target.modificationDateFieldName,
      LocalFields.local, LocalFields.created, LocalFields.updated, LocalFields.deleted,
    ] + [target.externalIdFieldName].compactMap { $0 }
  }
}
