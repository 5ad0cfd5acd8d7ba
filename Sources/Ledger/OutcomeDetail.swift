import JSON

/// What stands beside a verdict: the fields, the org's words, the ids.
package struct OutcomeDetail: Sendable, Hashable {
  /// Fields of a conflict, with the values of all sides; of a write, those that were edited.
  package var fields: [FieldDifference] = []
  /// Edited fields outside the field list.
  package var outside: [FieldDifference] = []
  /// Fields of a write of which the org holds another value than the one that was sent: `device` is
  /// what was sent, `server` what the org answered when it was read back.
  package var kept: [FieldDifference] = []
  /// Says that the values the device was given are not known.
  package var hasNoBase = false
  /// The record's Id in the org.
  package var recordID: String?
  /// Another record that the verdict is about: the remaining one of a merge, a second create.
  package var otherID: String?
  /// The records that a create without an answer may have made.
  package var candidates: [String] = []
  /// Other edits that the verdict is about, by number.
  package var otherEdits: [Int64] = []
  /// The org's code.
  package var code: String?
  /// The org's words, or ours.
  package var message: String?
  /// The fields that the org names.
  package var errorFields: [String] = []
  /// Who changed the org's record last, by Id, and when, where that was after the device read it.
  package var serverChange: ServerChange?
  /// What a person decided, and what became of that.
  package var decision: DecisionNote?

  /// Nothing to say.
  package init() {}

  /// A reason in words of ours.
  package static func because(_ message: String) -> OutcomeDetail {
    var detail = OutcomeDetail()
    detail.message = message
    return detail
  }

  /// What names the limit that a `not permitted` tells of: its words, and the record that it is about.
  package var limit: String { [message, otherID].compactMap(\.self).joined(separator: "\n") }

  /// The form in the ledger.
  package var json: JSONValue {
    var object = JSONObject()
    if !fields.isEmpty { object["fields"] = .array(fields.map(Self.json)) }
    if !outside.isEmpty { object["outside"] = .array(outside.map(Self.json)) }
    if !kept.isEmpty { object["kept"] = .array(kept.map(Self.json)) }
    if hasNoBase { object["noBase"] = true }
    if let recordID { object["recordId"] = .string(recordID) }
    if let otherID { object["otherId"] = .string(otherID) }
    if !candidates.isEmpty { object["candidates"] = JSONValue(candidates) }
    if !otherEdits.isEmpty { object["otherEdits"] = .array(otherEdits.map { JSONValue($0) }) }
    if let code { object["code"] = .string(code) }
    if let message { object["message"] = .string(message) }
    if !errorFields.isEmpty { object["errorFields"] = JSONValue(errorFields) }
    if let serverChange {
      object["serverChange"] = ["by": .string(serverChange.by), "at": .string(serverChange.at)]
    }
    if let decision { object["decision"] = decision.json }
    return .object(object)
  }

  package init(json: JSONValue) {
    fields = (json["fields"]?.array ?? []).map(Self.difference)
    outside = (json["outside"]?.array ?? []).map(Self.difference)
    kept = (json["kept"]?.array ?? []).map(Self.difference)
    hasNoBase = json["noBase"]?.bool ?? false
    recordID = json["recordId"]?.string
    otherID = json["otherId"]?.string
    candidates = (json["candidates"]?.array ?? []).compactMap(\.string)
    otherEdits = (json["otherEdits"]?.array ?? []).compactMap(\.int)
    code = json["code"]?.string
    message = json["message"]?.string
    errorFields = (json["errorFields"]?.array ?? []).compactMap(\.string)
    if let at = json["serverChange"]?["at"]?.string, let by = json["serverChange"]?["by"]?.string {
      serverChange = ServerChange(by: by, at: at)
    }
    decision = json["decision"].flatMap(DecisionNote.init(json:))
  }

  private static func json(_ field: FieldDifference) -> JSONValue {
    var object: JSONObject = ["name": .string(field.name)]
    if let base = field.base { object["base"] = base }
    if let device = field.device { object["device"] = device }
    if let entered = field.entered { object["entered"] = entered }
    if let server = field.server { object["server"] = server }
    if field.isConflicting { object["conflicting"] = true }
    return .object(object)
  }

  private static func difference(_ value: JSONValue) -> FieldDifference {
    FieldDifference(
      name: value["name"]?.string ?? "", base: value["base"], device: value["device"],
      entered: value["entered"], server: value["server"],
      isConflicting: value["conflicting"]?.bool ?? false)
  }
}

/// The last change of a record in the org.
package struct ServerChange: Sendable, Hashable {
  /// The Id of the user.
  package let by: String
  /// The time, as the org writes it.
  package let at: String

  /// A change.
  package init(by: String, at: String) { (self.by, self.at) = (by, at) }
}

/// A verdict with what stands beside it.
package struct Settlement: Sendable, Hashable {
  /// The verdict.
  package var verdict: Verdict
  /// What stands beside it.
  package var detail: OutcomeDetail

  /// A settlement.
  package init(_ verdict: Verdict, _ detail: OutcomeDetail = OutcomeDetail()) {
    self.verdict = verdict
    self.detail = detail
  }
}
