import JSON
import Salesforce

extension SyncUpSettled.End {
  /// What an answer means for an element.
  init(
    _ answer: RowAnswer, action: SyncUpAction, kind: SyncUpTarget.Kind, mode: MergeMode
  ) {
    self =
      switch answer {
      case .done(let id, _): action == .delete ? .deleted : .sent(id: id)
      case .changed: .left(.changedOnServer)
      case .absent(let refusal): MissingRecordRule.end(refusal, action, kind, mode)
      case .locked(let refusal), .refused(let refusal), .unprocessed(let refusal):
        .refused(refusal, kind)
      case .unknown(let words): .unconfirmed(words)
      }
  }

  /// The org's words are kept beside the element.
  static func refused(_ refusal: RowRefusal) -> SyncUpSettled.End {
    .failed(code: refusal.code ?? "", message: refusal.message, error: refusal.raw)
  }

  /// The same where the org may have refused the whole request, and wrote no error of the row.
  private static func refused(
    _ refusal: RowRefusal, _ kind: SyncUpTarget.Kind
  ) -> SyncUpSettled.End {
    var refusal = refusal
    refusal.raw =
      refusal.raw ?? rowError(refusal.code ?? "", refusal.message, refusal.fields, kind)
    return refused(refusal)
  }

  /// What an org says of an update or a delete that names no record.
  static func noID(_ kind: SyncUpTarget.Kind) -> SyncUpSettled.End {
    let code = "MISSING_ARGUMENT"
    let message = "Id not specified in an update call"
    return .failed(code: code, message: message, error: rowError(code, message, [], kind))
  }

  /// What is said of an element that does not say what it is: its name becomes part of addresses.
  static func noType(_ kind: SyncUpTarget.Kind) -> SyncUpSettled.End {
    let code = "INVALID_TYPE"
    let message =
      "attributes.type of the element is no name of an sObject: nothing was sent; the app has to set it"
    return .failed(code: code, message: message, error: rowError(code, message, [], kind))
  }

  /// The error of a row as the SDK keeps that of a target's kind.
  private static func rowError(
    _ code: String, _ message: String, _ fields: [String], _ kind: SyncUpTarget.Kind
  ) -> String {
    let key = kind == .collection ? "statusCode" : "errorCode"
    let error: JSONValue = [
      key: .string(code), "message": .string(message), "fields": JSONValue(fields),
    ]
    return (kind == .single ? [error] as JSONValue : error).text
  }
}

extension SyncUpSettled {
  /// The row of the report that tells of it.
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
