import JSON
import Salesforce

/// Local changes that go to the org in one request.
struct UpRequest: Sendable {
  /// The most sObject types of one collection.
  private static let mostTypes = 10

  /// The kind of request.
  let kind: SyncUpTarget.Kind
  /// The changes, in their order on the wire.
  let sends: [UpSend]
  /// The field by which creates are upserted.
  let externalIDField: String

  /// The requests that carry a batch.
  ///
  /// Collections are of one operation each, in the SDK's order; a composite carries all operations.
  static func requests(_ batch: [UpSend], _ target: SyncUpTarget) -> [UpRequest] {
    let groups: [[UpSend]]
    switch target.kind {
    case .single, .parentChildren, .custom: groups = batch.map { [$0] }
    case .batch: groups = [batch]
    case .collection:
      groups = UpSend.Action.allCases.flatMap { action in
        split(batch.filter { $0.action == action }, action)
      }
    }
    return groups.filter { !$0.isEmpty }.map {
      UpRequest(
        kind: target.kind, sends: $0, externalIDField: target.externalIdFieldName ?? "")
    }
  }

  /// Records of one type follow each other: the org works in runs of them, and takes ten.
  ///
  /// An upsert names its type in the address; a delete does not mind.
  private static func split(_ sends: [UpSend], _ action: UpSend.Action) -> [[UpSend]] {
    if action == .delete { return [sends] }
    var types: [String] = []
    for send in sends where !types.contains(send.record.objectType) {
      types.append(send.record.objectType)
    }
    let perRequest = action == .upsert ? 1 : mostTypes
    return stride(from: 0, to: types.count, by: perRequest).map { start in
      types[start..<min(start + perRequest, types.count)].flatMap { type in
        sends.filter { $0.record.objectType == type }
      }
    }
  }

  /// Sends it; one answer for each change, in their order.
  func send(_ session: Session) async throws(OrgError) -> [RowAnswer] {
    switch kind {
    case .collection: try await sendCollection(session)
    case .batch: try await sendComposite(session)
    case .single, .parentChildren, .custom: [try await sendRow(session)]
    }
  }

  private func sendCollection(_ session: Session) async throws(OrgError) -> [RowAnswer] {
    let records = sends.map { $0.collectionRecord(externalIDField: externalIDField) }
    let results: [SaveResult] =
      switch sends[0].action {
      case .create: try await session.create(records)
      case .update: try await session.update(records)
      case .upsert:
        try await session.upsert(
          sends[0].record.objectType, externalIDField: externalIDField, records)
      case .delete: try await session.delete(sends.map { $0.recordID ?? "" })
      }
    return zip(sends, results).map { RowAnswer($1, recordID: $0.recordID) }
  }

  private func sendComposite(_ session: Session) async throws(OrgError) -> [RowAnswer] {
    let requests = sends.enumerated().map { index, send in
      let type = send.record.objectType
      let id = send.recordID ?? ""
      let (method, path): (String, String) =
        switch send.action {
        case .create: ("POST", session.rowPath(type))
        case .update: ("PATCH", session.rowPath(type, id))
        case .delete: ("DELETE", session.rowPath(type, id))
        case .upsert:
          ("PATCH", session.rowPath(type, externalIDField, send.record.externalID?.text ?? ""))
        }
      return CompositeRequest(
        method: method, url: path, referenceId: "row\(index)",
        body: send.action == .delete ? nil : send.body, unmodifiedSince: send.unmodifiedSince)
    }
    let results = try await session.composite(requests)
    return zip(sends, results).map { RowAnswer($1, recordID: $0.recordID) }
  }

  private func sendRow(_ session: Session) async throws(OrgError) -> RowAnswer {
    let send = sends[0]
    let type = send.record.objectType
    let id = send.recordID ?? ""
    return switch send.action {
    case .create: try await session.createRow(type, send.body)
    case .update:
      try await session.updateRow(
        type, id: id, send.body, unmodifiedSince: send.unmodifiedSince)
    case .upsert:
      try await session.upsertRow(
        type, externalIDField: externalIDField, value: send.record.externalID?.text ?? "",
        send.body)
    case .delete: try await session.deleteRow(type, id: id)
    }
  }
}
