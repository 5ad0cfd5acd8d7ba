import SmartStore
import Snapshots

/// What a bundle says of itself: `manifest.json`, its first entry.
///
/// It holds no secret and no record.
package struct Manifest: Sendable, Hashable {
  /// The entry's name.
  package static let fileName = "manifest.json"
  /// The format that this program writes, and the newest it reads.
  package static let format = 1
  /// Bytes of the longest manifest that is read.
  package static let longest = 4 << 20

  /// How the stores are sealed; `bytes` and `sha256` are then of the sealed files.
  package struct Seal: Sendable, Hashable {
    /// The ways there are.
    package enum Method: String, Sendable, Hashable, CaseIterable {
      /// SQLCipher 4's.
      case sqlcipher
    }

    /// The way; another program's may be none of ours.
    package var method: String
    /// Rounds of key derivation.
    package var kdfIterations: Int

    /// Names a way.
    package init(method: String, kdfIterations: Int) {
      self.method = method
      self.kdfIterations = kdfIterations
    }
  }

  /// A return whose edits are all in the bundle: its device may install it.
  package struct Include: Sendable, Hashable {
    /// The stamp of the return.
    package var stampID: String
    /// The installation that handed it back.
    package var install: String?
    /// The last of its returns that is included.
    package var handback: Int?

    /// Makes an entry of its parts.
    package init(stampID: String, install: String?, handback: Int?) {
      self.stampID = stampID
      self.install = install
      self.handback = handback
    }
  }

  /// The organization's 18-character id.
  package var org: String
  /// The user's 18-character id, or `global`.
  package var user: String
  /// SHA-256 of the user's name in lower case, so that an app can tell whose it is before login.
  package var usernameDigest: String?
  /// The pipeline's name.
  package var pipeline: String
  /// The generation of the snapshot.
  package var generation: Int
  /// The layout of the stores.
  package var platform: Platform
  /// The stamp of the user's stores.
  package var stampID: String
  /// Digest of the configuration that made it.
  package var configHash: String
  /// The stores.
  package var stores: [StoreEntry]
  /// How the stores are sealed; nil for plain ones.
  package var seal: Seal?
  /// The sync states that the stores carry.
  package var syncStates: [SyncStateEntry]
  /// Milliseconds since 1970 of the org's clock at the run.
  package var created: Int64
  /// Milliseconds since 1970 after which the app should ask for a newer one.
  package var expires: Int64?
  /// The returns whose edits are in it.
  package var includes: [Include]
  /// `integration` where the records are not those that the user's own token reads.
  package var fetchAs: String?
  /// What the reader should know.
  package var warnings: [String]

  /// Makes a manifest of its parts.
  package init(
    org: String, user: String, usernameDigest: String? = nil, pipeline: String, generation: Int,
    platform: Platform, stampID: String, configHash: String, stores: [StoreEntry],
    syncStates: [SyncStateEntry] = [], created: Int64, expires: Int64? = nil,
    includes: [Include] = [],
    fetchAs: String? = nil, warnings: [String] = []
  ) {
    self.org = org
    self.user = user
    self.usernameDigest = usernameDigest
    self.pipeline = pipeline
    self.generation = generation
    self.platform = platform
    self.stampID = stampID
    self.configHash = configHash
    self.stores = stores
    self.syncStates = syncStates
    self.created = created
    self.expires = expires
    self.includes = includes
    self.fetchAs = fetchAs
    self.warnings = warnings
  }

  /// Elements by soup, over all stores.
  package var counts: [String: Int] {
    stores.reduce(into: [:]) { $0.merge($1.counts, uniquingKeysWith: +) }
  }
}
