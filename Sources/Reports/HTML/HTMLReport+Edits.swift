import JSON
import Ledger
import MobileSync
import Salesforce
import System

extension HTMLReport {
  static func next(_ step: String?) -> String {
    step.map { " <span class=\"next\">\(HTMLText.prose($0))</span>" } ?? ""
  }

  /// The edits of one verdict, as many as there is room for.
  static func section(
    _ verdict: Verdict, _ articles: [String], of count: Int, in model: ReportModel
  ) -> String {
    var text = "<section id=\"\(anchor(verdict))\" class=\"verdict \(kind(verdict))\">\n"
    text += "<h2><span class=\"tag \(kind(verdict))\">\(verdict.rawValue)</span> "
    text += "<span class=\"count\">\(count)</span></h2>\n<p class=\"quiet\">\(verdict.meaning)"
    text += next(model.edits.totals.nextStep(of: verdict, in: model.called))
    text += "</p>\n" + articles.joined()
    return text + elsewhere(count - articles.count) + "</section>\n"
  }

  /// Where to find the edits that do not fit on the page.
  static func elsewhere(_ count: Int) -> String {
    if count == 0 { return "" }
    return
      "<p class=\"quiet\">\(count) more \(count == 1 ? "is" : "are") not shown without the page's "
      + "script: records.csv and report.json next to this page have all.</p>\n"
  }

  static func article(
    _ edit: ReportEdit, _ model: ReportModel, _ options: ReportMask, _ more: String = ""
  ) -> String {
    var text = "<article id=\"edit-\(edit.number)\">\n<h3>\(title(edit, model, options))</h3>\n"
    text += "<p class=\"where\">\(whoAndWhen(edit, model))</p>\n" + more
    let reasons = reasons(edit, model, options)
    if !reasons.isEmpty {
      text += "<div class=\"reason \(kind(edit.verdict))\">"
      text += reasons.map { "<p>\($0)</p>" }.joined() + "</div>\n"
    }
    if !edit.detail.fields.isEmpty {
      text += fields(edit.detail.fields, "Fields", edit, options)
    }
    if !edit.detail.outside.isEmpty {
      text += "<div class=\"outside\">"
      text += fields(edit.detail.outside, "Outside the field list, not sent", edit, options)
      text += "</div>\n"
    }
    text += commands(edit.commands(pipeline: model.called)) + origin(edit)
    return text + "</article>\n"
  }

  /// The commands that decide about an edit, ready to copy.
  private static func commands(_ commands: [String]) -> String {
    if commands.isEmpty { return "" }
    let items = commands.map { "<li>\(HTMLText.code($0))</li>" }
    return "<div class=\"decide\"><p>To decide:</p><ul>\(items.joined())</ul></div>\n"
  }

  private static func title(
    _ edit: ReportEdit, _ model: ReportModel, _ options: ReportMask
  ) -> String {
    var text = "<span class=\"tag \(kind(edit.verdict))\">\(edit.verdict.rawValue)</span> "
    let object = HTMLText.escaped(model.names.label(edit.sobject ?? edit.soup))
    text += "<span class=\"object\">\(object)</span>"
    if let name = edit.name(options) {
      text += " <span class=\"name\">\(HTMLText.escaped(name))</span>"
    }
    return text
  }

  /// The operation on the device.
  static func did(_ edit: ReportEdit) -> String {
    switch edit.operation {
    case .create: "created"
    case .update: "changed"
    case .delete: "deleted"
    case .dropped: "created and deleted"
    case .synced: "sent"
    }
  }

  private static func whoAndWhen(_ edit: ReportEdit, _ model: ReportModel) -> String {
    var text = "\(did(edit)) by <b>\(HTMLText.escaped(edit.owner))</b>"
    if edit.editedAt > 0 { text += " on \(time(edit.editedAt))" }
    if let address = model.names.address(of: edit.recordID) {
      text += " · <a href=\"\(HTMLText.escaped(address))\" rel=\"noreferrer\">Open in the org</a>"
    }
    return text
  }

  /// The origin of an edit, for troubleshooting.
  private static func origin(_ edit: ReportEdit) -> String {
    var parts = ["edit \(edit.number)"]
    if let id = edit.recordID { parts.append("record \(HTMLText.escaped(id))") }
    if let id = edit.localID { parts.append("local ID \(HTMLText.escaped(id))") }
    parts.append("row \(edit.soupEntryID) of soup \(HTMLText.escaped(edit.soup))")
    parts.append("file \(HTMLText.escaped(edit.source))")
    parts.append("device \(edit.device) (\(HTMLText.escaped(edit.platform)))")
    parts.append("generation \(edit.generation)")
    return "<details><summary>Origin</summary><p class=\"where\">"
      + parts.joined(separator: " · ") + "</p></details>\n"
  }

  /// A time in UTC, with the zone named; the script replaces it with the reader's local time.
  static func time(_ milliseconds: Int64) -> String {
    let utc = Dates.utcSeconds(milliseconds)
    let minute = utc.prefix(16).replacing("T", with: " ")
    return "<time datetime=\"\(utc)\">\(minute) UTC</time>"
  }

