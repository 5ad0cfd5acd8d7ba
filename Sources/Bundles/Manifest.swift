import SmartStore
import Snapshots

/// The description of a bundle: `manifest.json`, its first entry.
///
/// It contains no secret and no record.
package struct Manifest: Sendable, Hashable {
  /// The name of the entry.
  package static let fileName = "manifest.json"
  /// The format that attache writes, which is also the newest that it reads.
  package static let format = 1
  /// The maximum size of a manifest in bytes.
  package static let longest = 4 << 20

  /// The encryption of the bundle.
  ///
  /// If the stores are sealed, `bytes` and `sha256` describe the sealed files; if the archive is, the
  /// plain ones.
  package struct Seal: Sendable, Hashable {
    /// The known sealing methods.
    package enum Method: String, Sendable, Hashable, CaseIterable {
      /// Each store in the format of SQLCipher 4.
      case sqlcipher
      /// The archive with the stores, in the format of `SealedArchive`.
      case archive
    }

    /// The method's name.
    ///
    /// In a bundle of another program it may be unknown to attache.
    package var method: String
    /// The number of key derivation rounds of sealed stores.
    package var kdfIterations: Int
    /// The sealed archive; nil if the stores are sealed.
    package var archive: SealedPart?

    package init(method: String, kdfIterations: Int) {
      self.method = method
      self.kdfIterations = kdfIterations
    }

    /// Describes a sealed archive.
    package init(archive: SealedPart) {
      self.init(method: Method.archive.rawValue, kdfIterations: SQLCipherKey.sdkIterations)
      self.archive = archive
    }
  }

  /// A return whose edits are all in the bundle, so that its device may install the bundle.
  package struct Include: Sendable, Hashable {
    /// The stamp ID of the returned stores.
    package var stampID: String
    /// The installation that sent the return.
    package var install: String?
    /// The number of the latest included return of that installation.
    package var handback: Int?

    package init(stampID: String, install: String?, handback: Int?) {
      self.stampID = stampID
      self.install = install
      self.handback = handback
    }
  }

  /// The organization's 18-character ID.
  package var org: String
  /// The user's 18-character ID, or `global`.
  package var user: String
  /// The SHA-256 of the user name in lower case.
  ///
  /// With it, an app can recognize its user before login.
  package var usernameDigest: String?
  /// The name of the pipeline.
  package var pipeline: String
  /// The generation of the snapshot, numbered from 1.
  package var generation: Int
  /// The platform whose layout the stores have.
  package var platform: Platform
  /// The stamp ID of the user's stores.
  package var stampID: String
  /// The digest of the configuration that produced the stores.
  package var configHash: String
  /// The stores in the bundle, in the order of the archive.
  package var stores: [StoreEntry]
  /// The encryption of the bundle; nil if it is plain.
  package var seal: Seal?
  /// The sync states in the stores.
  package var syncStates: [SyncStateEntry]
  /// The org's clock at the run, in milliseconds since 1970.
  package var created: Int64
  /// The time in milliseconds since 1970 after which the app should ask for a newer bundle.
  package var expires: Int64?
  /// The returns whose edits are included.
  package var includes: [Include]
  /// `integration` if the records were not read with the user's own token.
  package var fetchAs: String?
  /// Warnings for the reader of the bundle.
  package var warnings: [String]

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

  /// The encryption of the stores; nil if they are plain, also in a sealed archive.
  package var storeSeal: Seal? { seal?.archive == nil ? seal : nil }

  /// The number of elements by soup, over all stores.
  package var counts: [String: Int] {
    stores.reduce(into: [:]) { $0.merge($1.counts, uniquingKeysWith: +) }
  }
}
