import JSON
import System

/// Converts the CSV of a query job to the records that the same query returns as JSON, byte by
/// byte.
///
/// CSV contains only text: an empty value is null, numbers and Booleans are written as in JSON, and
/// a time ends with `Z` where JSON has `+0000`. The types of the columns are taken from the
/// object's description. For each row, the positions of the cells are found first, because the
/// record's address, which precedes its fields, needs the ID.
package struct BulkRecords: Sendable {
  fileprivate enum Kind {
    case text, number, boolean, dateTime
  }

  fileprivate struct Column {
    /// `,"Name":`, the text before each value.
    var opening: [UInt8]
    var kind: Kind
    var isID: Bool
  }

  private struct Cell {
    var start: Int
    var end: Int
    /// Whether the cell contains a quote, which CSV doubles.
    var isEscaped = false

    var isEmpty: Bool { start == end }
  }

  /// The types whose values a query job omits or formats differently.
  private static let unfit: Set<String> = ["address", "location", "base64", "complexvalue"]

  private let describe: Describe
  private let head: [UInt8]

  /// Creates a converter for the records of an object in an API version.
  package init(_ describe: Describe, apiVersion: String) {
    self.describe = describe
    let type = JSONText.quoted(describe.name)
    head = Array(
      "{\"attributes\":{\"type\":\(type),\"url\":\"/services/data/v\(apiVersion)/sobjects/\(describe.name)/"
        .utf8)
  }

  /// Whether a query job returns these fields like a query: plain fields of the object itself.
  package func gives(_ fields: [String]) -> Bool {
    fields.allSatisfy { name in
      describe.field(name).map { !Self.unfit.contains($0.type) } ?? false
    }
  }

  /// The progress of reading a page of CSV.
  package struct Reading {
    private(set) var csv: [UInt8]
    fileprivate var place = 0
    fileprivate var row = 1
    fileprivate var columns: [Column] = []

    /// Creates the state for a page that has not been read.
    package init(_ csv: [UInt8]) { self.csv = csv }
  }

  /// The next records of a page, `{"records":[…]}`, up to a limit, and their number; nil after the
  /// last.
  ///
  /// The JSON of a whole page may need more memory than is acceptable.
  package func next(
    _ reading: inout Reading, most: Int = BulkQueryJob.recordsPerPage
  ) throws(OrgError) -> (json: [UInt8], records: Int)? {
    var course = reading
    let result = reading.csv.withUnsafeBytes { bytes in
      Result { () throws(Fault) in try records(bytes, &course, most) }
    }
    (reading.place, reading.row, reading.columns) = (course.place, course.row, course.columns)
    do throws(Fault) {
      let (json, count) = try result.get()
      return count == 0 ? nil : (json, count)
    } catch {
      throw OrgError(
        .invalidResponse,
        message: "row \(error.row) of a page of CSV is invalid: \(error.message)",
        request: "the result of a query job of \(describe.name)")
    }
  }

  private struct Fault: Error {
    var row: Int
    var message: String
  }

  private func records(
    _ bytes: UnsafeRawBufferPointer, _ course: inout Reading, _ most: Int
  ) throws(Fault) -> (json: [UInt8], records: Int) {
    var cells: [Cell] = []
    if course.columns.isEmpty {
      course.place = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
      guard try Self.row(bytes, &course.place, &cells, 1) else {
        throw Fault(row: 1, message: "it has no header")
      }
      course.columns = try columns(cells.map { text(bytes, $0) })
    }
    let columns = course.columns
    let id = columns.firstIndex(where: \.isID)
    var json = Array(#"{"records":["#.utf8)
    json.reserveCapacity(min((bytes.count - course.place) * 2, 16 << 20))
    var count = 0
    while count < most, try Self.row(bytes, &course.place, &cells, course.row + 1) {
      course.row += 1
      guard cells.count == columns.count else {
        throw Fault(
          row: course.row,
          message: "it has \(cells.count) of \(CountText.of(columns.count, "field"))")
      }
      if count > 0 { json.append(UInt8(ascii: ",")) }
      json.append(contentsOf: head)
      if let id { Self.appendText(bytes, cells[id], &json) }
      json.append(contentsOf: [UInt8(ascii: "\""), UInt8(ascii: "}")])
      for (column, cell) in zip(columns, cells) {
        json.append(contentsOf: column.opening)
        Self.append(bytes, cell, column.kind, &json)
      }
      json.append(UInt8(ascii: "}"))
      count += 1
    }
    json.append(contentsOf: [UInt8(ascii: "]"), UInt8(ascii: "}")])
    return (json, count)
  }

  private func columns(_ names: [String]) throws(Fault) -> [Column] {
    var columns: [Column] = []
    for name in names {
      guard let field = describe.field(name) else {
        throw Fault(row: 1, message: "\(describe.name) has no field \(JSONText.quoted(name))")
      }
      let kind: Kind =
        switch field.type {
        case "int", "long", "double", "currency", "percent": .number
        case "boolean": .boolean
        case "datetime": .dateTime
        default: .text
        }
      columns.append(
        Column(
          opening: Array(",\(JSONText.quoted(field.name)):".utf8), kind: kind,
          isID: field.type == "id"))
    }
    return columns
  }

  private func text(_ bytes: UnsafeRawBufferPointer, _ cell: Cell) -> String {
    String(decoding: bytes[cell.start..<cell.end], as: UTF8.self)
  }

  // MARK: reading CSV

  private static let (comma, quote, newline, carriage) = (
    UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "\n"), UInt8(ascii: "\r")
  )

  /// Finds the cells of the next row; returns false after the last.
  private static func row(
    _ bytes: UnsafeRawBufferPointer, _ place: inout Int, _ cells: inout [Cell], _ number: Int
  ) throws(Fault) -> Bool {
    cells.removeAll(keepingCapacity: true)
    guard place < bytes.count else { return false }
    while true {
      cells.append(try cell(bytes, &place, number))
      guard place < bytes.count else { return true }
      switch bytes[place] {
      case comma: place += 1
      case newline:
        place += 1
        return true
      case carriage:
        place += 1
        if place < bytes.count, bytes[place] == newline { place += 1 }
        return true
      default: throw Fault(row: number, message: "text follows a closing quote")
      }
    }
  }

  private static func cell(
    _ bytes: UnsafeRawBufferPointer, _ place: inout Int, _ number: Int
  ) throws(Fault) -> Cell {
    guard place < bytes.count, bytes[place] == quote else {
      let start = place
      while place < bytes.count, !isEnd(bytes[place]) { place += 1 }
      return Cell(start: start, end: place)
    }
    place += 1
    var cell = Cell(start: place, end: place)
    while place < bytes.count {
      guard bytes[place] == quote else {
        place += 1
        continue
      }
      guard place + 1 < bytes.count, bytes[place + 1] == quote else {
        cell.end = place
        place += 1
        return cell
      }
      cell.isEscaped = true
      place += 2
    }
    throw Fault(row: number, message: "a quote is never closed")
  }

  private static func isEnd(_ byte: UInt8) -> Bool {
    byte == comma || byte == newline || byte == carriage
  }

  // MARK: writing JSON

  private static func append(
    _ bytes: UnsafeRawBufferPointer, _ cell: Cell, _ kind: Kind, _ json: inout [UInt8]
  ) {
    if cell.isEmpty {
      json.append(contentsOf: "null".utf8)
      return
    }
    let value = bytes[cell.start..<cell.end]
    switch kind {
    case .boolean where value.elementsEqual("true".utf8) || value.elementsEqual("false".utf8):
      json.append(contentsOf: value)
    case .number where JSONNumbers.isNumber(value):
      json.append(contentsOf: value)
    default:
      json.append(quote)
      if kind == .dateTime, value.last == UInt8(ascii: "Z") {
        json.append(contentsOf: value.dropLast())
        json.append(contentsOf: "+0000".utf8)
      } else {
        appendText(bytes, cell, &json)
      }
      json.append(quote)
    }
  }

  /// Appends all characters of a cell as the contents of a JSON string, as in a page of a query.
  private static func appendText(
    _ bytes: UnsafeRawBufferPointer, _ cell: Cell, _ json: inout [UInt8]
  ) {
    var place = cell.start
    var plain = place
    while place < cell.end {
      let byte = bytes[place]
      if byte >= 0x20, byte != quote, byte != UInt8(ascii: "\\") {
        place += 1
        continue
      }
      json.append(contentsOf: bytes[plain..<place])
      switch byte {
      case quote, UInt8(ascii: "\\"): json.append(contentsOf: [UInt8(ascii: "\\"), byte])
      case newline: json.append(contentsOf: #"\n"#.utf8)
      case carriage: json.append(contentsOf: #"\r"#.utf8)
      case UInt8(ascii: "\t"): json.append(contentsOf: #"\t"#.utf8)
      default:
        let digits = String(byte, radix: 16)
        json.append(contentsOf: ("\\u00" + (digits.count < 2 ? "0" : "") + digits).utf8)
      }
      place += byte == quote && cell.isEscaped ? 2 : 1
      plain = place
    }
    json.append(contentsOf: bytes[min(plain, cell.end)..<cell.end])
  }
}
