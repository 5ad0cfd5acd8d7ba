import HTTP
import JSON

/// The reason the org did not process a row.
package struct RowRefusal: Sendable, Hashable {
  /// The org's error code; nil if there is none.
  package var code: String?
  /// The org's message.
  package var message: String
  /// The fields that the org names.
  package var fields: [String]
  /// The error as the org wrote it: an object, or for a single row the whole body.
  package var raw: String?

  package init(code: String?, message: String, fields: [String] = [], raw: String? = nil) {
    self.code = code
    self.message = message
    self.fields = fields
    self.raw = raw
  }

  /// Creates the rejection of a row from that of its request.
  package init(_ error: OrgError) {
    self.init(
      code: error.code ?? error.status.map { "HTTP_\($0)" }, message: error.message,
      fields: error.fields)
  }

  /// Whether the record, or one that it refers to, does not exist or is hidden.
  package var saysMissing: Bool {
    code.map(ErrorCodes.missing.contains) ?? false
  }
}

/// The org's answer for one row.
package enum RowAnswer: Sendable, Hashable {
  /// Success; `created` is the outcome of an upsert.
  case done(id: String?, created: Bool?)
  /// The record was modified after the date of the condition.
  case changed
  /// The record does not exist, as far as the sender can see.
  case absent(RowRefusal)
  /// Another writer has locked the record.
  case locked(RowRefusal)
  /// The org rejected the row.
  case refused(RowRefusal)
  /// The outcome is unknown.
  case unknown(String)
  /// The org has not processed the row: it can be sent in another way.
  case unprocessed(RowRefusal)

  /// Creates the answer from a result in a collection; `recordID` is the ID of the addressed
  /// record, nil for a new one.
  package init(_ result: SaveResult, recordID: String?) {
    if result.success {
      self = Self.done(result.id, created: result.created, meant: recordID)
      return
    }
    guard let error = result.errors.first else {
      self = .refused(RowRefusal(code: nil, message: "the org gave no reason"))
      return
    }
    self = Self.refusal(
      RowRefusal(
        code: error.statusCode, message: Self.words(result.errors.map(\.message)),
        fields: Self.distinct(result.errors.flatMap(\.fields)), raw: error.raw.text),
      blaming: error.fields, isMissing: false)
  }

  /// Creates the answer from a result in a composite request.
  package init(_ result: CompositeResult, recordID: String?) {
    let error = result.body.array?.first ?? result.body
    self.init(
      status: result.status, body: result.body, raw: error.isNull ? nil : error.text,
      recordID: recordID)
  }

  /// Creates the answer from the response to a request for a single row.
  package init(status: Int, body: [UInt8], recordID: String?) {
    self.init(
      status: status, body: (try? JSONValue(parsing: body)) ?? .null,
      raw: body.isEmpty ? nil : String(decoding: body, as: UTF8.self), recordID: recordID)
  }

  private init(status: Int, body: JSONValue, raw: String?, recordID: String?) {
    switch status {
    case HTTPStatus.success:
      // The response to an update or a delete has no body.
      let id = body["id"]?.string ?? recordID
      self = Self.done(id, created: body["created"]?.bool, meant: recordID)
    case 412: self = .changed
    default:
      let errors = body.array ?? [body]
      let messages = errors.compactMap { $0["message"]?.string }
      let refusal = RowRefusal(
        code: errors.first?["errorCode"]?.string ?? "HTTP_\(status)",
        message: messages.isEmpty
          ? HTTPStatus.words(status) : Self.words(messages),
        fields: Self.distinct(
          errors.flatMap { $0["fields"]?.array?.compactMap(\.string) ?? [] }), raw: raw)
      let blamed = errors.first?["fields"]?.array?.compactMap(\.string) ?? []
      self = Self.refusal(refusal, blaming: blamed, isMissing: status == 404)
    }
  }

  /// The message for a row with several errors; the first error determines the kind.
  private static func words(_ messages: [String]) -> String {
    distinct(messages).joined(separator: "; ")
  }

  private static func distinct(_ texts: [String]) -> [String] {
    var seen: Set<String> = []
    return texts.filter { seen.insert($0).inserted }
  }

  /// A success that names no record, or another one, is not accepted: the record's ID would be
  /// lost, or the wrong record taken for it.
  static func done(_ id: String?, created: Bool?, meant: String?) -> RowAnswer {
    let named = id?.recordID18
    let meant = meant.map { $0.recordID18 ?? $0 }
    return switch (named, meant) {
    case (nil, nil): .unknown("the org reported success but named no record")
    case (let id?, let meant?) where id != meant:
      .unknown("the org reported success for another record")
    case (let id, let meant): .done(id: id ?? meant, created: created)
    }
  }

  /// If the first error names no fields, the row's own record is missing.
  ///
  /// If it names fields, a record that they refer to is missing.
  static func refusal(
    _ refusal: RowRefusal, blaming fields: [String], isMissing: Bool
  ) -> RowAnswer {
    let blamesRecord = fields.allSatisfy { $0 == "Id" || $0 == "id" }
    switch refusal.code {
    case let code where RetryPolicy.isMomentary(code): return .locked(refusal)
    case _ where refusal.saysMissing && blamesRecord: return .absent(refusal)
    default: return isMissing ? .absent(refusal) : .refused(refusal)
    }
  }
}
