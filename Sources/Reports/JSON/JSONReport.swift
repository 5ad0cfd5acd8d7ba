import JSON
import Ledger
import System

/// `report.json`: the complete report, for programs; docs/reports.md describes its members.
package enum JSONReport: ReportFormat {
  package static let name = "json"

  package static let files = ["report.json"]

  /// The whole report as a document, according to docs/report.schema.json.
  package static func write(
    _ file: String, _ model: ReportModel, _ options: ReportMask, to sink: ReportSink
  ) throws {
    var bytes = Array("{\n  \"format\": 1".utf8)
    for (name, value) in head(model) { member(name, value, &bytes) }
    try list("records", model.edits, &bytes, sink) { record($0, model, options) }
    member("openEdits", JSONValue(model.stillOpen.count), &bytes)
    member("openVerdicts", counts(model.stillOpen.totals.verdicts, all: false), &bytes)
    try list("stillOpen", model.stillOpen, &bytes, sink) { open($0, model, options) }
    for (name, value) in findings(model) { member(name, value, &bytes) }
    bytes += "\n}\n".utf8
    try sink(bytes)
  }

  private static func member(_ name: String, _ value: JSONValue, _ bytes: inout [UInt8]) {
    bytes += ",\n  \"\(name)\": ".utf8
    value.append(to: &bytes, indent: 1)
  }

  /// A list whose elements are written one at a time, so that a large report is never in memory as
  /// a whole.
  private static func list(
    _ name: String, _ edits: ReportEdits, _ bytes: inout [UInt8], _ sink: ReportSink,
    _ object: (ReportEdit) -> JSONObject
  ) throws {
    bytes += ",\n  \"\(name)\": [".utf8
    var isFirst = true
    try edits.forEach { edit in
      bytes += (isFirst ? "\n    " : ",\n    ").utf8
      isFirst = false
      JSONValue.object(object(edit)).append(to: &bytes, indent: 2)
      try pass(&bytes, to: sink)
    }
    bytes += (edits.isEmpty ? "]" : "\n  ]").utf8
  }

  /// The members before the records.
  private static func head(_ model: ReportModel) -> [(String, JSONValue)] {
    var run: JSONObject = [
      "id": .string(model.run.id), "number": JSONValue(model.run.number),
      "pipeline": .string(model.run.pipeline), "org": .string(model.organizationID),
      "time": .string(Dates.utc(model.run.now)),
    ]
    if !model.names.instance.isEmpty { run["instance"] = .string(model.names.instance) }
    if model.isRehearsal { run["rehearsal"] = true }
    let totals = model.edits.totals
    let users = totals.users.map { group(["user": .string($0.name)], $0.counts) }
    let objects = totals.objects.map { object in
      let label = model.names.label(object.name)
      return group(["object": .string(object.name), "label": .string(label)], object.counts)
    }
    let soups = totals.soups.map { soup, counts in
      group(["store": .string(soup.store.text), "soup": .string(soup.soup)], counts)
    }
    return [
      ("run", .object(run)), ("edits", JSONValue(model.edits.count)),
      ("verdicts", counts(totals.verdicts, all: true)), ("decisions", decisions(model)),
      ("users", .array(users)), ("objects", .array(objects)), ("soups", .array(soups)),
      ("timeline", .array(model.timeline.map(moment))),
    ]
  }

  private static func group(_ names: JSONObject, _ verdicts: [Verdict: Int]) -> JSONValue {
    var object = names
    object["edits"] = JSONValue(verdicts.values.reduce(0, +))
    object["verdicts"] = counts(verdicts, all: false)
    return .object(object)
  }

  private static func moment(_ moment: ReportMoment) -> JSONValue {
    var object: JSONObject = ["what": .string(moment.kind.rawValue)]
    if !moment.name.isEmpty { object["name"] = .string(moment.name) }
    object["from"] = .string(Dates.utc(moment.from))
    object["to"] = .string(Dates.utc(moment.to))
    object["edits"] = JSONValue(moment.count)
    return .object(object)
  }

  /// For an edit from an earlier report: since when it has been open.
  private static func open(
    _ edit: ReportEdit, _ model: ReportModel, _ options: ReportMask
  ) -> JSONObject {
    var object = record(edit, model, options)
    object["foundBy"] = .string(edit.foundBy)
    object["since"] = .string(Dates.utc(edit.foundAt))
    object["ageDays"] = JSONValue(model.ageDays(since: edit.foundAt))
    if let next = edit.nextStep(in: model.called) {
      object["next"] = .string(next)
    }
    return object
  }

  // MARK: findings

  /// The lists of findings: new ones first, then those still open.
  private static func findings(_ model: ReportModel) -> [(String, JSONValue)] {
    let lists: [(String, Set<Finding.Kind>)] = [
      ("returns", [.returnAccepted, .returnKnown, .returnQuarantined, .returnLeft]),
      ("skippedUsers", [.userSkipped]), ("ruleErrors", [.incomplete]),
      ("guards", [.removalsHeld, .changesHeld]),
    ]
    var members = lists.map { name, kinds in
      let news = model.findings(kinds).map { finding($0, model, isNews: true) }
      let earlier = model.findings(kinds, earlier: true).map { finding($0, model, isNews: false) }
      return (name, JSONValue.array(news + earlier))
    }
    members.append(
      ("warnings", .array(model.findings([.warning]).map { .string($0.subject) })))
    return members
  }

  private static func finding(
    _ finding: Finding, _ model: ReportModel, isNews: Bool
  ) -> JSONValue {
    var object: JSONObject = ["state": .string(finding.state)]
    for (name, value) in finding.detail { object[name] = value }
    object["new"] = JSONValue(isNews)
    object["foundBy"] = .string(finding.run)
    object["since"] = .string(Dates.utc(finding.time))
    object["ageDays"] = JSONValue(model.ageDays(since: finding.time))
    return .object(object)
  }

  private static func counts(_ verdicts: [Verdict: Int], all: Bool) -> JSONValue {
    var object = JSONObject()
    for verdict in Verdict.allCases {
      let count = verdicts[verdict] ?? 0
      if all || count > 0 { object[verdict.rawValue] = JSONValue(count) }
    }
    return .object(object)
  }

  private static func record(
    _ edit: ReportEdit, _ model: ReportModel, _ options: ReportMask
  ) -> JSONObject {
    var object: JSONObject = [
      "number": JSONValue(edit.number), "verdict": .string(edit.verdict.rawValue),
      "operation": .string(edit.operation.rawValue), "store": .string(edit.store.text),
      "soup": .string(edit.soup), "soupEntryId": JSONValue(edit.soupEntryID),
    ]
    let texts: [(String, String?)] = [
      ("user", edit.username), ("sobject", edit.sobject),
      ("objectLabel", edit.sobject.map(model.names.label)), ("name", edit.name(options)),
      ("recordId", edit.recordID), ("link", model.names.address(of: edit.recordID)),
      ("otherId", edit.detail.otherID), ("localId", edit.localID), ("return", edit.source),
      ("platform", edit.platform), ("code", edit.detail.code),
      ("message", options.words(of: edit)),
    ]
    for (name, text) in texts { if let text { object[name] = .string(text) } }
    object["generation"] = JSONValue(edit.generation)
    object["device"] = JSONValue(edit.device)
    for (name, time) in [("editedAt", edit.editedAt), ("arrivedAt", edit.arrivedAt)] where time > 0
    {
      object[name] = .string(Dates.utc(time))
    }
    if let change = edit.detail.serverChange {
      object["serverChange"] = .object(self.change(change, model.names.people))
    }
    if edit.detail.hasNoBase { object["noBase"] = true }
    let lists: [(String, [JSONValue])] = [
      ("errorFields", edit.detail.errorFields.map { .string($0) }),
      ("candidates", edit.detail.candidates.map { .string($0) }),
      ("otherEdits", edit.detail.otherEdits.map { JSONValue($0) }),
      ("fields", edit.detail.fields.map { field($0, options) }),
      ("outside", edit.detail.outside.map { field($0, options) }),
      ("kept", edit.detail.kept.map { field($0, options) }),
    ]
    for (name, list) in lists where !list.isEmpty { object[name] = .array(list) }
    if let decision = edit.detail.decision { object["decision"] = self.decision(decision) }
    if !edit.possible.isEmpty {
      object["commands"] = JSONValue(edit.commands(pipeline: model.called))
    }
    if edit.run != model.run.id { object["run"] = .string(edit.run) }
    return object
  }

  /// Who changed a record in the org and when, with the user's name if known.
  package static func change(
    _ change: ServerChange, _ people: [String: String]
  ) -> JSONObject {
    var object: JSONObject = ["by": .string(change.by)]
    if let name = people[change.by] { object["user"] = .string(name) }
    let time = Dates.milliseconds(iso8601: change.at).map(Dates.utc)
    object["at"] = .string(time ?? change.at)
    return object
  }

  private static func decision(_ note: DecisionNote) -> JSONValue {
    [
      "decision": .string(note.kind.rawValue), "by": .string(note.by),
      "time": .string(Dates.utc(note.time)), "fate": .string(note.fate.rawValue),
    ]
  }

  private static func decisions(_ model: ReportModel) -> JSONValue {
    var object = JSONObject()
    for fate in DecisionNote.Fate.allCases {
      if let count = model.edits.totals.decisions[fate] { object[fate.rawValue] = JSONValue(count) }
    }
    return .object(object)
  }

  /// A field with the values of its sides, as far as they may be shown.
  package static func field(_ field: FieldDifference, _ options: ReportMask) -> JSONValue {
    var object: JSONObject = ["name": .string(field.name)]
    let sides = [
      ("base", field.base), ("device", field.device), ("entered", field.entered),
      ("server", field.server),
    ]
    // If no value was entered, there is nothing to mask.
    var files = JSONObject()
    for (side, value) in sides where side != "entered" || value != nil {
      if let file = options.file(of: value, field.name) {
        files[side] = .string(file)
        continue
      }
      switch options.shown(value, of: field.name) {
      case .value(let value): object[side] = value
      case .masked: object["masked"] = true
      case .withheld, .unknown: break
      }
    }
    if !files.isEmpty { object["files"] = .object(files) }
    if field.isConflicting { object["conflicting"] = true }
    return .object(object)
  }
}
