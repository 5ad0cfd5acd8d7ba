import CSV
import System

/// A table of users: a CSV file with a column of user names, and optionally one of refresh tokens.
struct UserTable {
  let file: String

  /// A fault in a table, with its location.
  struct Fault: Error, Hashable {
    /// The line in the table; 0 if the fault is in no particular line.
    var line = 0
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
    var rows: [[String]]
    do throws(CSVError) {
      rows = try CSVReader.table(bytes)
    } catch {
      let isText = String(validating: bytes, as: UTF8.self) != nil
      throw Fault(
        line: error.line, message: error.message,
        fix: isText ? "correct the line" : "save the table as CSV in UTF-8")
    }
    let header = rows.isEmpty ? [] : rows.removeFirst().map(\.trimmed)
    var places: [Int] = []
    for (key, name) in columns {
      guard let place = header.firstIndex(of: name) else {
        throw Fault(
          key: key, message: "the table of users has no column \"\(name)\"",
          fix: Spelling.nearest(name, among: header).map { "did you mean \"\($0)\"? " } ?? ""
            + "name one of its columns in users.csv.\(key)")
      }
      places.append(place)
    }
    return rows.map { row in places.map { $0 < row.count ? row[$0].trimmed : "" } }
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

extension PipelineError {
  /// The error for a faulty table of users.
  init(_ fault: UserTable.Fault, of file: String) {
    self.init(
      .configuration, "users.csv", fault.message,
      location: fault.line > 0 ? "\(file):\(fault.line)" : file, fix: fault.fix)
  }
}
