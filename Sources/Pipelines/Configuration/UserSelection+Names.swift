import CSV
import System

extension UserSelection {
  /// The usernames that the file or its table names, each once; nil where the org is asked.
  func names() throws -> [String]? {
    switch source {
    case .list(let names): return distinct(names)
    case .csv(let file, let column, _):
      let bytes = try Files.read(file, limit: Self.tableLimitBytes)
      let names = try Self.columns([column], of: bytes, file).map { $0[0] }
      return distinct(names.filter { !$0.isEmpty })
    case .query, .loginUser: return nil
    }
  }

  /// The refresh token of each user, by the username in lower case; nil where the table has none.
  ///
  /// The table is a secret then, and nobody else may read it.
  func refreshTokens() throws -> [String: Secret]? {
    guard case .csv(let file, let username, let token?) = source else { return nil }
    let bytes = try SecretSource.file(file).resolve([:]).reveal()
    var tokens: [String: Secret] = [:]
    for row in try Self.columns([username, token], of: bytes, file) where !row[1].isEmpty {
      tokens[row[0].lowercased()] = Secret(row[1])
    }
    return tokens
  }

  private static let tableLimitBytes = 64 << 20

  /// Whether `except` leaves a user out; the case of a username means nothing to the org.
  func leavesOut(_ username: String) -> Bool {
    except.contains { $0.lowercased() == username.lowercased() }
  }

  private func distinct(_ names: [String]) -> [String] {
    var seen: Set<String> = []
    return names.filter { !leavesOut($0) && seen.insert($0.lowercased()).inserted }
  }

  /// The cells of some columns, row by row; an empty text where a row is too short.
  private static func columns(
    _ names: [String], of bytes: [UInt8], _ file: String
  ) throws -> [[String]] {
    var reader = CSVReader()
    var header: [String]?
    var rows: [[String]] = []
    func take(_ row: [String]) {
      guard let columns = header else { return header = row }
      rows.append(
        names.map { name in
          guard let index = columns.firstIndex(of: name), index < row.count else { return "" }
          return row[index]
        })
    }
    try bytes.withUnsafeBytes { try reader.feed($0, row: take) }
    try reader.finish(row: take)
    for (name, key) in zip(names, ["username", "refreshToken"]) {
      guard header?.contains(name) != true else { continue }
      throw PipelineError(
        .configuration, "users.csv", "the table of users has no column \"\(name)\"",
        location: file, fix: "name one of its columns in users.csv.\(key)")
    }
    return rows
  }
}
