import Archive
import Crypto
import JSON
import Ledger
import System

/// A file taken from the inbox, with its `-wal`, in a directory named by its content.
package struct TakenReturn: Sendable, Hashable {
  /// The kind of a return.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// An archive.
    case bundle
    /// A store file, possibly with a `-wal`.
    case store
  }

  /// The note that records the file's name and time.
  ///
  /// Names of candidates never start with a dot.
  static let noteName = ".return.json"

  /// The digest of the content: the file's SHA-256, or with a `-wal`, a digest of both.
  package internal(set) var sha256: String
  /// The original name.
  package let name: String
  /// When the file was found in the inbox, by this machine's clock, in ms since 1970.
  package let arrived: Int64
  /// The time of the run that took it, which orders returns.
  package let order: Int64
  /// Its position among files found at the same time.
  package let turn: Int
  /// Whether an earlier ledger had its edits already, so that it is ingested again after a
  /// recovery.
  package private(set) var isIngestedAgain = false
  package let kind: Kind
  /// Whether a non-empty `-wal` came with it.
  package let hasLog: Bool
  /// Why its `-wal` or journal is not a regular file; such a return is refused.
  ///
  /// Nil if there is no such fault.
  package let fault: String?
  /// The directory that contains only this file.
  package private(set) var directory: String
  /// Why the original is still in the inbox although it was taken.
  package internal(set) var remains: Refusal?
  private var fileName: String

  /// The path of the file, under its own name unless that could be the note's.
  package var path: String { directory + "/" + fileName }

  init(
    sha256: String, name: String, arrived: Int64, order: Int64, turn: Int, kind: Kind,
    hasLog: Bool, fault: String?, directory: String
  ) {
    self.sha256 = sha256
    self.name = name
    self.arrived = arrived
    self.order = order
    self.turn = turn
    self.kind = kind
    self.hasLog = hasLog
    self.fault = fault
    self.directory = directory
    let isHidden = name.hasPrefix(".")
    fileName = isHidden ? "return-" + Digest.sha256Hex(Array(name.utf8)).prefix(32) : name
  }

  /// Returns the same return after its directory was moved.
  func moved(to directory: String) -> TakenReturn {
    var moved = self
    moved.directory = directory
    return moved
  }

  var note: [UInt8] {
    var object: JSONObject = [
      "format": 1, "name": .string(name), "file": .string(fileName), "sha256": .string(sha256),
      "kind": .string(kind.rawValue), "hasLog": .bool(hasLog),
    ]
    object["fault"] = fault.map(JSONValue.string)
    object["arrived"] = .string(Dates.utc(arrived))
    object["order"] = .string(Dates.utc(order))
    object["turn"] = JSONValue(turn)
    if isIngestedAgain { object["again"] = true }
    return JSONValue.object(object).fileBytes
  }

  /// Records in the note that an earlier ledger had its edits already.
  package mutating func noteIngestedAgain() throws(SystemError) {
    isIngestedAgain = true
    try DurableFile.write(note, to: directory + "/" + TakenReturn.noteName)
  }

  /// Reads the note of a directory; nil if it is missing or unreadable.
  package init?(directory: String) {
    guard let bytes = try? Files.read(directory + "/" + TakenReturn.noteName, limit: 1 << 16),
      let json = try? JSONValue(parsing: bytes), let name = json["name"]?.string,
      !name.isEmpty, !name.contains("/"), let sha256 = json["sha256"]?.string,
      let kind = json["kind"]?.string.flatMap(Kind.init), let hasLog = json["hasLog"]?.bool,
      let arrived = json["arrived"]?.string.flatMap({ Dates.milliseconds(iso8601: $0) }),
      let order = json["order"]?.string.flatMap({ Dates.milliseconds(iso8601: $0) }),
      let turn = json["turn"]?.int.flatMap({ Int(exactly: $0) }),
      let file = json["file"]?.string, !file.isEmpty, !file.contains("/")
    else { return nil }
    self.init(
      sha256: sha256, name: name, arrived: arrived, order: order, turn: turn, kind: kind,
      hasLog: hasLog, fault: json["fault"]?.string, directory: directory)
    isIngestedAgain = json["again"]?.bool ?? false
    fileName = file
  }

  /// Returns the digest of a return from the digests of its file and its log; that of the file
  /// alone if there is no log.
  ///
  /// If a companion could not be read, `fault` names it and changes the digest, so that the file
  /// does not count as known.
  package static func digest(file: String, log: String?, fault: String?) -> String {
    let words: String
    switch (log, fault) {
    case (nil, nil): return file
    case (let log?, nil): words = "attache-return-1 \(file) \(log)"
    case (_, let fault?): words = "attache-return-1 \(file) \(fault)"
    }
    return Digest.sha256Hex(Array(words.utf8))
  }
}
