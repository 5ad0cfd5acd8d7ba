import JSON
import Ledger
import Pipelines
import Reports
import Salesforce
import System

/// The JSON form of edits for the page, with their values masked as configured.
enum ReviewEdit {
  /// An open edit in the list: enough to find it, and to decide many at once.
  ///
  /// `revision` identifies what it shows.
  static func line(
    _ open: PipelineDecisions.Open, revision: Int, _ names: OrgNames?, _ options: ReportMask
  ) -> JSONValue {
    let edit = open.edit
    return [
      "edit": JSONValue(edit.number), "verdict": .string(edit.verdict.rawValue),
      "name": .string(name(edit, options)), "user": .string(edit.owner),
      "object": .string(label(edit.sobject ?? edit.soup, names)),
      "operation": .string(edit.operation.rawValue),
      "id": (edit.recordID ?? edit.localID).map { .string($0) } ?? .null,
      "fields": JSONValue(edit.detail.fields.map(\.name)),
      "possible": JSONValue(edit.possible.map(\.rawValue)),
      "decided": open.pending.map { .string($0.decision.kind.meaning) } ?? .null,
      "decidedBy": open.pending.map { .string($0.by) } ?? .null,
      "revision": JSONValue(revision),
      "since": .string(Dates.utc(edit.foundAt)),
    ]
  }

  /// All details of an open edit, with the org's values as last looked up and the edits that
  /// conflict with it.
  static func details(
    _ open: PipelineDecisions.Open, look: PlannedOutcome?, others: [Int64: ReportEdit],
    revision: Int, _ names: OrgNames?, _ options: ReportMask, _ pipeline: String
  ) -> JSONValue {
    var open = open
    let verdict = open.edit.verdict
    if let look, look.verdict == verdict {
      open.edit.detail.fields = look.detail.fields
      open.edit.detail.serverChange = look.detail.serverChange ?? open.edit.detail.serverChange
    }
    let edit = open.edit
    var object = open.json(options, pipeline: pipeline).object ?? [:]
    object["fields"] = .array(
      edit.detail.fields.map { field in
        var shown = self.field(field, options)
        shown["edited"] = JSONValue(
          field.base.map { !FieldValue.isEqual(field.device, $0) } ?? true)
        return .object(shown)
      })
    if !edit.detail.outside.isEmpty {
      object["outside"] = .array(edit.detail.outside.map { .object(self.field($0, options)) })
    }
    object["link"] = names?.address(of: edit.recordID).map { .string($0) }
    object["name"] = .string(name(edit, options))
    object["meaning"] = .string(verdict.meaning)
    object["device"] = JSONValue(edit.device)
    object["platform"] = .string(edit.platform)
    object["source"] = .string(edit.source)
    object["row"] = JSONValue(edit.soupEntryID)
    object["since"] = .string(Dates.utc(edit.foundAt))
    if edit.editedAt > 0 { object["editedAt"] = .string(Dates.utc(edit.editedAt)) }
    if let change = edit.detail.serverChange {
      object["serverChange"] = .object(JSONReport.change(change, names?.people ?? [:]))
    }
    object["noBase"] = JSONValue(edit.detail.hasNoBase)
    object["revision"] = JSONValue(revision)
    object["looked"] = JSONValue(look != nil)
    if let look, look.verdict != verdict {
      var now: JSONObject = [
        "verdict": .string(look.verdict.rawValue), "meaning": .string(look.verdict.meaning),
      ]
      if let words = options.words(of: look) { now["message"] = .string(words) }
      object["now"] = .object(now)
    }
    let opponents = edit.detail.otherEdits.compactMap { others[$0] }
    object["others"] = .array(opponents.map { other(edit, $0, options) })
    return .object(object)
  }

  /// Another edit of the same record, with the fields in which the two differ.
  private static func other(
    _ edit: ReportEdit, _ other: ReportEdit, _ options: ReportMask
  ) -> JSONValue {
    let own = Dictionary(
      edit.detail.fields.map { ($0.name, $0.device) }, uniquingKeysWith: { $1 })
    let overlap = other.detail.fields.filter { field in
      own[field.name].map { !FieldValue.isSame($0, field.device) } ?? false
    }
    return [
      "edit": JSONValue(other.number), "verdict": .string(other.verdict.rawValue),
      "settled": JSONValue(other.verdict.isSettled), "user": .string(other.owner),
      "device": JSONValue(other.device), "operation": .string(other.operation.rawValue),
      "fields": .array(other.detail.fields.map { .object(field($0, options)) }),
      "overlap": JSONValue(overlap.map(\.name)),
    ]
  }

  /// A field with its values, shortened to what the page can show.
  ///
  /// `lengths` has the original lengths of shortened values, and `differsLater` is set if two
  /// values differ only after the shown part.
  private static func field(_ field: FieldDifference, _ options: ReportMask) -> JSONObject {
    var object = JSONReport.field(field, options).object ?? [:]
    var lengths = JSONObject()
    for side in ["base", "device", "entered", "server"] {
      guard let text = object[side]?.string else { continue }
      let cut = HTMLReport.Cut(text)
      guard cut.rest else { continue }
      object[side] = .string(cut.text)
      lengths[side] = JSONValue(cut.length)
    }
    if !lengths.isEmpty {
      object["lengths"] = .object(lengths)
      if object["device"] == object["server"], field.device != field.server {
        object["differsLater"] = true
      }
    }
    return object
  }

  private static func label(_ object: String, _ names: OrgNames?) -> String {
    names?.label(object) ?? object
  }

  /// A record that an unconfirmed create may have made.
  static func candidate(_ record: JSONObject, _ options: ReportMask) -> JSONValue {
    var object = JSONObject()
    for (name, value) in record where name != "attributes" {
      object[name] = .string(options.shown(value, of: name).cell)
    }
    return .object(object)
  }

  /// The expected outcome of an edit.
  static func plan(
    _ planned: PlannedOutcome, _ names: OrgNames?, _ options: ReportMask
  ) -> JSONValue {
    var object: JSONObject = [
      "edit": JSONValue(planned.editID), "verdict": .string(planned.verdict.rawValue),
      "action": planned.action.map { .string($0.rawValue) } ?? .null,
      "record": planned.recordID.map { .string($0) } ?? .null,
      "object": .string(label(planned.sobject ?? planned.soup.soup, names)),
      "fields": .array(planned.detail.fields.map { .object(field($0, options)) }),
    ]
    if let words = options.words(of: planned) { object["message"] = .string(words) }
    return .object(object)
  }

  /// The outcome of an edit.
  static func result(_ edit: ReportEdit, _ options: ReportMask) -> JSONValue {
    [
      "edit": JSONValue(edit.number), "verdict": .string(edit.verdict.rawValue),
      "settled": JSONValue(edit.verdict.isSettled), "name": .string(name(edit, options)),
      "meaning": .string(edit.verdict.meaning),
      "message": options.words(of: edit).map { .string($0) } ?? .null,
    ]
  }

  private static func name(_ edit: ReportEdit, _ options: ReportMask) -> String {
    edit.name(options) ?? edit.recordName
  }
}
