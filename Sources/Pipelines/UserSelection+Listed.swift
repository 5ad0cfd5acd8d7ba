import CSV
import System

extension UserSelection {
  /// The usernames that a list or a table names; none where a query or the login says who they are.
  package func listed() throws -> [String] {
    switch source {
    case .list(let names): names
    case .csv(let file, let column, _): try Self.names(in: file, column)
    case .query, .loginUser: []
    }
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
