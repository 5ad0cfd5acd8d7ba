import SQLite
import System

/// What a file from outside was found to be.
struct ExaminedFile {
  let platform: Platform
  /// The alterations that were interrupted in it.
  let interrupted: [SoupAlteration]
  /// What the file system said of it, before its structure was checked.
  let proof: FileStatus?
}

extension Store {
  /// Bytes behind the image of a store that may be read.
  package static var imageMargin: Int { Connection.imageMargin }

  /// Lets a store from outside be read for as long again as it may take to prove it.
  package func renewTime() throws(StoreError) {
    try StoreError.mapping { try connection.renewTime() }
  }

  /// Proves that a file from outside is a sound database with SmartStore's schema.
  ///
  /// One that has not changed since `proof` was found sound then.
  static func examined(
    _ connection: Connection, _ proof: FileStatus? = nil
  ) throws -> ExaminedFile {
    let status = try? Files.status(connection.path)
    let isSound = status != nil && status == proof
    // The grammar first: reading rows may run what the schema says.
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
