/// Writes rows in the format of RFC 4180.
package struct CSVWriter: Sendable {
  /// The end of every row, including the last.
  package enum LineEnding: Sendable {
    /// A line feed, as declared for Bulk API jobs.
    case lf
    /// Carriage return and line feed, as in the RFC.
    case crlf
  }

  /// The text written so far.
  package var bytes: [UInt8] = []
  private let lineEnding: LineEnding
  private let delimiter: UInt8
  private let quotesAll: Bool
  private let guardsFormulas: Bool
  private var isInRow = false

  /// Creates an empty writer.
  ///
  /// - Parameters:
  ///   - quotesAll: Quotes every field, as Bulk API results do.
  ///   - guardsFormulas: Puts an apostrophe before a field that a spreadsheet would take for a
  ///     formula. For files that users open, never for the data of a job.
  package init(
    lineEnding: LineEnding = .lf, delimiter: UInt8 = UInt8(ascii: ","), quotesAll: Bool = false,
    guardsFormulas: Bool = false
  ) {
    self.lineEnding = lineEnding
    self.delimiter = delimiter
    self.quotesAll = quotesAll
    self.guardsFormulas = guardsFormulas
  }

  package mutating func row(_ fields: [String]) {
    for field in fields { append(field.utf8, alone: fields.count == 1) }
    endRow()
  }

  /// Appends a field in UTF-8 to the current row, which `endRow` ends.
  package mutating func field(_ text: UnsafeRawBufferPointer) { append(text, alone: false) }

  /// Ends the row that `field` started.
  package mutating func endRow() {
    if lineEnding == .crlf { bytes.append(0x0D) }
    bytes.append(0x0A)
    isInRow = false
  }

  /// The prefix that keeps a spreadsheet from taking a field for a formula.
  private static let guardByte = UInt8(ascii: "'")

  /// The field without the apostrophe that guards it.
  package static func unguarded(_ field: String) -> String {
    guard field.utf8.first == guardByte, isGuarded(field.utf8.dropFirst()) else { return field }
    return String(field.dropFirst())
  }

  /// Whether an apostrophe is put before a field: if a spreadsheet would take it for a formula, or
  /// if it already starts with an apostrophe that a reader would take for the guard.
  package static func isGuarded(_ field: some Collection<UInt8>) -> Bool {
    field.first { $0 != guardByte }.map { "=+-@\t\r".utf8.contains($0) } ?? false
  }

  private mutating func append(_ field: some BidirectionalCollection<UInt8>, alone: Bool) {
    if isInRow { bytes.append(delimiter) }
    isInRow = true
    let isFormula = guardsFormulas && Self.isGuarded(field)
    // A row with a single empty field would be an empty line, which readers skip.
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
