import Crypto
import Ledger
import Reconciliation
import Snapshots
import System

/// The key of a pipeline's stamps: a file of its own beside the ledger, `stamp.key`.
///
/// It outlives the ledger, so that a ledger that is lost takes no device with it. One line: 64
/// hexadecimal digits, and the number of the ledger that signs with it, from the second ledger on.
/// A later ledger's stamps are made with a key of its own that follows from this one, so that a
/// return says before which loss its bundle was issued.
struct ProvenanceKey {
  /// The number of the ledger that signs with it: 1, 2 and so on for ledgers that took the place of a lost one;
  /// of a recovery its epoch, which no other recovery has.
  let number: Int
  /// What this ledger's stamps are made with.
  let current: [UInt8]
  private let root: [UInt8]

  /// The epoch that its stamps name; nil for a ledger that was never recovered.
  var epoch: Int? { number > Self.mostLedgers ? number : nil }

  /// More ledgers than this took nobody's place without a recovery; epochs are greater.
  static let mostLedgers = 1000

  private init(_ root: [UInt8], ledger: Int) {
    (self.root, number) = (root, ledger)
    current = Self.key(root, ledger)
  }

  private static func key(_ root: [UInt8], _ number: Int) -> [UInt8] {
    number == 1 ? root : HMAC.sha256(key: root, Array("attache-stamp-key-\(number)".utf8))
  }

  /// The number of the ledger that issued a stamp; nil for a stamp of somebody else.
  func epoch(of stamp: Provenance) -> Int? {
    if let epoch = stamp.epoch {
      return stamp.isGenuine(key: Self.key(root, epoch)) ? epoch : nil
    }
    return (1...min(number, Self.mostLedgers)).first {
      // Such numbers are few, but after a recovery nobody says how few.
      stamp.isGenuine(key: Self.key(root, $0))
    }
  }

  /// The number of the ledger that signs; 0 where there is no key.
  static func number(in data: DataDirectory) throws -> Int {
    Files.exists(data.stampKey) ? try read(data).ledger : 0
  }

  /// Lets another ledger sign, with a key that follows from the same root: what tells it from others, and the
  /// writing of the file.
  static func advance(
    _ data: DataDirectory, to ledger: Int
  ) throws -> (digest: String, write: () throws -> Void) {
    let (root, _) = try read(data)
    return (digest(root, ledger), { try write(root, ledger: ledger, data) })
  }

  /// Whether a ledger signs with the key that lies there.
  static func isNoted(by ledger: LedgerDatabase?, in data: DataDirectory) throws -> Bool {
    let (root, number) = try read(data)
    guard let noted = try ledger?.stampKeyDigest else {
      return try ledger?.firstVersionStampKey != nil
    }
    return noted == digest(root, number)
  }

  /// The key of a ledger by its number, with the epoch that its stamps name.
  func signer(_ number: Int) -> (key: [UInt8], epoch: Int?) {
    (Self.key(root, number), number > Self.mostLedgers ? number : nil)
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
      ledger > 0
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
      fix:
        "bring back the file and the ledger that belong together, from one backup; if a recovery died, repeat "
        + "it: attache recover")
  }
}
