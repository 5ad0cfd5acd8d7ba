import Crypto
import System

/// The keys whose signatures are accepted, from a file in OpenSSH's format (ssh-keygen(1), ALLOWED
/// SIGNERS).
package struct AllowedSigners: Sendable {
  private let path: String
  private let signers: [AllowedSigner]

  /// A signer who is in the file.
  package struct Match: Sendable, Hashable {
    /// The name: the one that was asked for, or the names in the file.
    package let name: String
    /// The fingerprint of the key.
    package let fingerprint: String
  }

  /// Reads a file.
  ///
  /// - Throws: `FileFault` if a line cannot be read, or a `SystemError`.
  package init(path: String) throws {
    try self.init(Files.read(path, limit: 1 << 20), path: path)
  }

  /// Reads the content of the file `path`.
  package init(_ bytes: [UInt8], path: String) throws(FileFault) {
    self.path = path
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw FileFault(path: path, line: 0, message: "is not UTF-8")
    }
    var signers: [AllowedSigner] = []
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() {
      let content = String(line).trimmed
      if content.isEmpty || content.hasPrefix("#") { continue }
      do throws(AllowedSigner.LineFault) {
        signers.append(try AllowedSigner(content))
      } catch {
        throw FileFault(path: path, line: index + 1, message: error.message)
      }
    }
    self.signers = signers
  }

  /// Verifies a signature of `message`.
  ///
  /// - Parameters:
  ///   - identity: The name that the key must have in the file; nil for any.
  ///   - now: The time, in milliseconds since 1970.
  package func verify(
    _ signature: SSHSignature, of message: [UInt8], namespace: String, identity: String?,
    now: Int64
  ) throws(SignatureError) -> Match {
    guard signature.namespace == namespace else {
      throw SignatureError(
        "the signature is for \"\(signature.namespace)\", not for \"\(namespace)\"",
        "name the namespace of pack.sign with --namespace; a signature made for another purpose "
          + "says nothing about this file")
    }
    guard signature.isValid(for: message) else {
      throw SignatureError(
        "the signature does not match: the manifest or the signature has changed",
        "fetch the bundle and its signature again")
    }
    let (key, print) = (signature.key, signature.key.fingerprint)
    let known = signers.filter { $0.key == key && !$0.isAuthority }
    guard !known.isEmpty else {
      throw SignatureError(
        "no line of \(path) has the key \(print) that made the signature",
        "if you trust the key, add its line (attache key make printed it)")
    }
    let named = known.filter { signer in identity.map(signer.names.matches) ?? true }
    guard !named.isEmpty else {
      throw SignatureError(
        "the key \(print) that made the signature is not one of \(identity ?? "") in \(path)",
        "name its signer, or add the name to its line if you trust it")
    }
    let meant = named.filter { $0.namespaces?.matches(namespace) ?? true }
    guard !meant.isEmpty else {
      throw SignatureError(
        "the key \(print) may not sign for \"\(namespace)\"",
        "if it may, add the namespace to its line in \(path)")
    }
    guard
      let valid = meant.first(where: { signer in
        (signer.validAfter ?? .min) <= now && now <= (signer.validBefore ?? .max)
      })
    else {
      throw SignatureError(
        "the key \(print) is not valid at this time",
        "sign with a newer key, or correct its line in \(path)")
    }
    return Match(name: identity ?? valid.names.text, fingerprint: print)
  }

  /// A line that cannot be read.
  package struct FileFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file.
    package let path: String
    /// The number of the line; 0 for the whole file.
    package let line: Int
    /// The fault, as the end of a sentence about the line.
    package let message: String

    /// The location and the fault.
    package var description: String {
      line == 0 ? "\(path) \(message)" : "line \(line) of \(path) \(message)"
    }
  }
}
