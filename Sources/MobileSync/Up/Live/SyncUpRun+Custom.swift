import JSON
import Salesforce

extension SyncUpTarget {
  /// Combines a custom target's code with its configuration.
  init(_ custom: any CustomSyncUpTarget, _ target: CustomTarget) {
    func list(_ key: String) -> [String]? { target.json[key]?.array?.compactMap(\.string) }
    self.init(
      kind: .custom, createFieldlist: custom.createFieldlist ?? list("createFieldlist"),
      updateFieldlist: custom.updateFieldlist ?? list("updateFieldlist"),
      fields: TargetFields(reading: { target.json[$0]?.string }))
  }
}

// The parts of a sync up that use a custom target.
extension SyncUpRun {
  /// Passes a change to the target; an error that it throws fails the sync.
  func carry(
    _ write: SyncUpWrite, _ custom: any CustomSyncUpTarget
  ) async throws(SyncError) -> RowAnswer {
    let type = write.objectType
    let fields = String(decoding: write.body, as: UTF8.self)
    let result: CustomSaveResult
    do {
      switch write.action {
      case .create, .upsert:
        result = try await custom.createOnServer(
          objectType: type, fields: fields, org: context.org)
      case .update:
        result = try await custom.updateOnServer(
          objectType: type, objectId: write.recordID ?? "", fields: fields, org: context.org)
      case .delete:
        result = try await custom.deleteOnServer(
          objectType: type, objectId: write.recordID ?? "", org: context.org)
      case .undelete:
        return .refused(RowRefusal(code: nil, message: "a custom target cannot undelete a record"))
      }
    } catch {
      throw SyncError.custom(error)
    }
    switch result {
    case .saved(nil) where write.recordID == nil:
      return .unknown("the custom target reported success without a record ID")
    case .saved(let id): return .done(id: id ?? write.recordID, created: nil)
    case .notFound:
      return .absent(refusal("NOT_FOUND", "The requested resource does not exist"))
    case .refused(let code, let message): return .refused(refusal(code, message))
    }
  }

  private func refusal(_ code: String, _ message: String) -> RowRefusal {
    let error: JSONValue = [
      ["message": .string(message), "errorCode": .string(code), "fields": []]
    ]
    return RowRefusal(code: code, message: message, raw: error.text)
  }

  /// Returns what the target knows about a record; unknown if it throws.
  func serverState(
    of id: String, _ type: String, _ custom: any CustomSyncUpTarget
  ) async throws(SyncError) -> ServerState {
    do {
      switch try await custom.fetchLastModificationDate(
        objectType: type, objectId: id, org: context.org)
      {
      case .modified(let date): return .alive(ModificationDate(date))
      case .deleted: return .deleted
      case .unknown: return .unknown
      }
    } catch {
      let failure = SyncError.custom(error)
      if failure.code == .cancelled { throw failure }
      context.warn("the modification date of a \(type) could not be read: \(failure.message)")
      return .unknown
    }
  }
}
