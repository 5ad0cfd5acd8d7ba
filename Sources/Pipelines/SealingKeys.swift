import Bundles
import Ledger
import SmartStore
import System

/// The keys by which the stores of bundles are sealed, and sealed returns are opened.
struct SealingKeys {
  let run: RunContext

  /// How the stores of bundles are sealed; nil for plain ones.
  func sealing() throws -> StoreSealing? {
    guard let seal = run.pipeline.pack.seal else { return nil }
    return StoreSealing(
      key: try sealKey(seal.passphrase, iterations: seal.kdfIterations),
      secret: try run.stamps().current)
  }

  /// What opens sealed returns, the likeliest first; empty where none can come.
  ///
  /// With another passphrase for bundles, or none, those in the field come back as they were sealed:
  /// `inbox.passphrase` is theirs then.
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
        fix: "write it as text; for iOS, the base64 of 32 bytes")
    }
    return try SQLCipherKey(passphrase: Secret(text), iterations: iterations)
  }
}
