import JSON
import Ledger
import System

/// `report.html`: one page for a person, without script and without anything from elsewhere.
package enum HTMLReport: ReportFormat {
  /// `html`.
  package static let name = "html"

  /// The one file.
  package static let files = ["report.html"]

  /// Writes the page.
  package static func write(
    _ file: String, _ model: ReportModel, _ options: ReportMask, to sink: ReportSink
  ) throws(SystemError) {
    try sink(Array(page(model, options).utf8))
  }

  /// How many edits stand in one block that a browser lays out only when it is looked at.
  static let chunkSize = 500

  /// Verdicts in the order in which a person should read them.
  static let order: [Verdict] = [
    .conflict, .clash, .failed, .inDoubt, .createdTwice, .mergedOnServer, .deletedOnServer,
    .notVisible, .notPermitted, .blocked, .held, .notConfigured, .created, .updated, .deleted,
    .alreadyThere,
    .unchanged, .filtered, .dropped, .superseded,
  ]

  private static func page(_ model: ReportModel, _ options: ReportMask) -> String {
    let title = "Reconciliation of \(HTMLText.escaped(model.run.pipeline))"
    var page = """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy" \
      content="default-src 'none'; style-src 'unsafe-inline'">
      <meta name="color-scheme" content="light dark">
      <meta name="referrer" content="no-referrer">
      <title>\(title)</title>
      <style>\(style)</style>
      </head>
      <body>

      """
    page += header(model)
    page += "<main>\n"
    page += summary(model)
    if model.edits.isEmpty {
      page +=
        "<p class=\"quiet\">No edits came back, so there is nothing new to tell of them.</p>\n"
    }
    let known = Set((model.edits + model.stillOpen).map(\.number))
    page += findings(model)
    page += sections(model, options, known) { !$0.isSettled }
    page += stillOpen(model, options, known: known)
    if !model.edits.isEmpty { page += soups(model) }
    page += sections(model, options, known) { $0.isSettled }
    page += notes(model)
    page += "</main>\n" + footer(model, options) + "</body>\n</html>\n"
    return page
  }

  private static func sections(
    _ model: ReportModel, _ options: ReportMask, _ known: Set<Int64>,
    _ isIn: (Verdict) -> Bool
  ) -> String {
    var text = ""
    for verdict in order where isIn(verdict) {
      let edits = model.edits(with: verdict)
      if !edits.isEmpty { text += section(verdict, edits, model, options, known: known) }
    }
    return text
  }

  private static func header(_ model: ReportModel) -> String {
    let time = Dates.utcSeconds(model.run.now)
    let readable = time.replacing("T", with: " ").replacing("Z", with: " UTC")
    return """
      <header>
      <p class="eyebrow">Reconciliation report</p>
      <h1>\(HTMLText.escaped(model.run.pipeline))</h1>
      <p class="meta"><time datetime="\(time)">\(readable)</time> · run \
      \(HTMLText.escaped(model.run.id))\
      \(model.organizationID.isEmpty ? "" : " · org " + HTMLText.escaped(model.organizationID))</p>
      </header>

      """
  }

  // MARK: totals

  /// The groups of the bar: what reached the org, what needed nothing, what waits, what a person
  /// has to look at.
  private static func groups(_ counts: [Verdict: Int]) -> [(name: String, kind: String, count: Int)]
  {
    func sum(_ isIn: (Verdict) -> Bool) -> Int {
      counts.filter { isIn($0.key) }.values.reduce(0, +)
    }
    return [
      ("sent to the org", "written", sum(\.isWritten)),
      ("needed nothing", "settled", sum { $0.isSettled && !$0.isWritten }),
      ("waiting", "waiting", sum(\.isWaiting)),
      ("for a person to decide", "attention", sum { !$0.isSettled && !$0.isWaiting }),
    ]
  }

  private static func summary(_ model: ReportModel) -> String {
    let counts = model.counts
    let groups = groups(counts)
    let total = model.edits.count
    var text = "<section class=\"totals\" aria-label=\"Totals\">\n"
    text += "<p class=\"lead\"><strong>\(total)</strong> "
    text += total == 1 ? "edit was taken up.</p>\n" : "edits were taken up.</p>\n"
    if total > 0 {
      text += "<div class=\"bar\" role=\"presentation\">"
      for group in groups where group.count > 0 {
        text += "<span class=\"\(group.kind)\" style=\"flex-grow:\(group.count)\"></span>"
      }
      text += "</div>\n<ul class=\"legend\">\n"
      for group in groups {
        text +=
          "<li class=\"\(group.kind)\(group.count == 0 ? " none" : "")\"><b>\(group.count)</b> "
        text += "\(group.name)</li>\n"
      }
      text += "</ul>\n" + verdicts(counts, total)
    }
    for fate in DecisionNote.Fate.allCases {
      guard let count = model.decisions[fate] else { continue }
      text += "<p>Decisions \(fate.rawValue): <strong>\(count)</strong></p>\n"
    }
    let open = model.stillOpen.count
    if open > 0 {
      text += "<p class=\"next\"><a href=\"#still-open\"><strong>\(open)</strong> "
      text += open == 1 ? "edit of an earlier run is" : "edits of earlier runs are"
      text += " still open</a></p>\n"
    }
    return text + "</section>\n"
  }

  private static func verdicts(_ counts: [Verdict: Int], _ total: Int) -> String {
    var text = """
      <table class="verdicts">
      <thead><tr><th scope="col">Verdict</th><th scope="col" class="number">Edits</th>\
      <th scope="col">What it means, and what to do</th></tr></thead>
      <tbody>

      """
    for verdict in order {
      guard let count = counts[verdict], count > 0 else { continue }
      text +=
        "<tr><th scope=\"row\"><a class=\"tag \(kind(verdict))\" href=\"#\(anchor(verdict))\">"
      text += "\(verdict.rawValue)</a></th><td class=\"number\">\(count)</td><td>\(verdict.meaning)"
      if let next = verdict.nextStep { text += " <span class=\"next\">\(next)</span>" }
      text += "</td></tr>\n"
    }
    text += "</tbody>\n<tfoot><tr><th scope=\"row\">all</th><td class=\"number\">\(total)</td>"
    text += "<td>the sum of the verdicts: every edit found is accounted for</td></tr></tfoot>"
    return text + "\n</table>\n"
  }

  private static func soups(_ model: ReportModel) -> String {
    var text = """
      <section class="soups"><h2>By soup</h2>
      <table>
      <thead><tr><th scope="col">Soup</th><th scope="col" class="number">Edits</th>\
      <th scope="col">Verdicts</th></tr></thead>
      <tbody>

      """
    for (soup, counts) in model.soups {
      let parts = order.compactMap { verdict in
        counts[verdict].map {
          "<span class=\"tag \(kind(verdict))\">\(verdict.rawValue) \($0)</span>"
        }
      }
      text += "<tr><th scope=\"row\">\(HTMLText.escaped(soup.soup))"
      text += " <small>\(HTMLText.escaped(soup.store.text))</small></th>"
      text += "<td class=\"number\">\(counts.values.reduce(0, +))</td>"
      text += "<td>\(parts.joined(separator: " "))</td></tr>\n"
    }
    return text + "</tbody></table></section>\n"
  }

  private static func footer(_ model: ReportModel, _ options: ReportMask) -> String {
    var notes: [String] = []
    if !options.showValues { notes.append("Values of fields are not shown.") }
    if !options.mask.isEmpty {
      let names = options.mask.sorted().map(HTMLText.escaped).joined(separator: ", ")
      notes.append("Values of these fields are masked: \(names).")
    }
    notes.append("Written by attache from its ledger; the same run always makes the same page.")
    return "<footer>" + notes.map { "<p>\($0)</p>" }.joined() + "</footer>\n"
  }

  static func anchor(_ verdict: Verdict) -> String {
    verdict.rawValue.replacing(" ", with: "-")
  }

  static func kind(_ verdict: Verdict) -> String {
    if verdict.isWritten { return "written" }
    if verdict.isSettled { return "settled" }
    return verdict.isWaiting ? "waiting" : "attention"
  }
}
