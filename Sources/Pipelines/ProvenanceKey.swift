import Crypto
import Ledger
import Reconciliation
import System

/// The key of a pipeline's stamps: a file of its own beside the ledger, `stamp.key`.
///
/// It outlives the ledger, so that a ledger that is lost takes no device with it. One line: 64
/// hexadecimal digits, and the number of the ledger that signs with it, from the second ledger on.
/// A later ledger's stamps are made with a key of its own that follows from this one, so that a
/// return says before which loss its bundle was issued.
struct ProvenanceKey {
  /// What this ledger's stamps are made with.
  let current: [UInt8]
  /// What the stamps of ledgers before it were made with.
  let earlier: [[UInt8]]

  private init(_ root: [UInt8], ledger: Int) {
    func key(_ number: Int) -> [UInt8] {
      number == 1 ? root : HMAC.sha256(key: root, Array("attache-stamp-key-\(number)".utf8))
    }
    current = key(ledger)
    earlier = (1..<ledger).map(key)
  }

  /// The key of a pipeline, for the holder of its lock.
  ///
  /// Moves it out of a ledger of the first version, makes it where nothing was issued yet, and
  /// refuses to go on where devices hold bundles whose key is gone: a new one would take every
  /// return of theirs for a forgery.
  static func take(_ state: LedgerDatabase, _ data: DataDirectory) throws -> ProvenanceKey {
    let inLedger = try state.firstVersionStampKey
    let noted = try state.stampKeyDigest
    guard Files.exists(data.stampKey) else {
      if let inLedger { return try move(inLedger, state, data) }
      if try hasIssued(state, data) { throw missing(data) }
      return try make(state, data)
    }
    let (root, ledger) = try read(data)
    if let inLedger, inLedger != root { throw foreign(data) }
    let digest = digest(root, ledger)
    if let noted, noted != digest {
      // Died between the ledger and the file, or another pipeline's file was put here.
      if try hasIssued(state, data) { throw foreign(data) }
    } else if noted == nil, inLedger == nil {
      // A ledger that has never signed, beside a key that has: the one before is lost.
      return try keep(root, ledger: ledger + 1, state, data)
    }
    if noted != digest || inLedger != nil { try state.noteStampKey(digest: digest) }
    return ProvenanceKey(root, ledger: ledger)
  }

  private static func make(_ state: LedgerDatabase, _ data: DataDirectory) throws -> ProvenanceKey {
    let root = RandomBytes.make(32)
    // The ledger first: one that knows of no key and finds one takes itself for another's successor.
    try state.noteStampKey(digest: digest(root, 1))
    try write(root, ledger: 1, data)
    return ProvenanceKey(root, ledger: 1)
  }

  private static func move(
    _ root: [UInt8], _ state: LedgerDatabase, _ data: DataDirectory
  ) throws -> ProvenanceKey {
    try write(root, ledger: 1, data)
    try state.noteStampKey(digest: digest(root, 1))
    return ProvenanceKey(root, ledger: 1)
  }

  private static func keep(
    _ root: [UInt8], ledger: Int, _ state: LedgerDatabase, _ data: DataDirectory
  ) throws -> ProvenanceKey {
    try write(root, ledger: ledger, data)
    try state.noteStampKey(digest: digest(root, ledger))
    return ProvenanceKey(root, ledger: ledger)
  }

  /// Says whether there is a device that may hold a bundle.
  private static func hasIssued(_ state: LedgerDatabase, _ data: DataDirectory) throws -> Bool {
    if try state.snapshotRows().contains(where: { $0.generation > 0 }) { return true }
    return try data.snapshots().contains { try !data.generations(of: $0).isEmpty }
  }

  // MARK: the file

  private static func read(_ data: DataDirectory) throws -> (root: [UInt8], ledger: Int) {
    let bytes = try Files.read(data.stampKey, limit: 4096)
    let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard let root = words.first.flatMap({ Hex.decode(String($0)) }), root.count == 32,
      words.count <= 2, let ledger = words.count == 2 ? Int(words[1]) : 1,
      (1...1000).contains(ledger)
    else {
      throw PipelineError(
        .configuration, "stamp-key.damaged", "the key of the stamps cannot be read",
        location: data.stampKey, reason: "it is not 64 hexadecimal digits on one line",
        fix: "bring the file back from a backup; it never changes but when a ledger is lost")
    }
    // As it came back from a backup, perhaps.
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

  // MARK: refusals

  private static func missing(_ data: DataDirectory) -> PipelineError {
    PipelineError(
      .configuration, "stamp-key.missing",
      "the key of the stamps is gone: no return of a bundle issued so far could be recognised",
      location: data.stampKey,
      fix: "bring the file back from a backup; if it is lost for good, use another data directory "
        + "(--data), and enter by hand what devices with bundles from here still hand back")
  }

  private static func foreign(_ data: DataDirectory) -> PipelineError {
    PipelineError(
      .configuration, "stamp-key.foreign",
      "the key of the stamps is not the one that this ledger signs with", location: data.stampKey,
      fix: "bring back the file and the ledger that belong together, from one backup")
  }
}
