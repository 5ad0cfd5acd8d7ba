import Crypto
import Ledger
import System

/// `report.html`: one page for people, with no external resources.
///
/// It has the totals, what needs review and the first open edits as markup. The other edits are
/// data that the page's script makes into a list to filter and search.
package enum HTMLReport: ReportFormat {
  package static let name = "html"

  package static let files = ["report.html"]

  /// The number of edits that the page shows without its script.
  static let room = 300

  static let order = Verdict.inReadingOrder

  private static let script = String(decoding: PackageResources.report_js, as: UTF8.self)
  private static let style = String(decoding: PackageResources.report_css, as: UTF8.self)

  package static func write(
    _ file: String, _ model: ReportModel, _ options: ReportMask, to sink: ReportSink
  ) throws {
    var page = head(model) + header(model) + "<main>\n" + held(model) + summary(model)
    if model.edits.isEmpty {
      page +=
        "<p class=\"quiet\">No edits were returned, so there is nothing new to report.</p>\n"
    }
    page += findings(model) + "<div id=\"edits\">\n" + (try edits(model, options)) + "</div>\n"
    if !model.edits.isEmpty { page += groups(model) }
    page += timeline(model) + history(model) + notes(model) + "</main>\n" + footer(model, options)
    try sink(Array(page.utf8))
    try data(model, options, to: sink)
    try sink(Array("<script>\(script)</script>\n</body>\n</html>\n".utf8))
  }

  private static func head(_ model: ReportModel) -> String {
    let digest = Base64.encode(Digest.sha256(Array(script.utf8)))
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
      style-src 'unsafe-inline'; script-src 'sha256-\(digest)'">
      <meta name="color-scheme" content="light dark">
      <meta name="referrer" content="no-referrer">
      <title>\(model.isRehearsal ? "Dry run" : "Report") of \(HTMLText.escaped(model.run.pipeline))</title>
      <style>\(style)</style>
      </head>
      <body>

      """
  }

  /// The edits in the page's markup: open ones first, as many as there is room for.
  private static func edits(
    _ model: ReportModel, _ options: ReportMask
  ) throws -> String {
    var room = room
    func sections(_ isIn: (Verdict) -> Bool) throws -> String {
      var text = ""
      for verdict in order where isIn(verdict) {
        guard let count = model.edits.totals.verdicts[verdict] else { continue }
        var articles: [String] = []
        try model.edits.forEach(where: { $0.verdict == verdict }, limit: room) {
          articles.append(article($0, model, options))
        }
        room -= articles.count
        text += section(verdict, articles, of: count, in: model)
      }
      return text
    }
    var text = try sections { !$0.isSettled }
    var open: [String] = []
    for verdict in order {
      try model.stillOpen.forEach(where: { $0.verdict == verdict }, limit: room - open.count) {
        open.append(article($0, model, options, since($0, model)))
      }
    }
    room -= open.count
    text += stillOpen(open, of: model.stillOpen.count)
    return text + (try sections(\.isSettled))
  }

  private static func header(_ model: ReportModel) -> String {
    var text = """
      <header>
      <p class="eyebrow">\(model.isRehearsal ? "Dry run" : "Return report")</p>
      <h1>\(HTMLText.escaped(model.run.pipeline))</h1>
      <p class="meta">\(time(model.run.now)) · run \(HTMLText.escaped(model.run.id))
      """
    if !model.organizationID.isEmpty {
      let id = HTMLText.escaped(model.organizationID)
      let address = HTMLText.escaped(model.names.instance)
      text +=
        address.isEmpty
        ? " · org \(id)" : " · <a href=\"\(address)\" rel=\"noreferrer\">org \(id)</a>"
    }
    text += "</p>\n"
    if model.isRehearsal {
      text +=
        "<p class=\"next\"><strong>Nothing was sent.</strong> This is what the next run is expected to do: "
      text +=
        "each write is assumed to succeed, unless the org says beforehand that it would refuse it.</p>\n"
    }
    return text + "</header>\n"
  }

  // MARK: totals

  /// The groups of the bar: sent, nothing to send, waiting, and needs review.
  private static func groups(_ counts: [Verdict: Int]) -> [(name: String, kind: String, count: Int)]
  {
    func sum(_ isIn: (Verdict) -> Bool) -> Int {
      counts.filter { isIn($0.key) }.values.reduce(0, +)
    }
    let undone = [Verdict.undone, .partlyUndone, .notUndone].compactMap { verdict in
      counts[verdict].map { (name: verdict.rawValue, kind: kind(verdict), count: $0) }
    }
    return [
      ("sent to the org", "written", sum(\.isWritten)),
      (
        "nothing to send", "settled",
        sum { $0.traits.group == .settled && $0 != .notUndone }
      ),
      ("waiting", "waiting", sum(\.isWaiting)),
      ("to be decided", "attention", sum { $0.traits.group == .attention }),
    ] + undone
  }

  private static func summary(_ model: ReportModel) -> String {
    let counts = model.edits.totals.verdicts
    let groups = groups(counts)
    let total = model.edits.count
    var text = "<section class=\"totals\" aria-label=\"Totals\">\n"
    text += "<p class=\"lead\"><strong>\(total)</strong> "
    text += total == 1 ? "edit processed</p>\n" : "edits processed</p>\n"
    if total > 0 {
      text += "<div class=\"bar\" role=\"presentation\">"
      for group in groups where group.count > 0 {
        text += "<span class=\"\(group.kind)\" style=\"flex-grow:\(group.count)\"></span>"
      }
      text += "</div>\n<ul class=\"legend\">\n"
      for group in groups {
        text += "<li class=\"\(group.kind)\"><b>\(group.count)</b> \(group.name)</li>\n"
      }
      text += "</ul>\n" + verdicts(model)
    }
    for fate in DecisionNote.Fate.allCases {
      guard let count = model.edits.totals.decisions[fate] else { continue }
      text += "<p>Decisions \(fate.rawValue): <strong>\(count)</strong></p>\n"
    }
    let open = model.stillOpen.count
    if open > 0 {
      text += "<p class=\"next\"><a href=\"#still-open\"><strong>\(open)</strong> "
      text += open == 1 ? "edit of an earlier run is" : "edits of earlier runs are"
      text += " still open</a></p>\n"
    }
    if open > 0 || counts.keys.contains(where: { !$0.isSettled }) {
      let command = "attache review \(model.called)"
      text +=
        "<p class=\"next\">What to do next: each open edit below has the commands that decide it; "
      text +=
        "this one opens a page for deciding: \(HTMLText.code(command).replacing("<code>", with: "<code class=\"command\">"))</p>\n"
    }
    return text + "</section>\n"
  }

  private static func verdicts(_ model: ReportModel) -> String {
    let totals = model.edits.totals
    var text = tableStart(
      "Edits by outcome", "Verdict", last: "What it means, and what to do",
      attributes: " class=\"verdicts\"")
    for verdict in order {
      guard let count = totals.verdicts[verdict], count > 0 else { continue }
      text +=
        "<tr><th scope=\"row\"><a class=\"tag \(kind(verdict))\" href=\"#\(anchor(verdict))\">"
      text += "\(verdict.rawValue)</a></th><td class=\"number\">\(count)</td><td>\(verdict.meaning)"
      text += next(totals.nextStep(of: verdict, in: model.called)) + "</td></tr>\n"
    }
    text +=
      "</tbody>\n<tfoot><tr><th scope=\"row\">all</th><td class=\"number\">\(model.edits.count)</td>"
    text += "<td>the sum of the verdicts: every edit found is accounted for</td></tr></tfoot>"
    return text + "\n</table>\n"
  }

  private static func footer(_ model: ReportModel, _ options: ReportMask) -> String {
    var notes: [String] = []
    if !options.showValues { notes.append("Values of fields are not shown.") }
    if !options.names.isEmpty {
      let names = options.names.map(HTMLText.escaped).joined(separator: ", ")
      notes.append("Values of these fields are masked: \(names).")
    }
    notes.append(
      "Times are in UTC, or in your time zone if the page&#39;s script runs; a device&#39;s times are those "
        + "of its own clock.")
    notes.append("Written by attache from its ledger; the same run always produces the same page.")
    return "<footer>" + notes.map { "<p>\($0)</p>" }.joined() + "</footer>\n"
  }

  static func anchor(_ verdict: Verdict) -> String {
    verdict.rawValue.replacing(" ", with: "-")
  }

  static func kind(_ verdict: Verdict) -> String {
    (verdict.isUndone ? .written : verdict.traits.group).rawValue
  }
}
