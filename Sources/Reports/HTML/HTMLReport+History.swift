import System

/// The chart of the last runs: four rows of bars, and the same numbers as a table.
extension HTMLReport {
  private struct Measure {
    let name: String
    let unit: String
    let values: [Double]
  }

  private static let barWidth = 8
  private static let height = 40

  /// The chart of the runs before the report's own; nothing where there are fewer than two.
  ///
  /// The report's own run is missing: it has not ended when the page is written.
  static func history(_ model: ReportModel) -> String {
    let runs = model.history
    guard runs.count > 1 else { return "" }
    let measures = [
      Measure(name: "Edits found", unit: "", values: runs.map { Double($0.edits) }),
      Measure(name: "Open edits", unit: "", values: runs.map { Double($0.open) }),
      Measure(name: "Records", unit: "", values: runs.map { Double($0.records) }),
      Measure(name: "Duration", unit: " s", values: runs.map(\.seconds)),
    ]
    var text = "<section class=\"soups\"><h2>The \(runs.count) runs before this one</h2>\n"
    text += "<div class=\"trends\">\n" + measures.map(figure).joined() + "</div>\n"
    text += "<details><summary>The numbers</summary>\n"
    text += "<table class=\"runs\"><caption>Runs, oldest first</caption>"
    text += "<thead><tr><th scope=\"col\">Run</th>"
    for measure in measures {
      text += "<th scope=\"col\" class=\"number\">\(measure.name)</th>"
    }
    text += "</tr></thead>\n<tbody>\n"
    for (place, run) in runs.enumerated() {
      text += "<tr><th scope=\"row\">\(time(run.started))</th>"
      for measure in measures {
        text += "<td class=\"number\">\(number(measure.values[place]))\(measure.unit)</td>"
      }
      text += "</tr>\n"
    }
    return text + "</tbody></table></details>\n</section>\n"
  }

  private static func figure(_ measure: Measure) -> String {
    let most = measure.values.max() ?? 0
    // A few runs have narrow bars too.
    let width = max(measure.values.count, 12) * (barWidth + 2)
    let last = number(measure.values.last ?? 0) + measure.unit
    let words = "\(measure.name): last \(last), most \(number(most))\(measure.unit)"
    var text = "<figure><svg viewBox=\"0 0 \(width) \(height)\" preserveAspectRatio=\"none\" "
    text += "role=\"img\" aria-label=\"\(words)\">"
    for (place, value) in measure.values.enumerated() {
      // Nothing is a line, so that a run without edits is seen to be a run.
      let bar = most > 0 ? max(1, Int((value / most * Double(height)).rounded())) : 1
      text += "<rect x=\"\(place * (barWidth + 2))\" y=\"\(height - bar)\" width=\"\(barWidth)\" "
      text += "height=\"\(bar)\"/>"
    }
    return text + "</svg><figcaption>\(words)</figcaption></figure>\n"
  }

  private static func number(_ value: Double) -> String {
    if value == value.rounded() { return String(Int(value)) }
    return String((value * 10).rounded() / 10)
  }
}
