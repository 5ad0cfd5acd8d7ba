import Crypto
import HTTP
import System

/// The content of an object to write.
package struct ObjectContent: Sendable, Hashable {
  enum Source: Sendable, Hashable {
    case bytes([UInt8])
    case file(String)
  }

  let source: Source
  /// The size in bytes.
  package let size: Int
  /// The SHA-256 of the content, in hexadecimal.
  package let sha256: String

  /// The content of bytes.
  package init(_ bytes: [UInt8]) {
    (source, size, sha256) = (.bytes(bytes), bytes.count, Digest.sha256Hex(bytes))
  }

  /// The content of a file, which must not change until it is written.
  ///
  /// Its digest is computed unless it is known.
  package init(file path: String, sha256 known: String? = nil) throws(ObjectStoreError) {
    do {
      size = Int(try Files.size(of: path))
      sha256 = try known ?? Digest.sha256Hex(file: path)
    } catch {
      throw ObjectStoreError(.file("\(error)"), path)
    }
    source = .file(path)
  }

  /// Returns the SHA-256 of a part of a file, in hexadecimal.
  static func sha256(of part: FilePart) throws(ObjectStoreError) -> String {
    var hasher = SHA256Hasher()
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    do throws(SystemError) {
      let file = try Files.openInput(part.path)
      var done = 0
      while done < part.count {
        var failure: SystemError?
        var count = 0
        let wanted = min(buffer.count, part.count - done)
        buffer[..<wanted].withUnsafeMutableBytes { room in
          do throws(SystemError) {
            count = try file.read(into: room, at: part.offset + done)
          } catch { failure = error }
        }
        if let failure { throw failure }
        // A shorter file has another digest than its upload, which then fails.
        if count == 0 { break }
        hasher.update(Array(buffer[..<count]))
        done += count
      }
    } catch {
      throw ObjectStoreError(error, part.path)
    }
    return Hex.encode(hasher.finalize())
  }
}
