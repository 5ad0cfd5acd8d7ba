import Archive
import Crypto
import JSON
import Ledger
import System

/// A file of the inbox that was taken: alone with its `-wal` in a directory named by its content.
package struct TakenReturn: Sendable, Hashable {
  /// What kind of return it is.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// An archive.
    case bundle
    /// A store file, perhaps with its `-wal`.
    case store
  }

  /// The note that keeps the name and the time beside the file; no candidate begins with a dot.
  static let noteName = ".return.json"

  /// The digest of the content: of the file alone, its SHA-256; with a `-wal`, one of both.
  package internal(set) var sha256: String
  /// The name it came under.
  package let name: String
  /// Milliseconds since 1970 when the inbox was looked at and it was there, by this machine's clock.
  package let arrived: Int64
  /// The time of the run that took it, by which returns are ordered; `arrived` in notes of earlier versions.
  package let order: Int64
  /// Its place among those that were there then.
  package let turn: Int
  /// Whether an earlier ledger has had its edits already, and it is ingested once more after a recovery.
  package private(set) var isIngestedAgain = false
  /// What kind of return it is.
  package let kind: Kind
  /// Whether a `-wal` with something in it came along.
  package let hasLog: Bool
  /// What stood in the place of its `-wal` or journal and is none, in words: it is refused.
  package let fault: String?
  /// The directory that it is alone in.
  package private(set) var directory: String
  /// Why it stands in the inbox still, though it was taken.
  package internal(set) var remains: Refusal?
  private var fileName: String

  /// The file: under its own name, unless that could be the note's.
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

  /// The same, after its directory was moved.
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
    return JSONValue.object(object).bytes(pretty: true, sortedKeys: false) + [0x0A]
  }

  /// Notes beside the file that an earlier ledger has had its edits already.
  package mutating func noteIngestedAgain() throws(SystemError) {
    isIngestedAgain = true
    try DurableFile.write(note, to: directory + "/" + TakenReturn.noteName)
  }

  /// Reads the note of a directory; nil where there is none that can be read.
  package init?(directory: String) {
    guard let bytes = try? Files.read(directory + "/" + TakenReturn.noteName, limit: 1 << 16),
      let json = try? JSONValue(parsing: bytes), let name = json["name"]?.string,
      !name.isEmpty, !name.contains("/"), let sha256 = json["sha256"]?.string,
      let kind = json["kind"]?.string.flatMap(Kind.init), let hasLog = json["hasLog"]?.bool,
      let arrived = json["arrived"]?.string.flatMap({ Dates.milliseconds(iso8601: $0) })
    else { return nil }
    let order = json["order"]?.string.flatMap { Dates.milliseconds(iso8601: $0) }
    self.init(
      sha256: sha256, name: name, arrived: arrived, order: order ?? arrived,
      turn: json["turn"]?.int.flatMap { Int(exactly: $0) } ?? 0, kind: kind, hasLog: hasLog,
      fault: json["fault"]?.string, directory: directory)
    isIngestedAgain = json["again"]?.bool ?? false
    // Notes of earlier versions have none: the file has its own name.
    fileName = json["file"]?.string ?? name
    if fileName.isEmpty || fileName.contains("/") { return nil }
  }

  /// The digest of a return, by those of its file and its log: of the file alone where it came without one.
  ///
  /// What could not be read beside it is told by `fault`: nothing says that such a file is known.
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