  /// The message, and the other records and edits that the verdict is about.
  static func reasons(
    _ edit: ReportEdit, _ model: ReportModel, _ options: ReportMask
  ) -> [String] {
    let detail = edit.detail
    var lines: [String] = []
    if detail.code != nil || detail.message != nil {
      var line = ""
      if let code = detail.code { line += "<code>\(HTMLText.escaped(code))</code> " }
      if let words = options.words(of: edit) { line += cut(words) }
      if !detail.errorFields.isEmpty {
        let names = detail.errorFields.map { "<code>\(HTMLText.escaped($0))</code>" }
        line += " <span class=\"quiet\">— fields</span> " + names.joined(separator: " ")
      }
      lines.append(line)
    }
    if let change = detail.serverChange { lines.append(changed(change, model)) }
    for other in detail.otherIDs {
      let label =
        switch edit.verdict {
        case .mergedOnServer: "The surviving record is"
        case .duplicateCreated: "The device's own record is"
        case .created: "It replaces the deleted record"
        default: "See also record"
        }
      lines.append("\(label) <code>\(HTMLText.escaped(other))</code>.")
    }
    if !detail.otherEdits.isEmpty {
      // The report of an earlier run has the edits of that run.
      let links = detail.otherEdits.map { number in
        model.edits.contains(number) || model.stillOpen.contains(number)
          ? "<a href=\"#edit-\(number)\">edit \(number)</a>"
          : "edit \(number) of an earlier run"
      }
      lines.append("See \(links.joined(separator: ", ")).")
    }
    if detail.hasNoBase, !edit.verdict.isSettled || !detail.fields.isEmpty {
      lines.append(
        "<span class=\"quiet\">No base: the values that the device was issued are unknown, "
          + "so the fields that differ are shown.</span>")
    }
    if let decision = detail.decision {
      lines.append(
        "Decided by <b>\(HTMLText.escaped(decision.by))</b> on \(time(decision.time)): "
          + "\(decision.kind.meaning); <strong>\(decision.fate.rawValue)</strong>.")
    }
    return lines
  }

  private static func changed(_ change: ServerChange, _ model: ReportModel) -> String {
    let who = model.names.people[change.by] ?? "user \(change.by)"
    var by = HTMLText.escaped(who)
    if let address = model.names.address(of: change.by) {
      by = "<a href=\"\(HTMLText.escaped(address))\" rel=\"noreferrer\">\(by)</a>"
    }
    let when = Dates.milliseconds(iso8601: change.at).map(time) ?? HTMLText.escaped(change.at)
    return "Changed in the org by \(by) on \(when), after the device read it."
  }

  /// A text, cut to what a page has room for.
  private static func cut(_ whole: String, _ file: String? = nil) -> String {
    let cut = Cut(whole)
    let text = HTMLText.escaped(cut.text)
    return cut.rest ? text + rest(cut, file) : text
  }

  private static func rest(_ cut: Cut, _ file: String?) -> String {
    let place = file.map { "<a href=\"\($0)\">full value</a>" } ?? "report.json has the full list"
    return "<i> … \(cut.length) characters; \(place)</i>"
  }

  // MARK: fields

  private static func fields(
    _ fields: [FieldDifference], _ caption: String, _ edit: ReportEdit, _ options: ReportMask
  ) -> String {
    typealias Column = (column: FieldColumn, side: KeyPath<FieldDifference, JSONValue?>)
    var columns: [Column] = [(.base, \.base), (.device, \.device), (.entered, \.entered)]
    columns.removeAll { column, side in
      column != .device && fields.allSatisfy { $0[keyPath: side] == nil }
    }
    if let server = serverColumn(fields, edit) { columns.append((server, \.server)) }
    var text = "<table class=\"fields\"><caption>\(caption)</caption>"
    text += "<thead><tr><th scope=\"col\">Field</th>"
    for (column, _) in columns { text += "<th scope=\"col\">\(column.title)</th>" }
    text += "</tr></thead><tbody>\n"
    for field in fields {
      text += field.isConflicting && !edit.verdict.isSettled ? "<tr class=\"conflicting\">" : "<tr>"
      text += "<th scope=\"row\">\(HTMLText.escaped(field.name))</th>"
      for (column, side) in columns {
        let value = field[keyPath: side]
        text +=
          value == nil && column == .entered
          ? "<td></td>" : cell(value, field.base, column, field.name, options)
      }
      text += "</tr>\n"
    }
    return text + "</tbody></table>\n"
  }

  /// The column for the org's values; nil if there are none to show.
  ///
  /// A sent edit shows them only if it replaced a value that the device was not issued.
  static func serverColumn(_ fields: [FieldDifference], _ edit: ReportEdit) -> FieldColumn? {
    let column = serverColumn(edit.verdict)
    let isShown = fields.contains { field in
      guard let server = field.server else { return false }
      if column == .server { return true }
      return !FieldValue.isSame(server, field.sent) && !FieldValue.isSame(server, field.base)
    }
    return isShown ? column : nil
  }

  /// The column that edits with a verdict have for the org's values.
  static func serverColumn(_ verdict: Verdict) -> FieldColumn {
    verdict.isWritten ? .replaced : .server
  }

  private static func cell(
    _ value: JSONValue?, _ base: JSONValue?, _ column: FieldColumn, _ field: String,
    _ options: ReportMask
  ) -> String {
    let differs = differs(value, base)
    let shown = options.shown(value, of: field)
    var text = "<td data-label=\"\(column.label)\"\(differs ? " class=\"changed\"" : "")>"
    switch shown.placeholder {
    case nil: text += cut(shown.cell, options.file(of: value, field))
    case .masked:
      text += "<i role=\"img\" aria-label=\"masked\">\(ReportMask.Placeholder.masked.words)</i>"
    case let placeholder?: text += "<i>\(placeholder.words)</i>"
    }
    return text + "</td>"
  }

  static func differs(_ value: JSONValue?, _ base: JSONValue?) -> Bool {
    base != nil && !FieldValue.isSame(value, base)
  }
}
