import JSON
import Ledger
import MobileSync
import Salesforce
import System

extension HTMLReport {
  /// The edits of one verdict, in blocks that a browser lays out when they are looked at.
  static func section(
    _ verdict: Verdict, _ edits: [ReportEdit], _ model: ReportModel, _ options: ReportMask,
    known: Set<Int64>
  ) -> String {
    var text = "<section id=\"\(anchor(verdict))\" class=\"verdict \(kind(verdict))\">\n"
    text += "<h2><span class=\"tag \(kind(verdict))\">\(verdict.rawValue)</span> "
    text +=
      "<span class=\"count\">\(edits.count)</span></h2>\n<p class=\"quiet\">\(verdict.meaning)"
    if let next = verdict.nextStep { text += " <span class=\"next\">\(next)</span>" }
    text += "</p>\n" + chunks(edits, model, options, known) { _ in "" }
    return text + "</section>\n"
  }

  /// Edits in blocks; `more` is said of each behind where it came from.
  static func chunks(
    _ edits: [ReportEdit], _ model: ReportModel, _ options: ReportMask, _ known: Set<Int64>,
    more: (ReportEdit) -> String
  ) -> String {
    var text = ""
    for chunk in edits.parts(of: chunkSize) {
      text += "<div class=\"chunk\" style=\"contain-intrinsic-size:auto \(chunk.count * 96)px\">\n"
      for edit in chunk { text += article(edit, model, options, known, more(edit)) }
      text += "</div>\n"
    }
    return text
  }

  private static func article(
    _ edit: ReportEdit, _ model: ReportModel, _ options: ReportMask, _ known: Set<Int64>,
    _ more: String
  ) -> String {
    var text = "<article id=\"edit-\(edit.number)\">\n<h3>\(title(edit, options))</h3>\n"
    text += "<p class=\"where\">\(place(edit))</p>\n" + more
    text += reason(edit, options, known)
    if !edit.detail.fields.isEmpty {
      text += fields(edit.detail.fields, edit, options)
    }
    if !edit.detail.outside.isEmpty {
      text += outside(edit.detail.outside, edit, options)
    }
    text += commands(edit.commands(pipeline: model.run.pipeline))
    return text + "</article>\n"
  }

  /// What decides about an edit, to be copied.
  private static func commands(_ commands: [String]) -> String {
    if commands.isEmpty { return "" }
    let codes = commands.map { "<code>\(HTMLText.escaped($0))</code>" }
    return "<p class=\"decide\">To decide: \(codes.joined(separator: " or "))</p>\n"
  }

  private static func title(_ edit: ReportEdit, _ options: ReportMask) -> String {
    let object = HTMLText.escaped(edit.sobject ?? "Record")
    var text = "<span class=\"object\">\(object)</span> "
    if let name = edit.name(options) {
      text += "<span class=\"name\">\(HTMLText.escaped(name))</span> "
    }
    let id = edit.recordID ?? edit.localID
    if let id { text += "<code>\(HTMLText.escaped(id))</code>" }
    return text
  }

  private static func place(_ edit: ReportEdit) -> String {
    let did =
      switch edit.operation {
      case .create: "created"
      case .update: "changed"
      case .delete: "deleted"
      case .dropped: "created and deleted"
      case .synced: "sent"
      }
    var parts = ["\(did) by <b>\(HTMLText.escaped(edit.owner))</b>"]
    parts.append("device \(edit.device) (\(HTMLText.escaped(edit.platform)))")
    parts.append("\(HTMLText.escaped(edit.soup)) row \(edit.soupEntryID)")
    parts.append(HTMLText.escaped(edit.source))
    parts.append("edit \(edit.number)")
    return parts.joined(separator: " · ")
  }

