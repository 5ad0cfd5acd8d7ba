import JSON
import Ledger
import Pipelines
import Reports
import System

/// The text and JSON of open edits and decisions.
enum DecisionText {
  /// Returns an open edit in a few lines: its record, the values of all sides, and the possible
  /// decisions.
  static func lines(
    _ open: PipelineDecisions.Open, _ options: ReportMask, _ pipeline: String
  ) -> [StyledLine] {
    let edit = open.edit
    let head: StyledLine =
      "edit \(edit.number): \(edit.verdict.rawValue, edit.verdict.style), \(edit.recordName) of \(edit.owner)"
    return [head] + details(open, options, pipeline).map { StyledLine($0) }
  }

  private static func details(
    _ open: PipelineDecisions.Open, _ options: ReportMask, _ pipeline: String
  ) -> [String] {
    let edit = open.edit
    var lines: [String] = []
    if let words = options.words(of: edit) {
      lines += WordLines.of("  " + words, indent: "  ")
    }
    for other in edit.detail.otherIDs { lines.append("  other record: \(other)") }
    if !edit.detail.otherEdits.isEmpty {
      let others = edit.detail.otherEdits.map { String($0) }.joined(separator: ", ")
      lines.append("  other edits: \(others)")
    }
    for field in edit.detail.fields {
      func text(_ value: JSONValue?) -> String {
        let shown = options.shown(value, of: field.name)
        // Quoted, so that a text is not mistaken for a label such as "none".
        if case .value(.string(let text)) = shown, !text.isEmpty { return JSONText.quoted(text) }
        return shown.words
      }
      let mark = field.isConflicting ? "!" : " "
      lines.append(
        "  \(mark) \(field.name): device \(text(field.device)), server \(text(field.server)), base "
          + text(field.base) + (field.isOnlyOrgChange ? "; only the org changed it" : ""))
    }
    if let pending = open.pending {
      lines.append(
        "  decided by \(pending.by) on \(Dates.utcSeconds(pending.time)): "
          + "\(pending.decision.kind.meaning); not applied yet")
    }
    lines.append(
      "  to decide: " + DecisionRule.command("\(pipeline) \(edit.number)", edit.possible))
    return lines
  }

  /// The recorded decisions as JSON, with placeholders for values that are not shown.
  static func json(_ result: PipelineDecisions.Result, _ options: ReportMask) -> JSONValue {
    [
      "type": "decided",
      "decided": .array(
        result.decided.map { decided in
          var object: JSONObject = [
            "edit": JSONValue(decided.edit),
            "decision": .string(decided.decision.kind.rawValue),
          ]
          for (name, value) in decided.decision.values { object[name] = value }
          if case .set(let values, _) = decided.decision {
            object["values"] = .object(
              JSONObject(values.map { ($0.name, options.visible($0.value, of: $0.name)) }))
          }
          return .object(object)
        }),
      "replaced": .array(
        result.replaced.map {
          [
            "edit": JSONValue($0.edit), "by": .string($0.by),
            "decision": .string($0.decision.kind.rawValue),
          ]
        }),
      "refused": .array(
        result.refused.map { ["edit": JSONValue($0.edit), "reason": .string($0.reason)] }),
    ]
  }
}
