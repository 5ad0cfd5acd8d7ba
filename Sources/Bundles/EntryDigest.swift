import Crypto
import Snapshots

/// Compares an entry of an archive with its description while its bytes pass.
struct EntryDigest: ~Copyable {
  private let name: String
  private let expected: (bytes: Int64, sha256: String)
  private let path: String
  private let document: String
  private var hasher = SHA256Hasher()
  private var bytes: Int64 = 0

  /// Compares a store of the bundle at `path` with the bundle's manifest.
  init(_ store: StoreEntry, _ path: String) {
    self.init(
      store.path, bytes: store.bytes, sha256: store.sha256, of: path, document: "the manifest")
  }

  /// Compares an entry of the archive at `path` with its size and digest in a document.
  init(_ name: String, bytes: Int64, sha256: String, of path: String, document: String) {
    self.name = name
    expected = (bytes, sha256)
    self.path = path
    self.document = document
  }

  /// Adds the next bytes; throws as soon as there are more than in the document.
  mutating func add(_ piece: UnsafeRawBufferPointer) throws(BundleError) {
    bytes += Int64(piece.count)
    guard bytes <= expected.bytes else {
      throw .damaged(
        path: path, file: name,
        reason: "has more bytes than the \(expected.bytes) in \(document)")
    }
    hasher.update(piece)
  }

  consuming func finish() throws(BundleError) {
    let (bytes, expected) = (bytes, expected)
    let (path, name, document) = (path, name, document)
    guard bytes == expected.bytes else {
      throw .damaged(
        path: path, file: name,
        reason: "has \(bytes) bytes, but \(document) says \(expected.bytes)")
    }
    guard Hex.encode(hasher.finalize()) == expected.sha256 else {
      throw .damaged(path: path, file: name, reason: "has a different SHA-256")
    }
  }
}
