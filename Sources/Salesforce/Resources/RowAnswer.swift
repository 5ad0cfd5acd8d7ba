import HTTP
import JSON

/// Why the org did not do what was asked with a row.
package struct RowRefusal: Sendable, Hashable {
  /// The org's code; nil where it gave none.
  package var code: String?
  /// The org's words.
  package var message: String
  /// The fields that the org names.
  package var fields: [String]
  /// The error as the org wrote it: an object, or for a single row the whole body.
  package var raw: String?

  /// A refusal.
  package init(code: String?, message: String, fields: [String] = [], raw: String? = nil) {
    self.code = code
    self.message = message
    self.fields = fields
    self.raw = raw
  }

  /// The refusal of a request as that of a row in it.
  package init(_ error: OrgError) {
    self.init(
      code: error.code ?? error.status.map { "HTTP_\($0)" }, message: error.message,
      fields: error.fields)
  }

  /// Whether a record, the one that is meant or one that it refers to, is not there or hidden.
  package var saysMissing: Bool {
    code.map(ErrorCodes.missing.contains) ?? false
  }
}

/// What the org said of one row.
package enum RowAnswer: Sendable, Hashable {
  /// Done; `created` says what an upsert did.
  case done(id: String?, created: Bool?)
  /// The record no longer bears the date of the condition.
  case changed
  /// The record is not there, as far as the sender can see.
  case absent(RowRefusal)
  /// Another writer holds it.
  case locked(RowRefusal)
  /// The org said no.
  case refused(RowRefusal)
  /// It is not known what became of it.
  case unknown(String)
  /// The org has not looked at it: it can be sent another way.
  case unprocessed(RowRefusal)

  /// Reads the result of one row of a collection; `recordID` is the record that was meant, nil for
  /// one that is new.
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

  /// Reads the result of a row inside a composite.
  package init(_ result: CompositeResult, recordID: String?) {
    let error = result.body.array?.first ?? result.body
    self.init(
      status: result.status, body: result.body, raw: error.isNull ? nil : error.text,
      recordID: recordID)
  }

  /// Reads the answer to a request for a row of its own.
  package init(status: Int, body: [UInt8], recordID: String?) {
    self.init(
      status: status, body: (try? JSONValue(parsing: body)) ?? .null,
      raw: body.isEmpty ? nil : String(decoding: body, as: UTF8.self), recordID: recordID)
  }

  private init(status: Int, body: JSONValue, raw: String?, recordID: String?) {
    switch status {
    case HTTPStatus.success:
      // An update or a delete is answered without a body.
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

  /// What the org says of a row that several rules refuse; the first error says of which kind it is.
  private static func words(_ messages: [String]) -> String {
    distinct(messages).joined(separator: "; ")
  }

  private static func distinct(_ texts: [String]) -> [String] {
    var seen: Set<String> = []
    return texts.filter { seen.insert($0).inserted }
  }

  /// A success that does not name its record, or names another, tells nothing of this one: its id
  /// would be lost, or the wrong record taken for it.
  static func done(_ id: String?, created: Bool?, meant: String?) -> RowAnswer {
    let named = id?.recordID18
    let meant = meant.map { $0.recordID18 ?? $0 }
    return switch (named, meant) {
    case (nil, nil): .unknown("the org said it was done and named no record")
    case (let id?, let meant?) where id != meant:
      .unknown("the org said it was done to another record")
    case (let id, let meant): .done(id: id ?? meant, created: created)
    }
  }

  /// A missing record is the row's own where the first error names no fields: a code that names some blames the
  /// reference in them.
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
