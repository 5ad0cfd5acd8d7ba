import JSON

/// The details of a verdict: fields, the org's messages, and IDs.
package struct OutcomeDetail: Sendable, Hashable {
  /// The fields of a conflict, with the values of all sides; for a write, the edited fields.
  package var fields: [FieldDifference] = []
  /// Edited fields outside the field list.
  package var outside: [FieldDifference] = []
  /// Fields of a write for which the org has another value than the one sent.
  ///
  /// `device` is the value that was sent, `server` the value read back.
  package var kept: [FieldDifference] = []
  /// Whether the values that the device was issued are unknown.
  package var hasNoBase = false
  /// The record's ID in the org.
  package var recordID: String?
  /// Another record that the verdict is about: the surviving record of a merge, or a duplicate.
  package var otherID: String?
  /// The records that a create without an answer may have created; for a duplicate, the records of
  /// late requests if there are several.
  package var candidates: [String] = []
  /// Other edits that the verdict is about, by number.
  package var otherEdits: [Int64] = []
  /// The org's error code.
  package var code: String?
  /// What the edit's user may not do, for `exceeds user access`: a code with its subject.
  package var restriction: String?
  /// The message, from the org or from attache.
  package var message: String?
  /// The fields that the org's error names.
  package var errorFields: [String] = []
  /// The user who last changed the org's record and the time, if that was after the device read it.
  package var serverChange: ServerChange?
  /// An operator's decision and its outcome.
  package var decision: DecisionNote?

  package init() {}

  /// The records of a duplicate, other than the edit's own; or another verdict's other record.
  package var otherIDs: [String] {
    guard let otherID else { return [] }
    return candidates.contains(otherID) ? candidates : [otherID]
  }

  /// Details with a message from attache.
  package static func because(
    _ message: String?, of recordID: String? = nil, fields: [FieldDifference] = [],
    otherEdits: [Int64] = [], code: String? = nil
  ) -> OutcomeDetail {
    var detail = OutcomeDetail()
    (detail.message, detail.recordID, detail.code) = (message, recordID, code)
    (detail.fields, detail.otherEdits) = (fields, otherEdits)
    return detail
  }

  /// Adds a message after the others.
  package mutating func add(_ message: String) {
    self.message = [self.message, message].compactMap(\.self).joined(separator: "; ")
  }

  /// What identifies the reason of the verdict: its codes, and the other record.
  package var codes: [String?] { [code, restriction, otherID] }

  /// The form stored in the ledger.
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
    if let restriction { object["restriction"] = .string(restriction) }
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
    restriction = json["restriction"]?.string
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
  /// The user's ID.
  package let by: String
  /// The time in the org's format.
  package let at: String

  package init(by: String, at: String) { (self.by, self.at) = (by, at) }
}

/// A verdict with its details.
package struct Settlement: Sendable, Hashable {
  package var verdict: Verdict
  package var detail: OutcomeDetail

  package init(_ verdict: Verdict, _ detail: OutcomeDetail = OutcomeDetail()) {
    self.verdict = verdict
    self.detail = detail
  }
}
