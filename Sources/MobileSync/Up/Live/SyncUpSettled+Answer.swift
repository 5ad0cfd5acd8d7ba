import JSON
import Salesforce

extension SyncUpSettled.End {
  /// Creates the outcome of an element from the org's response.
  init(
    _ answer: RowAnswer, action: SyncUpAction, kind: SyncUpTarget.Kind, mode: MergeMode
  ) {
    self =
      switch answer {
      case .done(let id, _): action == .delete ? .deleted : .sent(id: id)
      case .changed: .left(.changedOnServer)
      case .absent(let refusal): MissingRecordRule.end(refusal, action, kind, mode)
      case .locked(let refusal), .refused(let refusal), .unprocessed(let refusal):
        // The org may have refused the whole request.
        .refused(refusal, kind)
      case .unknown(let words): .unconfirmed(words)
      }
  }

  /// The org's message is stored in the element.
  static func refused(_ refusal: RowRefusal) -> SyncUpSettled.End {
    .failed(code: refusal.code ?? "", message: refusal.message, error: refusal.raw)
  }

  /// A refusal of which the org returned no error for the row: it gets the form in which the SDK
  /// stores one for the kind of target.
  static func refused(_ refusal: RowRefusal, _ kind: SyncUpTarget.Kind) -> SyncUpSettled.End {
    var refusal = refusal
    let key = kind == .collection ? "statusCode" : "errorCode"
    let error: JSONValue = [
      key: .string(refusal.code ?? ""), "message": .string(refusal.message),
      "fields": JSONValue(refusal.fields),
    ]
    refusal.raw = refusal.raw ?? (kind == .single ? [error] as JSONValue : error).text
    return refused(refusal)
  }

  /// The org's error for an update or a delete without an ID.
  static func noID(_ kind: SyncUpTarget.Kind) -> SyncUpSettled.End {
    refused(
      RowRefusal(code: "MISSING_ARGUMENT", message: "Id not specified in an update call"), kind)
  }

  /// The error for an element without a type, whose name would become part of URLs.
  static func noType(_ kind: SyncUpTarget.Kind) -> SyncUpSettled.End {
    let message =
      "attributes.type of the element is not an sObject name: nothing was sent; the app must set it"
    return refused(RowRefusal(code: "INVALID_TYPE", message: message), kind)
  }

  /// The error for an element whose operation the sync up names no fields for.
  static func noFields(_ error: SyncError, _ kind: SyncUpTarget.Kind) -> SyncUpSettled.End {
    let message = error.message + (error.fix.map { "; \($0)" } ?? "")
    return refused(RowRefusal(code: "MISSING_ARGUMENT", message: message), kind)
  }
}

extension SyncUpSettled {
  func reportRow(soupName: String) -> SyncReport.Record {
    var id = record.id
    let outcome: SyncReport.Record.Outcome
    switch end {
    case .sent(let newID):
      id = newID ?? id
      outcome = isRecreated ? .recreated : .sent
    case .deleted: outcome = .sent
    case .removed: outcome = .removed
    case .failed(let code, let message, _): outcome = .failed(code: code, message: message)
    case .left(let reason): outcome = .left(reason)
    case .unconfirmed(let words): outcome = .unconfirmed(words)
    }
    return SyncReport.Record(
      soupName: soupName, soupEntryID: record.soupEntryID, id: id, operation: operation,
      outcome: outcome)
  }
}
