import SQLite
import System

/// The result of validating an untrusted file.
struct ExaminedFile {
  let platform: Platform
  /// The interrupted alterations in the file.
  let interrupted: [SoupAlteration]
  /// The status of the file before its structure was checked.
  let proof: FileStatus?
}

extension Store {
  /// The number of readable bytes that must follow the image of a store.
  package static var imageMargin: Int { Connection.imageMargin }

  /// Restarts the time limit for reading an untrusted store.
  package func renewTime() throws(StoreError) {
    try StoreError.mapping { try connection.renewTime() }
  }

  /// Checks that an untrusted file is a sound database with SmartStore's schema.
  ///
  /// A file that has not changed since `proof` was found sound before.
  static func examined(
    _ connection: Connection, _ proof: FileStatus? = nil
  ) throws -> ExaminedFile {
    let status = try? Files.status(connection.path)
    let isSound = status != nil && status == proof
    // Check the grammar first: reading rows may execute code of the schema.
    let platform = try platform(of: connection)
    let findings = try StoreSchemaCheck.findings(of: connection, platform: platform)
    if let violation = findings.violations.first {
      throw StoreError.notAStore(path: connection.path, reason: violation.description)
    }
    if !isSound, let fault = try connection.quickCheck(limit: 1).first {
      throw StoreError.damaged(path: connection.path, reason: fault)
    }
    return ExaminedFile(platform: platform, interrupted: findings.interrupted, proof: status)
  }
}
