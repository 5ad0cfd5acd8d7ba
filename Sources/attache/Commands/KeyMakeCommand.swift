import Arguments
import Bundles
import Crypto
import JSON
import System

/// `attache key make`: creates a key that signs bundles.
struct KeyMakeCommand: Command {
  static let name = "key make"
  static let summary = "create a key that signs bundles"
  static let discussion = """
    The file is a PEM file that only you can read; pack.sign.key of a pipeline file names it. Three \
    lines are printed: the public key, its fingerprint, and a line for a file of allowed signers. \
    Every phone can verify a P-256 key; Ed25519 is missing on many Android phones.
    """
  static let examples = [
    Note("attache key make sign.key", "a P-256 key; the app has its public key built in")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .argument("file", "the file, which must not exist yet", completes: .files, \.file),
      .option("type", "TYPE", "the algorithm", \.type),
    ] + Options.output.map { $0.within(\.options) }
  }

  /// The name in the printed line of allowed signers.
  private static let signer = "attache"

  var file = ""
  var type = SigningAlgorithm.p256
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let path = context.absolute(file)
    if Files.exists(path) {
      throw UsageError(
        "\(file) already exists", hint: "name a new file; a key is never overwritten",
        command: "attache key make")
    }
    let key = try SigningKey.generate(type)
    try write(key.pem(), to: path)
    let line = key.publicKey.line
    let signer = "\(Self.signer) namespaces=\"\(SignatureFile.namespace)\" \(line)"
    if options.json {
      context.print(
        .object([
          "file": .string(path), "type": .string(type.rawValue), "publicKey": .string(line),
          "der": .string(Base64.encode(key.publicKey.der)),
          "fingerprint": .string(key.publicKey.fingerprint), "allowedSigner": .string(signer),
        ]))
    } else if !options.quiet {
      for text in [line, key.publicKey.fingerprint, signer] { context.print(text) }
    }
    return .done
  }

  /// Writes a private file, unless another one got the name meanwhile.
  private func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
    let temporary = DurableFile.temporaryName(for: path)
    do throws(SystemError) {
      try DurableFile.write(bytes, to: temporary, mode: 0o600)
      try DurableFile.move(temporary, toNew: path)
    } catch {
      try? Files.remove(temporary)
      guard error.path == temporary else { throw error }
      throw SystemError(operation: error.operation, path: path, errno: error.errno)
    }
  }
}

extension SigningAlgorithm: ArgumentValue {}
