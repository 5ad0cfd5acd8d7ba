import System

/// Formats rows in columns.
enum TextTable {
  /// Returns the lines of a table whose columns are as wide as their widest value.
  ///
  /// With `isCut`, for a terminal, a column has at most 60 characters.
  static func lines(header: [String], rows: [[String]], isCut: Bool) -> [String] {
    let all = ([header] + rows).map { $0.map { oneLine($0, isCut: isCut) } }
    let columns = all.map(\.count).max() ?? 0
    var widths = Array(repeating: 0, count: columns)
    for row in all {
      for (index, value) in row.enumerated() { widths[index] = max(widths[index], value.count) }
    }
    func line(_ row: [String]) -> String {
      var text = ""
      for (index, value) in row.enumerated() {
        text += value
        if index < row.count - 1 {
          text += String(repeating: " ", count: widths[index] - value.count + 2)
        }
      }
      return text
    }
    guard !header.isEmpty else { return [] }
    let rule = widths.map { String(repeating: "-", count: $0) }
    return [line(all[0]), line(rule)] + all.dropFirst().map(line)
  }

  /// A value on one line, as it will be printed, shortened with `isCut`.
  private static func oneLine(_ value: String, isCut: Bool) -> String {
    let clean = VisibleText.line(value).replacing("\t", with: " ")
    return !isCut || clean.count <= 60 ? clean : String(clean.prefix(59)) + "…"
  }
}
