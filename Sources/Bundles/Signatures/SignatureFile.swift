import Crypto
import System

/// The signature of a document, in a file next to it.
///
/// The signature of a bundle is that of its manifest, which has the digests of the stores. So the
/// bytes of a bundle do not depend on its signature.
package enum SignatureFile {
  /// What follows the name of the signed file.
  package static let ending = ".sig"
  /// The namespace of signatures, unless the pipeline names another one.
  package static let namespace = "attache-manifest"
  /// The maximum size in bytes.
  private static let longest = 16 << 10

  /// Returns the path of the signature of a file.
  package static func path(of file: String) -> String { file + ending }

  /// Whether the names of namespaces in a file of allowed signers can name `namespace`.
  package static func isNamespace(_ namespace: String) -> Bool {
    (1...64).contains(namespace.utf8.count)
      && namespace.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x40, 0x5F: true
        default: false
        }
      }
  }

  /// Reads a signature.
  ///
  /// - Throws: `SignatureError` if it is missing or damaged, or a `SystemError`.
  package static func read(_ path: String) throws -> SSHSignature {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try Files.read(path, limit: longest)
    } catch {
      guard error.isMissing else { throw error }
      throw SignatureError(
        "there is no signature \(path)",
        "fetch it with the bundle; a pipeline with pack.sign writes it next to each bundle")
    }
    do throws(CryptoError) { return try SSHSignature(armored: bytes) } catch {
      throw SignatureError(
        "the signature \(path) cannot be read: \(error)", "fetch it again with the bundle")
    }
  }

  /// Whether the file next to `file` is a valid signature of `bytes` by a key, or by any key if none
  /// is given.
  package static func isCurrent(
    _ bytes: [UInt8], of file: String, by key: VerifyingKey?, namespace: String
  ) -> Bool {
    guard let signature = try? read(path(of: file)), signature.namespace == namespace,
      key == nil || signature.key == key
    else { return false }
    return signature.isValid(for: bytes)
  }

  /// Signs bytes, and writes the signature next to the file that has them.
  package static func write(
    _ bytes: [UInt8], of file: String, by key: SigningKey, namespace: String
  ) throws {
    let signature = try SSHSignature(of: bytes, by: key, namespace: namespace)
    try DurableFile.write(signature.armored, to: path(of: file))
  }
}
