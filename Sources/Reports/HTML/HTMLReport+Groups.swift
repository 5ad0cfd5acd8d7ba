import Ledger
import System

extension HTMLReport {
  /// The number of rows that a table of totals shows.
  private static let rowLimit = 200

  /// The totals by technician and by object.
  static func groups(_ model: ReportModel) -> String {
    table("Technician", "By technician", model.edits.totals.users.map { ($0.name, $0) })
      + table(
        "Object", "By object", model.edits.totals.objects.map { (model.names.label($0.name), $0) })
  }

  /// The beginning of a table of numbers of edits.
  static func tableStart(
    _ caption: String, _ what: String, last: String = "Outcome", attributes: String = ""
  ) -> String {
    """
    <table\(attributes)><caption>\(caption)</caption>
    <thead><tr><th scope="col">\(what)</th><th scope="col" class="number">Edits</th>\
    <th scope="col">\(last)</th></tr></thead>
    <tbody>

    """
  }

  private static func table(
    _ what: String, _ caption: String, _ groups: [(label: String, group: ReportGroup)]
  ) -> String {
    var text = "<section class=\"groups\"><h2>\(caption)</h2>\n"
    text += tableStart("Edits by outcome, \(caption.lowercased())", what)
    for (label, group) in groups.prefix(rowLimit) {
      let parts = order.compactMap { verdict in
        group.counts[verdict].map {
          "<span class=\"tag \(kind(verdict))\">\(verdict.rawValue) \($0)</span>"
        }
      }
      text += "<tr><th scope=\"row\">\(HTMLText.escaped(label))</th>"
      text += "<td class=\"number\">\(group.total)</td>"
      text += "<td>\(parts.joined(separator: " "))</td></tr>\n"
    }
    text += "</tbody></table>\n"
    if groups.count > rowLimit {
      let more = groups.count - rowLimit
      text += "<p class=\"quiet\">\(more) more \(more == 1 ? "is" : "are") in report.json.</p>\n"
    }
    return text + "</section>\n"
  }

  /// The events before the report, in order of time.
  static func timeline(_ model: ReportModel) -> String {
    let moments = model.timeline
    if moments.count < 2 { return "" }
    var text = "<section class=\"timeline\"><h2>Timeline</h2>\n<ol>\n"
    // A long list keeps its last rows.
    for moment in moments.suffix(rowLimit) {
      text += "<li>\(time(moment.from))"
      if moment.to - moment.from >= 60_000 { text += " to \(time(moment.to))" }
      text += "<span>\(sentence(moment))</span></li>\n"
    }
    text += "</ol>\n"
    if moments.count > rowLimit {
      text += "<p class=\"quiet\">Earlier events are in report.json.</p>\n"
    }
    return text + "</section>\n"
  }

  private static func sentence(_ moment: ReportMoment) -> String {
    let edits = CountText.of(moment.count, "edit")
    let name = "<b>\(HTMLText.escaped(moment.name))</b>"
    return switch moment.kind {
    case .edited: "\(name) worked on the device: \(edits)"
    case .returned: "\(name) arrived with \(edits)"
    case .decided: "\(name) decided about \(edits)"
    case .run: "the run processed \(edits)"
    }
  }
}
