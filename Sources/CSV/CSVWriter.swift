/// Writes rows as RFC 4180 has them.
package struct CSVWriter: Sendable {
  /// How a row ends.
  package enum LineEnding: Sendable {
    /// A line feed, as Bulk API jobs are told.
    case lf
    /// Carriage return and line feed, as the RFC has it.
    case crlf
  }

  /// What has been written so far.
  package var bytes: [UInt8] = []
  private let lineEnding: LineEnding
  private let guardsFormulas: Bool

  /// Starts with nothing.
  ///
  /// - Parameter guardsFormulas: Puts an apostrophe before a field that a spreadsheet would take
  ///   for a formula; for files that people open, never for a job's data.
  package init(lineEnding: LineEnding = .lf, guardsFormulas: Bool = false) {
    self.lineEnding = lineEnding
    self.guardsFormulas = guardsFormulas
  }

  /// Appends one row.
  package mutating func row(_ fields: [String]) {
    for (index, field) in fields.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(field, alone: fields.count == 1)
    }
    if lineEnding == .crlf { bytes.append(0x0D) }
    bytes.append(0x0A)
  }

  private mutating func append(_ field: String, alone: Bool) {
    let isFormula = guardsFormulas && field.utf8.first.map { "=+-@\t\r".utf8.contains($0) } ?? false
    // A row of one empty field would be an empty line, which readers skip.
    let quoted =
      alone && field.isEmpty || field.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
      || field.utf8.first == 0x20 || field.utf8.last == 0x20
    if quoted { bytes.append(0x22) }
    if isFormula { bytes.append(UInt8(ascii: "'")) }
    for byte in field.utf8 {
      if byte == 0x22 { bytes.append(0x22) }
      bytes.append(byte)
    }
    if quoted { bytes.append(0x22) }
  }
}
