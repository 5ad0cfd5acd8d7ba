import CSV
import System

/// A table of users: a CSV file with a column of user names, and optionally one of refresh tokens.
struct UserTable {
  let file: String

  /// A fault in a table, with its location.
  struct Fault: Error, Hashable {
    /// The line in the table; 0 if the fault is in no particular line.
    var line = 0
    var column = 1
    /// The key of `users.csv` whose value does not match; nil if the file itself is faulty.
    var key: String?
    let message: String
    let fix: String
  }

  private static let limitBytes = 64 << 20

  /// Returns the cells of some columns, row by row and without surrounding white space; empty for
  /// rows that are too short.
  ///
  /// - Parameters:
  ///   - columns: The column names, by the key that names each.
  ///   - bytes: The content of the file, if it was already read.
  func rows(
    _ columns: KeyValuePairs<String, String>, of bytes: [UInt8]? = nil
  ) throws(Fault) -> [[String]] {
    let bytes = if let bytes { bytes } else { try read() }
    var rows: [[CSVReader.Cell]]
    do throws(CSVError) {
      rows = try CSVReader.cells(bytes)
    } catch {
      let isText = String(validating: bytes, as: UTF8.self) != nil
      throw Fault(
        line: error.line, message: error.message,
        fix: isText ? "correct the line" : "save the table as CSV in UTF-8")
    }
    let header = rows.isEmpty ? [] : rows.removeFirst()
    var places: [Int] = []
    for (key, name) in columns { places.append(try Self.place(of: name, key, in: header)) }
    return try rows.map { row throws(Fault) in
      let isBlank = row.allSatisfy { $0.text.trimmed.isEmpty }
      var cells: [String] = []
      for (place, column) in zip(places, columns) {
        let cell = place < row.count ? row[place] : nil
        let text = cell?.text.trimmed ?? ""
        if column.key == "username", text.isEmpty, !isBlank {
          throw Fault(
            cell ?? row[0], "the row has no user name in the column \"\(column.value)\"",
            "write the name, or remove the row")
        }
        if let cell, let code = VisibleText.hidden(in: text) {
          throw Fault(
            cell, "the cell has a character that cannot be seen (\(code))", "type the text again")
        }
        cells.append(text)
      }
      return cells
    }
  }

  /// Returns the index of a column.
  private static func place(
    of name: String, _ key: String, in header: [CSVReader.Cell]
  ) throws(Fault) -> Int {
    let same = header.filter { VisibleText.folded($0.text) == VisibleText.folded(name) }
    if same.count > 1 {
      throw Fault(
        same[1], "the table of users has two columns \"\(name)\"", "remove one, or rename it")
    }
    if let place = header.firstIndex(where: { $0.text.trimmed == name }) { return place }
    if let cell = same.first, let code = VisibleText.hidden(in: cell.text.trimmed) {
      throw Fault(
        cell, "the name of the column has a character that cannot be seen (\(code))",
        "type the name again")
    }
    let names = header.map(\.text.trimmed)
    throw Fault(
      key: key, message: "the table of users has no column \"\(name)\"",
      fix: Spelling.nearest(name, among: names).map { "did you mean \"\($0)\"? " } ?? ""
        + "name one of its columns in users.csv.\(key)")
  }

  private func read() throws(Fault) -> [UInt8] {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try Files.read(file, limit: Self.limitBytes)
    } catch {
      throw Fault(
        message: "the table of users cannot be read: \(error.reason)",
        fix: "paths are relative to the pipeline file's directory; write the path from there in "
          + "users.csv.file")
    }
    if let fault = PipelineFile.fault(ofModeOf: file) {
      throw Fault(message: fault.message, fix: fault.fix)
    }
    return bytes
  }
}

extension UserTable.Fault {
  /// A fault at a cell.
  fileprivate init(_ cell: CSVReader.Cell, _ message: String, _ fix: String) {
    self.init(line: cell.line, column: cell.column, message: message, fix: fix)
  }
}

extension PipelineError {
  /// The error for a faulty table of users.
  init(_ fault: UserTable.Fault, of file: String) {
    self.init(
      .configuration, "users.csv", fault.message,
      location: fault.line > 0 ? "\(file):\(fault.line):\(fault.column)" : file, fix: fault.fix)
  }
}
