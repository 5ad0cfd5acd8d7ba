import JSON

/// Makes of the CSV of a query job the records that the same query answers as JSON, byte by byte.
///
/// In CSV all is text: a value without characters is null, a number and a boolean are their own words, and
/// a time ends with `Z` where JSON has `+0000`. What a column is the org's description of the object says.
/// Per row the places of the cells are found first, because the record's address, which stands before its
/// fields, needs the Id.
package struct BulkRecords: Sendable {
  fileprivate enum Kind {
    case text, number, boolean, dateTime
  }

  fileprivate struct Column {
    /// `,"Name":`, as it stands before each value.
    var opening: [UInt8]
    var kind: Kind
    var isID: Bool
  }

  private struct Cell {
    var start: Int
    var end: Int
    /// Whether it has a quote, which stands twice.
    var isEscaped = false

    var isEmpty: Bool { start == end }
  }

  /// Types whose values a query job does not give, or not as a query gives them.
  private static let unfit: Set<String> = ["address", "location", "base64", "complexvalue"]

  private let describe: Describe
  private let head: [UInt8]

  /// The records of an object, as a version of the API has them.
  package init(_ describe: Describe, apiVersion: String) {
    self.describe = describe
    let type = JSONText.quoted(describe.name)
    head = Array(
      "{\"attributes\":{\"type\":\(type),\"url\":\"/services/data/v\(apiVersion)/sobjects/\(describe.name)/"
        .utf8)
  }

  /// Says whether a query job gives these fields as a query does: plain ones of the object itself.
  package func gives(_ fields: [String]) -> Bool {
    fields.allSatisfy { name in
      describe.field(name).map { !Self.unfit.contains($0.type) } ?? false
    }
  }

  /// How far a page of CSV is read.
  package struct Reading {
    private(set) var csv: [UInt8]
    fileprivate var place = 0
    fileprivate var row = 1
    fileprivate var columns: [Column] = []

    /// A page that nothing is read of.
    package init(_ csv: [UInt8]) { self.csv = csv }
  }

  /// The next records of a page, `{"records":[…]}`, and how many they are: at most so many; nil after the last.
  ///
  /// What an org gives at once may be more than memory is to hold as JSON.
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
        message: "row \(error.row) of a page of CSV is broken: \(error.message)",
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
          row: course.row, message: "it has \(cells.count) fields of \(columns.count)")
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

  /// Finds the cells of the next row; false after the last.
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
      default: throw Fault(row: number, message: "text stands after a closed quote")
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

  /// The characters of a cell as they stand in a string of JSON, all of them, as a page has them.
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
