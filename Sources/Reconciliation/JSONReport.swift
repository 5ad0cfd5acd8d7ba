import JSON
import System

/// `report.json`: everything, for programs; its members are described in docs/reports.md.
package enum JSONReport: ReportFormat {
  /// `json`.
  package static let name = "json"

  /// The one file.
  package static func files(
    _ model: ReportModel, _ options: ReportOptions
  ) -> [(name: String, bytes: [UInt8])] {
    [("report.json", document(model, options).bytes(pretty: true, sortedKeys: false) + [10])]
  }

  private static func document(_ model: ReportModel, _ options: ReportOptions) -> JSONValue {
    [
      "format": 1,
      "run": [
        "id": .string(model.run.id), "number": JSONValue(model.run.number),
        "pipeline": .string(model.run.pipeline), "org": .string(model.organizationID),
        "time": .string(Dates.utc(model.run.now)),
      ],
      "edits": JSONValue(model.edits.count),
      "verdicts": counts(model.counts, all: true),
      "soups": .array(
        model.soups.map { soup, verdicts in
          [
            "store": .string(soup.store.text), "soup": .string(soup.soup),
            "edits": JSONValue(verdicts.values.reduce(0, +)),
            "verdicts": counts(verdicts, all: false),
          ]
        }),
      "records": .array(model.edits.map { record($0, options) }),
    ]
  }

  private static func counts(_ verdicts: [Verdict: Int], all: Bool) -> JSONValue {
    var object = JSONObject()
    for verdict in Verdict.allCases {
      let count = verdicts[verdict] ?? 0
      if all || count > 0 { object[verdict.rawValue] = JSONValue(count) }
    }
    return .object(object)
  }

  private static func record(_ edit: ReportEdit, _ options: ReportOptions) -> JSONValue {
    var object: JSONObject = [
      "number": JSONValue(edit.number), "verdict": .string(edit.verdict.rawValue),
      "operation": .string(edit.operation.rawValue), "store": .string(edit.store.text),
      "soup": .string(edit.soup), "soupEntryId": JSONValue(edit.soupEntryID),
    ]
    let texts: [(String, String?)] = [
      ("user", edit.username), ("sobject", edit.sobject), ("recordId", edit.recordID),
      ("otherId", edit.detail.otherID), ("localId", edit.localID), ("return", edit.source),
      ("platform", edit.platform), ("code", edit.detail.code),
      ("message", options.words(of: edit)),
    ]
    for (name, text) in texts { if let text { object[name] = .string(text) } }
    object["generation"] = JSONValue(edit.generation)
    object["device"] = JSONValue(edit.device)
    if edit.detail.hasNoBase { object["noBase"] = true }
    if !edit.detail.errorFields.isEmpty {
      object["errorFields"] = JSONValue(edit.detail.errorFields)
    }
    if !edit.detail.otherEdits.isEmpty {
      object["otherEdits"] = .array(edit.detail.otherEdits.map { JSONValue($0) })
    }
    if !edit.detail.fields.isEmpty {
      object["fields"] = .array(edit.detail.fields.map { field($0, options) })
    }
    if !edit.detail.outside.isEmpty {
      object["outside"] = .array(edit.detail.outside.map { field($0, options) })
    }
    return .object(object)
  }

  private static func field(_ field: FieldDifference, _ options: ReportOptions) -> JSONValue {
    var object: JSONObject = ["name": .string(field.name)]
    for (side, value) in [("base", field.base), ("device", field.device), ("server", field.server)]
    {
      switch options.shown(value, of: field.name) {
      case .value(let value): object[side] = value
      case .masked: object["masked"] = true
      case .hidden, .unknown: break
      }
    }
    if field.isConflicting { object["conflicting"] = true }
    return .object(object)
  }
}
