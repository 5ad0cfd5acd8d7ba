import SmartStore
import System

extension ReturnValidator {
  /// Replaces a sealed private copy by its decrypted form.
  ///
  /// Returns false if it was not sealed.
  func unseal(_ path: String, name: String) throws -> Bool {
    guard let first = expected.unsealing.first, try SQLCipherFile.mayBeSealed(path) else {
      return false
    }
    if Inbox.log(of: path) != nil {
      throw Refusal(
        .sealedLog, "\(name) is sealed and has a -wal, which cannot be merged",
        fix:
          "run PRAGMA wal_checkpoint(TRUNCATE) in the app, then have the device send its store again"
      )
    }
    var key = first
    for one in expected.unsealing where try SQLCipherFile.opens(path, key: one) { key = one }
    let plain = path + "-plain"
    do {
      try SQLCipherFile.unseal(path, to: plain, key: key)
    } catch SQLCipherError.wrongKey {
      throw try wrongKey(path, name)
    } catch SQLCipherError.damagedPage(_, let page) {
      throw Refusal.damaged(name, "page \(page) has been changed since it was sealed")
    } catch SQLCipherError.truncated(_, let page, _) {
      throw Refusal.unsound(name, "is truncated in page \(page)")
    }
    try Files.rename(plain, to: path)
    return true
  }

  func wrongKey(_ path: String, _ name: String) throws -> Refusal {
    // The number of iterations that an export uses by default.
    for key in expected.unsealing {
      let unset = try key.with(iterations: SQLCipherKey.defaultIterations)
      guard try SQLCipherFile.opens(path, key: unset) else { continue }
      return Refusal(
        .wrongKey,
        "\(name) does not open with the pipeline's passphrase and \(key.iterations) KDF iterations, but with SQLCipher's own "
          + "\(SQLCipherKey.defaultIterations)",
        fix: "set PRAGMA returned.kdf_iter = \(key.iterations) before the export, and return it "
          + "again")
    }
    return Refusal.sealedOrNoStore(name)
  }
}
