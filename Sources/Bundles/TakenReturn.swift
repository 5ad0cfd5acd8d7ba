import Archive
import Crypto
import JSON
import System

/// A file of the inbox that was taken: alone with its `-wal` in a directory named by its content.
package struct TakenReturn: Sendable, Hashable {
  /// What kind of return it is.
  package enum Kind: String, Sendable, Hashable {
    /// An archive.
    case bundle
    /// A store file, perhaps with its `-wal`.
    case store
  }

  /// The note that keeps the name and the time beside the file; no candidate begins with a dot.
  static let noteName = ".return.json"

  /// The digest of the content: of the file alone, its SHA-256; with a `-wal`, one of both.
  package let sha256: String
  /// The name it came under.
  package let name: String
  /// Milliseconds since 1970 when it was taken.
  package let arrived: Int64
  /// What kind of return it is.
  package let kind: Kind
  /// Whether a `-wal` with something in it came along.
  package let hasLog: Bool
  /// The directory that it is alone in.
  package let directory: String

  /// The file.
  package var path: String { directory + "/" + name }

  init(
    sha256: String, name: String, arrived: Int64, kind: Kind, hasLog: Bool, directory: String
  ) {
    self.sha256 = sha256
    self.name = name
    self.arrived = arrived
    self.kind = kind
    self.hasLog = hasLog
    self.directory = directory
  }

  /// The same, after its directory was moved.
  func moved(to directory: String) -> TakenReturn {
    TakenReturn(
      sha256: sha256, name: name, arrived: arrived, kind: kind, hasLog: hasLog,
      directory: directory)
  }

  var note: [UInt8] {
    let json: JSONValue = [
      "format": 1, "name": .string(name), "sha256": .string(sha256),
      "kind": .string(kind.rawValue), "hasLog": .bool(hasLog),
      "arrived": .string(Dates.utc(arrived)),
    ]
    return json.bytes(pretty: true, sortedKeys: false) + [0x0A]
  }

  /// Reads the note of a directory; nil where there is none that can be read.
  init?(directory: String) {
    guard let bytes = try? Files.read(directory + "/" + TakenReturn.noteName, limit: 1 << 16),
      let json = try? JSONValue(parsing: bytes), let name = json["name"]?.string,
      !name.isEmpty, !name.contains("/"), let sha256 = json["sha256"]?.string,
      let kind = json["kind"]?.string.flatMap(Kind.init), let hasLog = json["hasLog"]?.bool,
      let arrived = json["arrived"]?.string.flatMap({ Dates.milliseconds(iso8601: $0) })
    else { return nil }
    self.init(
      sha256: sha256, name: name, arrived: arrived, kind: kind, hasLog: hasLog,
      directory: directory)
  }

  /// The digest of a file and its log: of the file alone where the log is not there or empty.
  static func digest(_ path: String, log: String?) throws -> String {
    let file = try Digest.sha256Hex(file: path)
    guard let log else { return file }
    let both = "attache-return-1 \(file) \(try Digest.sha256Hex(file: log))"
    return Digest.sha256Hex(Array(both.utf8))
  }
}
