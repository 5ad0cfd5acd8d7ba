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
  private let delimiter: UInt8
  private let quotesAll: Bool
  private let guardsFormulas: Bool
  private var isInRow = false

  /// Starts with nothing.
  ///
  /// - Parameters:
  ///   - quotesAll: Puts every field in quotes, as Bulk API results have them.
  ///   - guardsFormulas: Puts an apostrophe before a field that a spreadsheet would take for a
  ///     formula; for files that people open, never for a job's data.
  package init(
    lineEnding: LineEnding = .lf, delimiter: UInt8 = UInt8(ascii: ","), quotesAll: Bool = false,
    guardsFormulas: Bool = false
  ) {
    self.lineEnding = lineEnding
    self.delimiter = delimiter
    self.quotesAll = quotesAll
    self.guardsFormulas = guardsFormulas
  }

  /// Appends one row.
  package mutating func row(_ fields: [String]) {
    for field in fields { append(field.utf8, alone: fields.count == 1) }
    endRow()
  }

  /// Appends one field, in UTF-8, to the row that `endRow` ends.
  package mutating func field(_ text: UnsafeRawBufferPointer) { append(text, alone: false) }

  /// Ends the row that `field` began.
  package mutating func endRow() {
    if lineEnding == .crlf { bytes.append(0x0D) }
    bytes.append(0x0A)
    isInRow = false
  }

  /// What keeps a spreadsheet from taking a field for a formula.
  private static let guardByte = UInt8(ascii: "'")

  /// A field as it was before an apostrophe was put before it.
  package static func unguarded(_ field: String) -> String {
    guard field.utf8.first == guardByte, isGuarded(field.utf8.dropFirst()) else { return field }
    return String(field.dropFirst())
  }

  /// Says whether an apostrophe goes before a field: a spreadsheet would take it for a formula, or a reader
  /// its own apostrophes for that one.
  package static func isGuarded(_ field: some Collection<UInt8>) -> Bool {
    field.first { $0 != guardByte }.map { "=+-@\t\r".utf8.contains($0) } ?? false
  }

  private mutating func append(_ field: some BidirectionalCollection<UInt8>, alone: Bool) {
    if isInRow { bytes.append(delimiter) }
    isInRow = true
    let isFormula = guardsFormulas && Self.isGuarded(field)
    // A row of one empty field would be an empty line, which readers skip.
    let quoted =
      quotesAll || alone && field.isEmpty
      || field.contains { $0 == 0x22 || $0 == 0x0A || $0 == 0x0D || $0 == delimiter }
      || field.first == 0x20 || field.last == 0x20
    if quoted { bytes.append(0x22) }
    if isFormula { bytes.append(Self.guardByte) }
    for byte in field {
      if byte == 0x22 { bytes.append(0x22) }
      bytes.append(byte)
    }
    if quoted { bytes.append(0x22) }
  }
}
