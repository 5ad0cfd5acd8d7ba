import Arguments
import Bundles
import Crypto
import Pipelines
import SmartStore
import System

/// The key options of `store seal` and `store unseal`.
///
/// A passphrase is never an argument, because every user of the machine can read arguments.
struct SealOptions: Sendable {
  /// Returns the options; `salt` is the meaning of `--salt` for the command.
  static func parameters(salt: String) -> [Parameter<SealOptions>] {
    passphrase + [
      .option(
        "kdf-iterations", "N",
        "iterations of the key derivation; \(SQLCipherKey.sdkIterations) is the SDK's number",
        \.iterations),
      .option("salt", "HEX", salt, \.salt),
    ]
  }

  /// The options that name the passphrase.
  static var passphrase: [Parameter<SealOptions>] {
    [
      .option(
        "passphrase-env", "NAME", "the environment variable with the passphrase",
        \.environment),
      .option(
        "passphrase-file", "PATH", "the file with the passphrase, readable only by you",
        completes: .files, \.file),
    ]
  }

  /// Whether a passphrase is named.
  var isGiven: Bool { !environment.isEmpty || !file.isEmpty }

  var environment = ""
  var file = ""
  var iterations = SQLCipherKey.sdkIterations
  var salt = ""

  /// The fix for a wrong salt of a store that is sealed already.
  private static let printedSalt = "give the 32 hexadecimal digits that store seal printed"

  /// `saltFix` is the fix for a wrong salt.
  func validate(saltFix: String = printedSalt) throws(UsageError) {
    guard environment.isEmpty || file.isEmpty else {
      throw UsageError(
        "--passphrase-env and --passphrase-file exclude each other", hint: "give one of them")
    }
    guard environment.isEmpty != file.isEmpty else {
      throw UsageError(
        "a passphrase is needed", hint: "give --passphrase-env NAME or --passphrase-file PATH")
    }
    guard SQLCipherKey.iterationRange.contains(iterations) else {
      throw UsageError(
        "--kdf-iterations must be a number from 1 to \(SQLCipherKey.iterationRange.upperBound)",
        hint: "\(SQLCipherKey.sdkIterations) is the SDK's number")
    }
    _ = try saltBytes(fix: saltFix)
  }

  /// The salt of a plain header; nil if none was given.
  func saltBytes(fix: String = printedSalt) throws(UsageError) -> [UInt8]? {
    if salt.isEmpty { return nil }
    guard let bytes = Hex.decode(salt), bytes.count == SQLCipherKey.saltBytes else {
      throw UsageError("--salt must be 32 hexadecimal digits", hint: fix)
    }
    return bytes
  }

  /// The key of sealed stores of bundles; nil if no passphrase is named.
  func keyIfGiven(_ context: Program) throws -> SQLCipherKey? {
    guard isGiven else { return nil }
    try validate()
    return try key(context, header: .sealed)
  }

  /// The key of sealed archives of bundles; nil if no passphrase is named.
  func archiveKeyIfGiven(_ context: Program) throws -> ArchiveKey? {
    guard isGiven else { return nil }
    try validate()
    return ArchiveKey(passphrase: Secret(try passphrase(context)))
  }

  func key(_ context: Program, header: SQLCipherKey.Header) throws -> SQLCipherKey {
    try SQLCipherKey(
      passphrase: Secret(passphrase(context)), iterations: iterations, header: header)
  }

  private func passphrase(_ context: Program) throws -> String {
    let source: SecretSource =
      file.isEmpty ? .env(environment) : .file(context.absolute(file))
    let secret: Secret
    do throws(SecretError) {
      secret = try source.resolve(context.variables)
    } catch {
      throw PipelineError(
        .configuration, "secret", "the passphrase cannot be read", reason: error.message,
        fix: error.fix)
    }
    guard let text = secret.text else {
      throw PipelineError(
        .configuration, "secret", "the passphrase is not UTF-8", fix: "write it as text")
    }
    return text
  }
}
