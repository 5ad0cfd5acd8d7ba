import Bundles
import Ledger
import SmartStore
import System

/// The keys that seal the stores of bundles and open sealed returns.
struct SealingKeys {
  let run: RunContext

  /// The message for a passphrase that cannot seal archives.
  static let notKey = (
    message: "the passphrase of sealed archives is not base64 of 32 bytes",
    fix: "create one with: openssl rand -base64 32"
  )

  /// Returns how bundles are sealed; nil for plain ones.
  func sealing() throws -> BundleSealing? {
    let pack = run.pipeline.pack
    guard let seal = pack.seal else { return nil }
    let secret = try run.stamps().current
    guard seal.method == .archive else {
      return .stores(
        StoreSealing(
          key: try sealKey(seal.passphrase, iterations: seal.kdfIterations), secret: secret))
    }
    let passphrase = try seal.passphrase.resolve(run.variables)
    guard ArchiveKey.isKey(passphrase) else {
      throw PipelineError(.configuration, "secret", Self.notKey.message, fix: Self.notKey.fix)
    }
    return .archive(
      ArchiveSealing(
        key: ArchiveKey(passphrase: passphrase), secret: secret, format: pack.format,
        level: pack.level))
  }

  /// Returns the keys that may open sealed returns, most likely first; empty if none are possible.
  ///
  /// If the passphrase for bundles was changed or removed, devices still return stores sealed with
  /// the old one, which is then `inbox.passphrase`.
  func unsealing() throws -> [SQLCipherKey] {
    if let keys = run.returnKeys { return keys }
    let seal = run.pipeline.pack.seal
    let keys = try [run.pipeline.inbox.passphrase, seal?.passphrase].compactMap(\.self).map {
      try sealKey($0, iterations: seal?.kdfIterations ?? SQLCipherKey.sdkIterations)
    }
    run.returnKeys = keys
    return keys
  }

  private func sealKey(_ source: SecretSource, iterations: Int) throws -> SQLCipherKey {
    guard let text = try source.resolve(run.variables).text else {
      throw PipelineError(
        .configuration, "secret", "the passphrase of sealed stores is not UTF-8",
        fix: "write it as text; for iOS, base64 of 32 bytes")
    }
    return try SQLCipherKey(passphrase: Secret(text), iterations: iterations)
  }
}
