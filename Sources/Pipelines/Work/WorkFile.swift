import Crypto
import JSON
import Snapshots
import System

/// A file of a snapshot that the work store has under its digest.
struct WorkFile: Sendable, Hashable {
  /// The path in the directory of the generation.
  var path: String
  var sha256: String
  var bytes: Int64

  var json: JSONValue {
    ["path": .string(path), "sha256": .string(sha256), "bytes": JSONValue(bytes)]
  }

  init(path: String, sha256: String, bytes: Int64) {
    (self.path, self.sha256, self.bytes) = (path, sha256, bytes)
  }

  /// A file that is below a directory; its digest is computed unless it is given.
  init(_ path: String, in directory: String, sha256: String? = nil) throws {
    let file = directory + "/" + path
    self.init(
      path: path, sha256: try sha256 ?? Digest.sha256Hex(file: file),
      bytes: try Files.size(of: file))
  }

  init(_ reader: MemberReader) throws(SnapshotError) {
    path = try reader.text("path")
    sha256 = try reader.text("sha256")
    bytes = try reader.long("bytes")
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty && !$0.hasPrefix(".") && !$0.contains("\0") }) else {
      throw reader.wrong("path")
    }
    let isDigest =
      sha256.utf8.count == 64
      && sha256.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
      }
    guard isDigest, bytes >= 0 else { throw reader.wrong("sha256") }
  }
}
