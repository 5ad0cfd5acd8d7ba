import JSON
import Ledger
import System

extension HTMLReport {
  // MARK: edits of earlier runs

  /// The unresolved edits from earlier reports, by verdict.
  static func stillOpen(_ articles: [String], of count: Int) -> String {
    guard count > 0 else { return "" }
    var text = "<section id=\"still-open\" class=\"verdict attention\">\n"
    text += "<h2>Still open <span class=\"count\">\(count)</span></h2>\n"
    text += "<p class=\"quiet\">Edits of earlier runs that need review. "
    text += "Each is listed until it is resolved; they are not included in the totals above.</p>\n"
    return text + articles.joined() + elsewhere(count - articles.count) + "</section>\n"
  }

  static func since(_ edit: ReportEdit, _ model: ReportModel) -> String {
    var text = "<p class=\"where\">Still open: found on \(time(edit.foundAt)), "
    text += "\(age(model.ageDays(since: edit.foundAt)))"
    let step = next(edit.nextStep(in: model.called))
    return text + (step.isEmpty ? "" : "." + step) + "</p>\n"
  }

  static func age(_ days: Int) -> String {
    switch days {
    case 0: "less than a day ago"
    case 1: "a day ago"
    default: "\(days) days ago"
    }
  }

  // MARK: findings

  /// The changes that guards hold, with the digest that confirms them.
  static func held(_ model: ReportModel) -> String {
    section(
      "Held by a guard", [.removalsHeld, .changesHeld],
      "Check why there are so many, then confirm them.", model)
  }

  /// What else needs review: refused returns, skipped users, and more.
  static func findings(_ model: ReportModel) -> String {
    section(
      "Refused returns", [.returnQuarantined, .returnLeft],
      "Listed until removed from the quarantine or the inbox.", model)
      + section("Skipped users", [.userSkipped], "Their devices keep their current bundle.", model)
      + section(
        "Snapshots that may lack records", [.incomplete],
        "Nothing was removed from them; the next prime tries again.", model)
  }

  /// The findings of some kinds, and what to do about them.
  private static func section(
    _ title: String, _ kinds: Set<Finding.Kind>, _ step: String, _ model: ReportModel
  ) -> String {
    let news = model.findings(kinds)
    let all = news + model.findings(kinds, earlier: true)
    if all.isEmpty { return "" }
    var text = "<section class=\"findings attention\"><h2>\(title) "
    text += "<span class=\"count\">\(all.count)</span></h2>\n<p class=\"quiet\">\(step)</p>\n"
    for (place, finding) in all.enumerated() {
      text += article(finding, isNews: place < news.count, model)
    }
    return text + "</section>\n"
  }

  private static func article(
    _ finding: Finding, isNews: Bool, _ model: ReportModel
  ) -> String {
    func escaped(_ name: String) -> String? { finding.text(name).map(HTMLText.escaped) }
    let name = escaped("name") ?? escaped("username") ?? HTMLText.escaped(finding.subject)
    let state = isNews ? finding.state : finding.state + ", as before"
    var text = "<article>\n<h3><span class=\"tag attention\">\(state)</span> \(name)</h3>\n"
    var place = ["found on \(time(finding.time))"]
    if !isNews { place.append(age(model.ageDays(since: finding.time))) }
    if let path = escaped("path") { place.append("<code>\(path)</code>") }
    text += "<p class=\"where\">\(place.joined(separator: " · "))</p>\n<div class=\"reason\">"
    var line = escaped("code").map { "<code>\($0)</code> " } ?? ""
    line += [escaped("reason"), escaped("why")].compactMap { $0 }.joined(separator: ": ")
    text += "<p>\(line)</p>"
    if let step = finding.text("fix") {
      text += "<p class=\"next\">\(HTMLText.prose(step))</p>"
    }
    return text + "</div>\n</article>\n"
  }

  /// The accepted returns, and findings that stopped nothing.
  static func notes(_ model: ReportModel) -> String {
    let returns = model.findings([.returnAccepted, .returnKnown])
    var text = ""
    if !returns.isEmpty {
      text += "<section class=\"soups\"><h2>Returns</h2>\n"
      text += tableStart("Returns by outcome", "File")
      for finding in returns {
        let edits = finding.detail["edits"]?.int.map { String($0) } ?? ""
        text += "<tr><th scope=\"row\">\(HTMLText.escaped(finding.text("name") ?? ""))</th>"
        text += "<td class=\"number\">\(edits)</td><td>"
        text += finding.kind == .returnKnown ? "ingested before; nothing to do" : "accepted"
        text += "</td></tr>\n"
      }
      text += "</tbody></table></section>\n"
    }
    let warnings = model.findings([.warning])
    if !warnings.isEmpty {
      text += "<section class=\"soups\"><h2>Warnings</h2>\n<ul>\n"
      for warning in warnings { text += "<li>\(HTMLText.escaped(warning.subject))</li>\n" }
      text += "</ul></section>\n"
    }
    return text
  }
}
