import CSV
import System

extension UserSelection {
  /// The usernames that the file or its table names, each once; nil where the org is asked.
  func names() throws -> [String]? {
    switch source {
    case .list(let names): return distinct(names)
    case .csv(let file, let column, _): return distinct(try Self.names(in: file, column))
    case .query, .loginUser: return nil
    }
  }

  /// Whether `except` leaves a user out; the case of a username means nothing to the org.
  func leavesOut(_ username: String) -> Bool {
    except.contains { $0.lowercased() == username.lowercased() }
  }

  private func distinct(_ names: [String]) -> [String] {
    var seen: Set<String> = []
    return names.filter { !leavesOut($0) && seen.insert($0.lowercased()).inserted }
  }

  private static func names(in file: String, _ column: String) throws -> [String] {
    let bytes = try Files.read(file, limit: 64 << 20)
    var reader = CSVReader()
    var header: [String]?
    var names: [String] = []
    func take(_ row: [String]) {
      guard let columns = header else { return header = row }
      guard let index = columns.firstIndex(of: column), index < row.count else { return }
      if !row[index].isEmpty { names.append(row[index]) }
    }
    try bytes.withUnsafeBytes { try reader.feed($0, row: take) }
    try reader.finish(row: take)
    guard header?.contains(column) == true else {
      throw PipelineError(
        .configuration, "users.csv", "the table of users has no column \"\(column)\"",
        location: file, fix: "name one of its columns in users.csv.username")
    }
    return names
  }
}
