/// A fault in a CSV text, with its line.
package struct CSVError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The line number, counted from 1.
  package let line: Int
  package let message: String

  /// The line, then the fault.
  package var description: String { "line \(line): \(message)" }
}

/// Reads rows in the format of RFC 4180 from pieces of any size.
///
/// Lines may end with LF, CRLF or CR. A byte-order mark and empty lines are skipped.
package struct CSVReader: Sendable {
  private enum State {
    case fieldStart, plain, quoted, quoteInQuoted
  }

  /// A location in the text, counted from 1: a column is a character of its line.
  private typealias Position = (line: Int, column: Int)

  /// A cell of a table that a user edits.
  package struct Cell: Sendable, Hashable {
    package let text: String
    /// Its first character, counted from 1.
    package let line: Int
    package let column: Int
  }

  /// A longer field means that a quote is missing; the limit of the API is far lower.
  private static let fieldLimit = 32 << 20

  private let delimiter: UInt8
  private var state = State.fieldStart
  private var fields: [String] = []
  private var field: [UInt8] = []
  private var positions: [Position] = []
  private var start: Position = (1, 1)
  private var line = 1
  private var column = 1
  private var quoteLine = 1
  private var wasQuoted = false
  private var lastWasReturn = false
  private var mark: [UInt8]? = []

  package init(delimiter: UInt8 = UInt8(ascii: ",")) {
    self.delimiter = delimiter
  }

  /// Parses the next piece and passes the rows that it completes to `row`.
  package mutating func feed(
    _ bytes: UnsafeRawBufferPointer, row: ([String]) throws -> Void
  ) throws {
    for byte in bytes { try skipMark(byte) { fields, _ in try row(fields) } }
  }

  /// Ends the text and passes a last row without a line end to `row`.
  package mutating func finish(row: ([String]) throws -> Void) throws {
    try end { fields, _ in try row(fields) }
  }

  private mutating func end(_ row: ([String], [Position]) throws -> Void) throws {
    if let pending = mark {
      mark = nil
      for byte in pending { try take(byte, row) }
    }
    guard state != .quoted else {
      throw CSVError(line: quoteLine, message: "the quote opened here is never closed")
    }
    try endRow(row)
  }

  /// The rows of a whole table that a user edits, header first.
  ///
  /// Where the comma is the decimal separator, a spreadsheet separates cells with a semicolon or a
  /// tab. The header shows which one, as no column name contains either.
  package static func cells(_ bytes: [UInt8]) throws(CSVError) -> [[Cell]] {
    let header = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
    let delimiter = [UInt8(ascii: ";"), 0x09].first(where: header.contains) ?? UInt8(ascii: ",")
    var rows: [[Cell]] = []
    func add(_ fields: [String], _ positions: [Position]) {
      rows.append(
        zip(fields, positions).map { Cell(text: $0, line: $1.line, column: $1.column) })
    }
    var reader = CSVReader(delimiter: delimiter)
    do {
      for byte in bytes { try reader.skipMark(byte, add) }
      try reader.end(add)
    } catch let error as CSVError {
      throw error
    } catch {
      // No other error is thrown: the closure rejects no row.
      throw CSVError(line: 0, message: "\(error)")
    }
    return rows
  }

  /// The texts of the rows of a whole table that a user edits.
  package static func table(_ bytes: [UInt8]) throws(CSVError) -> [[String]] {
    try cells(bytes).map { $0.map(\.text) }
  }

  private mutating func skipMark(
    _ byte: UInt8, _ row: ([String], [Position]) throws -> Void
  ) throws {
    guard var pending = mark else { return try take(byte, row) }
    pending.append(byte)
    mark = pending
    let expected: [UInt8] = [0xEF, 0xBB, 0xBF]
    if pending == expected {
      mark = nil
    } else if !expected.starts(with: pending) {
      mark = nil
      for byte in pending { try take(byte, row) }
    }
  }

  private mutating func take(
    _ byte: UInt8, _ row: ([String], [Position]) throws -> Void
  ) throws {
    let followsReturn = lastWasReturn
    lastWasReturn = false
    // Only the first byte of a character counts.
    if byte & 0xC0 != 0x80 { column += 1 }
    if state == .quoted {
      if byte == 0x22 {
        state = .quoteInQuoted
      } else {
        if byte == 0x0A { (line, column) = (line + 1, 1) }
        try append(byte)
      }
      return
    }
    switch byte {
    case delimiter:
      try endField()
      start = (line, column)
    case 0x0A:
      if followsReturn { column = 1 } else { try endLine(row) }
    case 0x0D:
      try endLine(row)
      lastWasReturn = true
    case 0x22 where state == .fieldStart:
      state = .quoted
      wasQuoted = true
      quoteLine = line
    case 0x22 where state == .quoteInQuoted:
      state = .quoted
      try append(byte)
    default:
      guard state != .quoteInQuoted else {
        throw CSVError(line: line, message: "data follows the closing quote of a field")
      }
      state = .plain
      try append(byte)
    }
  }

  private mutating func append(_ byte: UInt8) throws {
    guard field.count < Self.fieldLimit else {
      throw CSVError(line: quoteLine, message: "a field is longer than 32 MiB")
    }
    field.append(byte)
  }

  private mutating func endField() throws {
    guard let text = String(validating: field, as: UTF8.self) else {
      throw CSVError(line: line, message: "a field is not valid UTF-8")
    }
    fields.append(text)
    positions.append(start)
    field.removeAll(keepingCapacity: true)
    state = .fieldStart
  }

  private mutating func endLine(_ row: ([String], [Position]) throws -> Void) throws {
    try endRow(row)
    (line, column) = (line + 1, 1)
    start = (line, column)
  }

  private mutating func endRow(_ row: ([String], [Position]) throws -> Void) throws {
    if fields.isEmpty, field.isEmpty, !wasQuoted {
      state = .fieldStart
      return
    }
    try endField()
    let (complete, places) = (fields, positions)
    fields.removeAll(keepingCapacity: true)
    positions.removeAll(keepingCapacity: true)
    wasQuoted = false
    try row(complete, places)
  }
}
