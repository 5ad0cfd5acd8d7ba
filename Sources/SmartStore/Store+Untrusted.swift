import SQLite

extension Store {
  /// Proves that a file from outside is a sound database with SmartStore's schema; the alterations
  /// that were interrupted in it.
  static func examined(
    _ connection: Connection
  ) throws -> (platform: Platform, interrupted: [SoupAlteration]) {
    // The grammar first: reading rows may run what the schema says.
    let platform = try platform(of: connection)
    let findings = try StoreSchemaCheck.findings(of: connection, platform: platform)
    if let violation = findings.violations.first {
      throw StoreError.notAStore(path: connection.path, reason: violation.description)
    }
    if let fault = try connection.quickCheck(limit: 1).first {
      throw StoreError.damaged(path: connection.path, reason: fault)
    }
    return (platform, findings.interrupted)
  }
}