  /// The org's words, or ours, and the other records and edits that the verdict is about.
  private static func reason(
    _ edit: ReportEdit, _ options: ReportMask, _ known: Set<Int64>
  ) -> String {
    let detail = edit.detail
    var lines: [String] = []
    if detail.code != nil || detail.message != nil {
      var line = ""
      if let code = detail.code { line += "<code>\(HTMLText.escaped(code))</code> " }
      if let words = options.words(of: edit) { line += HTMLText.escaped(words) }
      if !detail.errorFields.isEmpty {
        let names = detail.errorFields.map { "<code>\(HTMLText.escaped($0))</code>" }
        line += " <span class=\"quiet\">— fields</span> " + names.joined(separator: " ")
      }
      lines.append(line)
    }
    if let other = detail.otherID {
      let label =
        switch edit.verdict {
        case .mergedOnServer: "The remaining record is"
        case .createdTwice: "The device's own record is"
        case .created: "It replaces the deleted record"
        default: "See also record"
        }
      lines.append("\(label) <code>\(HTMLText.escaped(other))</code>.")
    }
    if !detail.otherEdits.isEmpty {
      // An edit of an earlier run stands in that run's report.
      let links = detail.otherEdits.map { number in
        known.contains(number)
          ? "<a href=\"#edit-\(number)\">edit \(number)</a>"
          : "edit \(number) of an earlier run"
      }
      lines.append("See \(links.joined(separator: ", ")).")
    }
    if detail.hasNoBase, !edit.verdict.isSettled || !detail.fields.isEmpty {
      lines.append(
        "<span class=\"quiet\">No base: what the device was given is not known, "
          + "so the fields that differ are shown.</span>")
    }
    if let decision = detail.decision {
      let time = Dates.utcSeconds(decision.time).replacing("T", with: " ").replacing(
        "Z", with: " UTC")
      lines.append(
        "Decided by <b>\(HTMLText.escaped(decision.by))</b> on \(time): \(decision.kind.meaning); "
          + "<strong>\(decision.fate.rawValue)</strong>.")
    }
    if lines.isEmpty { return "" }
    return "<div class=\"reason\">" + lines.map { "<p>\($0)</p>" }.joined() + "</div>\n"
  }

  // MARK: fields

  private static func fields(
    _ fields: [FieldDifference], _ edit: ReportEdit, _ options: ReportMask
  ) -> String {
    let hasServer = fields.contains { $0.server != nil } && !edit.verdict.isWritten
    let hasBase = fields.contains { $0.base != nil }
    var text = "<table class=\"fields\"><thead><tr><th scope=\"col\">Field</th>"
    if hasBase { text += "<th scope=\"col\">Given to the device</th>" }
    text += "<th scope=\"col\">Device</th>"
    if hasServer { text += "<th scope=\"col\">Server</th>" }
    text += "</tr></thead><tbody>\n"
    for field in fields {
      text += field.isConflicting && !edit.verdict.isSettled ? "<tr class=\"conflicting\">" : "<tr>"
      text += "<th scope=\"row\">\(HTMLText.escaped(field.name))</th>"
      if hasBase { text += cell(field.base, nil, "Given", field.name, options) }
      text += cell(field.device, field.base, "Device", field.name, options)
      if hasServer { text += cell(field.server, field.base, "Server", field.name, options) }
      text += "</tr>\n"
    }
    return text + "</tbody></table>\n"
  }

  private static func cell(
    _ value: JSONValue?, _ base: JSONValue?, _ label: String, _ field: String,
    _ options: ReportMask
  ) -> String {
    let differs = base != nil && !FieldValue.isSame(value, base)
    let shown = options.shown(value, of: field)
    var text = "<td data-label=\"\(label)\"\(differs ? " class=\"changed\"" : "")>"
    switch shown {
    case .value(.null), .value(.string("")): text += "<i>empty</i>"
    case .unknown: text += "<i>not known</i>"
    case .hidden: text += "<i>not shown</i>"
    case .masked: text += "<i aria-label=\"masked\">•••</i>"
    case .value: text += HTMLText.escaped(shown.text(empty: "", unknown: ""))
    }
    return text + "</td>"
  }

  /// Edited fields that never travel.
  private static func outside(
    _ fields: [FieldDifference], _ edit: ReportEdit, _ options: ReportMask
  ) -> String {
    "<div class=\"outside\"><p>Outside the field list, not sent:</p>"
      + Self.fields(fields, edit, options) + "</div>\n"
  }
}
