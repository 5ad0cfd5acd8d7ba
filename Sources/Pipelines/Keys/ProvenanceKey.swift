import Crypto
import Ledger
import Snapshots
import System

/// The key of a pipeline's stamps, in the file `stamp.key` next to the ledger.
///
/// The key outlives the ledger, so that stamps stay valid if the ledger is lost. The file has one
/// line: 64 hexadecimal digits and, from the second ledger on, the number of the ledger that signs.
/// Each later ledger signs with its own key, derived from this one, so a return tells before which
/// loss its bundle was issued.
struct ProvenanceKey {
  /// The number of the ledger that signs: 1, 2 and so on for ledgers that replaced a lost one;
  /// after a recovery its epoch, which no other recovery has.
  let number: Int
  /// The key of this ledger's stamps.
  let current: [UInt8]
  private let root: [UInt8]

  /// The epoch that its stamps name; nil if the ledger was never recovered.
  var epoch: Int? { number > Self.mostLedgers ? number : nil }

  /// The greatest number of ledgers without a recovery.
  ///
  /// Epochs are greater.
  static let mostLedgers = 1000

  private init(_ root: [UInt8], ledger: Int) {
    (self.root, number) = (root, ledger)
    current = Self.key(root, ledger)
  }

  private static func key(_ root: [UInt8], _ number: Int) -> [UInt8] {
    number == 1 ? root : HMAC.sha256(key: root, Array("attache-stamp-key-\(number)".utf8))
  }

  /// Returns the number of the ledger that issued a stamp; nil for a stamp of another key.
  func epoch(of stamp: Provenance) -> Int? {
    if let epoch = stamp.epoch {
      return stamp.isGenuine(key: Self.key(root, epoch)) ? epoch : nil
    }
    return (1...min(number, Self.mostLedgers)).first {
      // Such numbers are small, but after a recovery the limit is unknown.
      stamp.isGenuine(key: Self.key(root, $0))
    }
  }

  /// Returns the number of the ledger that signs; 0 if there is no key.
  static func number(in data: DataDirectory) throws -> Int {
    Files.exists(data.stampKey) ? try read(data).ledger : 0
  }

  /// Makes another ledger sign, with a key derived from the same root.
  ///
  /// Writes the file.
  static func advance(
    _ data: DataDirectory, to ledger: Int
  ) throws -> (digest: String, write: () throws -> Void) {
    let (root, _) = try read(data)
    return (digest(root, ledger), { try write(root, ledger: ledger, data) })
  }

  /// Whether a ledger signs with the key in the data directory.
  static func isNoted(by ledger: LedgerDatabase?, in data: DataDirectory) throws -> Bool {
    let (root, number) = try read(data)
    return try ledger?.noted(.stampKey) == digest(root, number)
  }

  /// Returns the key of a ledger by its number, with the epoch that its stamps name.
  func signer(_ number: Int) -> (key: [UInt8], epoch: Int?) {
    (Self.key(root, number), number > Self.mostLedgers ? number : nil)
  }

  /// Returns a pipeline's key.
  ///
  /// The caller must hold the lock.
  ///
  /// Creates the key if nothing was issued yet. Throws if devices hold bundles whose key is gone,
  /// because with a new key all of their returns would count as forged.
  static func take(_ state: LedgerDatabase, _ data: DataDirectory) throws -> ProvenanceKey {
    let noted = try state.noted(.stampKey)
    guard Files.exists(data.stampKey) else {
      if try hasIssued(state, data) { throw missing(data) }
      return try make(state, data)
    }
    let (root, ledger) = try read(data)
    // The key has signed but this ledger has not, so the previous ledger is lost.
    guard let noted else { return try keep(root, ledger: ledger + 1, state, data) }
    let digest = digest(root, ledger)
    if noted != digest {
      // The run was interrupted between ledger and file, or the file is another pipeline's.
      if try hasIssued(state, data) { throw foreign(data) }
      try state.store(digest, as: .stampKey)
    }
    return ProvenanceKey(root, ledger: ledger)
  }

  private static func make(_ state: LedgerDatabase, _ data: DataDirectory) throws -> ProvenanceKey {
    let root = RandomBytes.make(32)
    // Write the ledger first: a ledger without a key that finds one assumes that it replaces a lost
    // ledger.
    try state.store(digest(root, 1), as: .stampKey)
    try write(root, ledger: 1, data)
    return ProvenanceKey(root, ledger: 1)
  }

  private static func keep(
    _ root: [UInt8], ledger: Int, _ state: LedgerDatabase, _ data: DataDirectory
  ) throws -> ProvenanceKey {
    try write(root, ledger: ledger, data)
    try state.store(digest(root, ledger), as: .stampKey)
    return ProvenanceKey(root, ledger: ledger)
  }

  /// Whether any device may hold a bundle.
  private static func hasIssued(_ state: LedgerDatabase, _ data: DataDirectory) throws -> Bool {
    if try state.snapshotRows().contains(where: { $0.generation > 0 }) { return true }
    return try data.snapshots().contains { try !data.generations(of: $0).isEmpty }
  }

  // MARK: file

  private static func read(_ data: DataDirectory) throws -> (root: [UInt8], ledger: Int) {
    let bytes = try Files.read(data.stampKey, limit: 4096)
    let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard let root = words.first.flatMap({ Hex.decode(String($0)) }), root.count == 32,
      words.count <= 2, let ledger = words.count == 2 ? Int(words[1]) : 1,
      ledger > 0
    else {
      throw PipelineError(
        .configuration, "stamp-key.damaged", "the key of the stamps cannot be read",
        location: data.stampKey, reason: "the file is not 64 hexadecimal digits on one line",
        fix: "restore the file from a backup; it changes only when a ledger is lost")
    }
    // The file may have been restored from a backup.
    if try Files.status(data.stampKey).mode & 0o077 != 0 {
      try Files.setMode(of: data.stampKey, 0o600)
    }
    return (root, ledger)
  }

  private static func write(_ root: [UInt8], ledger: Int, _ data: DataDirectory) throws {
    let text = Hex.encode(root) + (ledger == 1 ? "\n" : " \(ledger)\n")
    try DurableFile.write(Array(text.utf8), to: data.stampKey)
  }

  private static func digest(_ root: [UInt8], _ ledger: Int) -> String {
    Digest.sha256Hex(Array("attache-stamp-key \(Hex.encode(root)) \(ledger)".utf8))
  }

  // MARK: errors

  private static func missing(_ data: DataDirectory) -> PipelineError {
    PipelineError(
      .configuration, "stamp-key.missing",
      "the key of the stamps is missing: returns of the bundles issued so far could not be verified",
      location: data.stampKey,
      fix: "restore the file from a backup; if it is lost, use another data directory (--data), "
        + "and enter by hand what devices with bundles from here still return")
  }

  private static func foreign(_ data: DataDirectory) -> PipelineError {
    PipelineError(
      .configuration, "stamp-key.foreign",
      "the key of the stamps is not the one that this ledger signs with", location: data.stampKey,
      fix:
        "restore the file and the ledger from the same backup; if a recovery was interrupted, repeat "
        + "it: attache recover PIPELINE")
  }
}
