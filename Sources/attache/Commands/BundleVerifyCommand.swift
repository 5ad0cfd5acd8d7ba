import Arguments
import Bundles
import JSON
import System

/// `attache bundle verify`: compares every store of a bundle with its manifest, and verifies the
/// signature of the manifest.
struct BundleVerifyCommand: Command {
  static let name = "bundle verify"
  static let summary = "compare a bundle's stores with its manifest, and verify its signature"
  static let discussion = """
    With --allowed-signers, the manifest must have a signature by a key of that file, which has the \
    format of ssh-keygen. A line may limit its key to namespaces and to a time. A delta is verified in the \
    same way, with delta.json in place of the manifest. Of a sealed archive (pack.seal.with: "archive") the \
    sealed bytes are compared with the manifest, and with the passphrase also the stores in it.
    """
  static let examples = [
    Note("attache bundle verify ios.bundle.zip", "exit status 8 if a store has changed"),
    Note(
      "attache bundle verify ios.bundle.zip --allowed-signers allowed_signers",
      "also exit status 8 if ios.bundle.zip.sig is not a signature by a key of the file"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .argument("bundle", "the bundle or delta", completes: .files, \.bundle),
      .option(
        "allowed-signers", "FILE", "also verify the signature, by a key of FILE", completes: .files,
        \.allowedSigners),
      .option(
        "identity", "NAME", "the name that the key must have in FILE (default: any)", \.identity),
      .option(
        "namespace", "NAME",
        "the signature's namespace, as in pack.sign.namespace (default: \(SignatureFile.namespace))",
        \.namespace),
      .option(
        "signature", "SIG", "the signature (default: the bundle's name with .sig)",
        completes: .files, \.signature),
    ] + SealOptions.passphrase.map { $0.within(\.seal) }
      + Options.output.map { $0.within(\.options) }
  }

  var bundle = ""
  var allowedSigners: String?
  var identity: String?
  var namespace: String?
  var signature: String?
  var seal = SealOptions()
  var options = Options()

  func validate() throws(UsageError) {
    let given = [
      ("identity", identity), ("namespace", namespace), ("signature", signature),
    ]
    guard allowedSigners == nil, let option = given.first(where: { $0.1 != nil })?.0 else { return }
    throw UsageError(
      "--\(option) verifies nothing without --allowed-signers",
      hint: "give --allowed-signers FILE, with a line for each trusted key",
      command: "attache bundle verify")
  }

  func run(_ context: Program) async throws -> ExitStatus {
    let path = try context.existing(bundle)
    let signers = try allowedSigners.map { try AllowedSigners(path: context.existing($0)) }
    var signer: AllowedSigners.Match?
    let check = { (bytes: [UInt8]) in
      signer = try signers?.verify(
        SignatureFile.read(signaturePath(path, context)), of: bytes,
        namespace: namespace ?? SignatureFile.namespace, identity: identity,
        now: Clock.wallMilliseconds())
    }
    let resolved = try Files.resolved(path)
    let key = try seal.archiveKeyIfGiven(context)
    let manifest =
      DeltaReader.isDelta(resolved)
      ? try DeltaReader.verify(resolved, key: key, check: check).to
      : try BundleReader.verify(resolved, key: key, check: check)
    let count = manifest.stores.count
    let isOpened = manifest.seal?.archive == nil || key != nil
    if options.json {
      var object: JSONObject = ["sound": true, "stores": JSONValue(count)]
      if manifest.seal?.archive != nil { object["opened"] = .bool(isOpened) }
      object["signedBy"] = signer.map { .string($0.name) }
      object["key"] = signer.map { .string($0.fingerprint) }
      context.print(.object(object))
    } else if !options.quiet {
      let words = signer.map { ", signed by \($0.name) (\($0.fingerprint))" } ?? ""
      let sealed = isOpened ? "" : " in a sealed archive, which was not opened"
      context.print(
        "\(bundle) is valid: \(CountText.of(count, "store"))\(sealed)\(words)")
    }
    return .done
  }

  /// Returns the path of the signature: next to the bundle, or, if that is a link, next to the file
  /// that it leads to.
  private func signaturePath(_ path: String, _ context: Program) throws -> String {
    if let signature { return context.absolute(signature) }
    let named = SignatureFile.path(of: path)
    return Files.exists(named) ? named : SignatureFile.path(of: try Files.resolved(path))
  }
}
