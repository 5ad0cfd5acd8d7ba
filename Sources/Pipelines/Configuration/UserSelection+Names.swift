import System

extension UserSelection {
  /// Returns the user names in the file or its table, without duplicates; nil if the users are
  /// queried from the org.
  func names() throws -> [String]? {
    switch source {
    case .list(let names): return distinct(names)
    case .csv(let file, let column, _):
      let rows = try Self.rows(of: file, ["username": column])
      return distinct(rows.map { $0[0] }.filter { !$0.isEmpty })
    case .query, .loginUser: return nil
    }
  }

  /// Returns the refresh token of each user, by user name in lower case; nil if the table has none.
  ///
  /// With tokens, the table is a secret that no other user may read.
  func refreshTokens() throws -> [String: Secret]? {
    guard case .csv(let file, let username, let token?) = source else { return nil }
    let bytes = try SecretSource.file(file).resolve([:]).reveal()
    var tokens: [String: Secret] = [:]
    let rows = try Self.rows(of: file, ["username": username, "refreshToken": token], bytes)
    for row in rows where !row[1].isEmpty { tokens[row[0].lowercased()] = Secret(row[1]) }
    return tokens
  }

  /// Whether `except` excludes a user.
  ///
  /// User names are not case-sensitive.
  func leavesOut(_ username: String) -> Bool {
    except.contains { $0.lowercased() == username.lowercased() }
  }

  private func distinct(_ names: [String]) -> [String] {
    var seen: Set<String> = []
    return names.filter { !leavesOut($0) && seen.insert($0.lowercased()).inserted }
  }

  private static func rows(
    of file: String, _ columns: KeyValuePairs<String, String>, _ bytes: [UInt8]? = nil
  ) throws(PipelineError) -> [[String]] {
    do throws(UserTable.Fault) {
      return try UserTable(file: file).rows(columns, of: bytes)
    } catch {
      throw PipelineError(error, of: file)
    }
  }
}
