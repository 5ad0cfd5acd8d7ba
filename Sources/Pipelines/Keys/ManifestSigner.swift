import Bundles
import Crypto
import System

/// The key that signs a pipeline's manifests and its list of bundles.
struct ManifestSigner: Sendable {
  private let key: SigningKey
  private let namespace: String

  /// Reads the key; nil if the pipeline does not sign.
  ///
  /// It may run a program, so do not call it on the cooperative pool.
  init?(_ pipeline: Pipeline, _ variables: [String: String]) throws(PipelineError) {
    guard let sign = pipeline.pack.sign else { return nil }
    let secret: Secret
    do throws(SecretError) {
      secret = try sign.key.resolve(variables)
    } catch {
      throw PipelineError(
        .configuration, "sign.key", "the signing key cannot be read",
        location: Self.location(in: pipeline), reason: error.message, fix: error.fix)
    }
    do throws(CryptoError) {
      key = try SigningKey(secret.reveal())
    } catch {
      let fault = PEMFault.ofSigningKey(secret.reveal())
      var name = "the value"
      if case .file(let path) = sign.key { name = path }
      throw PipelineError(
        .configuration, "sign.key", "the signing key cannot be used",
        location: Self.location(in: pipeline),
        reason: fault.map { "\(name) \($0.message)" } ?? error.message,
        fix: fault?.fix.replacing("FILE", with: name))
    }
    namespace = sign.namespace
  }

  private static func location(in pipeline: Pipeline) -> String {
    "\(pipeline.file): pack.sign.key"
  }

  /// Whether the file next to `file` is this key's signature of `bytes`.
  func hasSigned(_ bytes: [UInt8], of file: String) -> Bool {
    SignatureFile.isCurrent(bytes, of: file, by: key.publicKey, namespace: namespace)
  }

  /// Writes the signature of `bytes` next to the file that has them.
  func sign(_ bytes: [UInt8], of file: String) throws {
    try SignatureFile.write(bytes, of: file, by: key, namespace: namespace)
  }
}
