import JSON
import Ledger
import Reports
import System

extension PipelineDecisions.Open {
  /// The JSON form of an open edit, with its values masked as the options say.
  package func json(_ options: ReportMask, pipeline: String) -> JSONValue {
    var object: JSONObject = [
      "edit": JSONValue(edit.number), "verdict": .string(edit.verdict.rawValue),
      "operation": .string(edit.operation.rawValue), "soup": .string(edit.soup),
    ]
    let texts: [(String, String?)] = [
      ("user", edit.username), ("sobject", edit.sobject), ("recordId", edit.recordID),
      ("localId", edit.localID), ("otherId", edit.detail.otherID),
      ("message", options.words(of: edit)),
    ]
    for (name, text) in texts { if let text { object[name] = .string(text) } }
    if !edit.detail.otherEdits.isEmpty {
      object["otherEdits"] = .array(edit.detail.otherEdits.map { JSONValue($0) })
    }
    if !edit.detail.candidates.isEmpty {
      object["candidates"] = JSONValue(edit.detail.candidates)
    }
    object["fields"] = .array(edit.detail.fields.map { JSONReport.field($0, options) })
    object["possible"] = JSONValue(edit.possible.map(\.rawValue))
    object["commands"] = JSONValue(edit.commands(pipeline: pipeline))
    if let pending {
      object["decided"] = [
        "decision": .string(pending.decision.kind.rawValue), "by": .string(pending.by),
        "time": .string(Dates.utc(pending.time)),
      ]
    }
    return .object(object)
  }
}
