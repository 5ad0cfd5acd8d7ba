/// What is wrong with a CSV text, and where.
package struct CSVError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The 1-based line.
  package let line: Int
  /// What is wrong.
  package let message: String

  /// Line and what is wrong.
  package var description: String { "line \(line): \(message)" }
}

/// Reads rows as RFC 4180 has them, from pieces of any size.
///
/// Line ends may be LF, CRLF or CR; a byte-order mark is skipped, so are empty lines.
package struct CSVReader: Sendable {
  private enum State {
    case fieldStart, plain, quoted, quoteInQuoted
  }

  /// A field longer than this is a missing quote, not data: the API's own limit is far below.
  private static let fieldLimit = 32 << 20

  private let delimiter: UInt8
  private var state = State.fieldStart
  private var fields: [String] = []
  private var field: [UInt8] = []
  private var line = 1
  private var quoteLine = 1
  private var wasQuoted = false
  private var lastWasReturn = false
  private var mark: [UInt8]? = []

  /// Starts before the first row.
  package init(delimiter: UInt8 = UInt8(ascii: ",")) {
    self.delimiter = delimiter
  }

  /// Takes the next piece and hands on the rows that it completes.
  package mutating func feed(
    _ bytes: UnsafeRawBufferPointer, row: ([String]) throws -> Void
  ) throws {
    for byte in bytes { try skipMark(byte, row) }
  }

  /// Takes the end of the text and hands on a last row that had no line end.
  package mutating func finish(row: ([String]) throws -> Void) throws {
    if let pending = mark {
      mark = nil
      for byte in pending { try take(byte, row) }
    }
    guard state != .quoted else {
      throw CSVError(line: quoteLine, message: "the quote that opens here is never closed")
    }
    try endRow(row)
  }

  /// The rows of a whole table that a person keeps, its header first.
  ///
  /// A spreadsheet writes a semicolon or a tab between the cells where the comma is a decimal sign: the header tells,
  /// in which no column's name has one.
  package static func table(_ bytes: [UInt8]) throws(CSVError) -> [[String]] {
    let header = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
    let delimiter = [UInt8(ascii: ";"), 0x09].first(where: header.contains) ?? UInt8(ascii: ",")
    var rows: [[String]] = []
    var reader = CSVReader(delimiter: delimiter)
    do {
      try bytes.withUnsafeBytes { try reader.feed($0) { rows.append($0) } }
      try reader.finish { rows.append($0) }
    } catch let error as CSVError {
      throw error
    } catch {
      // Nothing else is thrown: no row is refused.
      throw CSVError(line: 0, message: "\(error)")
    }
    return rows
  }

  private mutating func skipMark(_ byte: UInt8, _ row: ([String]) throws -> Void) throws {
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

  private mutating func take(_ byte: UInt8, _ row: ([String]) throws -> Void) throws {
    let followsReturn = lastWasReturn
    lastWasReturn = false
    if state == .quoted {
      if byte == 0x22 {
        state = .quoteInQuoted
      } else {
        if byte == 0x0A { line += 1 }
        try append(byte)
      }
      return
    }
    switch byte {
    case delimiter: try endField()
    case 0x0A:
      if !followsReturn {
        try endRow(row)
        line += 1
      }
    case 0x0D:
      try endRow(row)
      line += 1
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
        throw CSVError(line: line, message: "something follows the closing quote of a field")
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
    field.removeAll(keepingCapacity: true)
    state = .fieldStart
  }

  private mutating func endRow(_ row: ([String]) throws -> Void) throws {
    if fields.isEmpty, field.isEmpty, !wasQuoted {
      state = .fieldStart
      return
    }
    try endField()
    let complete = fields
    fields.removeAll(keepingCapacity: true)
    wasQuoted = false
    try row(complete)
  }
}
