import Bundles
import Crypto
import JSON
import SmartStore
import Snapshots
import System
import TestSupport
import Testing

@Suite struct KeyCommandTests {
  let directory = TemporaryDirectory("key")

  private func attache(_ arguments: String...) async throws -> ProgramRun {
    try await ProgramRun.blocking(arguments)
  }

  private func write(_ text: String, _ name: String) throws -> String {
    try DurableFile.write(Array(text.utf8), to: directory.file(name))
    return directory.file(name)
  }

  @Test(arguments: SigningAlgorithm.allCases)
  func `a new key is private, is never overwritten, and is printed only as a public key`(
    _ algorithm: SigningAlgorithm
  ) async throws {
    let path = directory.file("sign.key")
    let made = try await attache("key", "make", path, "--type", algorithm.rawValue)
    #expect(made.status == 0 && made.messages == "", "\(made.everything)")
    #expect(try Files.status(path).mode & 0o777 == 0o600)
    let content = try Files.read(path)
    let key = try SigningKey(content)
    #expect(key.publicKey.algorithm == algorithm)
    #expect(
      made.output.split(separator: "\n").map(String.init) == [
        key.publicKey.line, key.publicKey.fingerprint,
        "attache namespaces=\"attache-manifest\" \(key.publicKey.line)",
      ])
    #expect(try Files.list(directory.path) == ["sign.key"])
    let again = try await attache("key", "make", path)
    #expect(again.status == 2 && again.messages.contains("sign.key already exists"))
    #expect(try Files.read(path) == content)
    let homeless = try await attache("key", "make", directory.file("sub/k.key"))
    #expect(homeless.status == 1, "\(homeless.everything)")
    #expect(homeless.messages.contains("/sub does not exist"), "\(homeless.everything)")
  }

  @Test func `a new key is P-256 unless another type is named, also as JSON`() async throws {
    let path = directory.file("sign.key")
    let made = try await attache("key", "make", path, "--json")
    let key = try SigningKey(Files.read(path))
    #expect(
      try JSONValue(parsing: made.output) == [
        "file": .string(path), "type": "p256", "publicKey": .string(key.publicKey.line),
        "der": .string(Base64.encode(key.publicKey.der)),
        "fingerprint": .string(key.publicKey.fingerprint),
        "allowedSigner": .string("attache namespaces=\"attache-manifest\" \(key.publicKey.line)"),
      ])
    let quiet = try await attache("key", "make", directory.file("other.key"), "--quiet")
    #expect(quiet.status == 0 && quiet.everything == "")
    let wrong = try await attache("key", "make", directory.file("rsa.key"), "--type", "rsa")
    #expect(wrong.status == 2 && wrong.messages.contains("one of p256, ed25519"))
    #expect(!Files.exists(directory.file("rsa.key")))
  }

  private func bundle(_ key: SigningKey, namespace: String = SignatureFile.namespace) throws
    -> String
  {
    let place = directory.file("stores")
    try Files.makeDirectory(place)
    let store = try Store(creating: place + "/store.sqlite", platform: .ios)
    try store.registerSoup("notes", indexSpecs: [IndexSpec(path: "Id", type: .string)])
    try store.close()
    let manifest = try Manifest.describing("store.sqlite", in: place)
    let path = directory.file("ios.bundle.zip")
    try BundleWriter.pack(manifest, storeDirectory: place, to: path, format: .zip, modified: 0)
    try SignatureFile.write(manifest.bytes, of: path, by: key, namespace: namespace)
    return path
  }

  @Test func `verify names the signer, and refuses every other one with a fix`() async throws {
    let (key, other) = (try SigningKey.generate(.p256), try SigningKey.generate(.ed25519))
    let path = try bundle(key)
    let allowed = try write("attache \(key.publicKey.line)\n", "allowed")
    let good = try await attache("bundle", "verify", path, "--allowed-signers", allowed)
    #expect(good.status == 0, "\(good.everything)")
    #expect(good.output.hasSuffix("1 store, signed by attache (\(key.publicKey.fingerprint))\n"))
    let json = try await attache(
      "bundle", "verify", path, "--allowed-signers", allowed, "--identity", "attache", "--json")
    #expect(
      try JSONValue(parsing: json.output) == [
        "sound": true, "stores": 1, "signedBy": "attache",
        "key": .string(key.publicKey.fingerprint),
      ])
    let strangers = try write("attache \(other.publicKey.line)\n", "strangers")
    let broken = try write("attache nonsense\n", "broken")
    let refused: [(words: [String], status: Int32, message: String)] = [
      (["--allowed-signers", strangers], 8, "that made the signature   [bundle.signature]"),
      (["--allowed-signers", allowed, "--identity", "grace"], 8, "is not one of grace"),
      (
        ["--allowed-signers", allowed, "--namespace", "fleet"], 8,
        "is for \"attache-manifest\", not for \"fleet\""
      ),
      (["--allowed-signers", broken], 4, "line 1 of \(broken) has no key   [signers]"),
      (["--allowed-signers", directory.file("none")], 2, "there is no file"),
      (["--identity", "x"], 2, "--identity verifies nothing without --allowed-signers"),
      (["--namespace", "x"], 2, "--namespace verifies nothing without --allowed-signers"),
      (["--signature", "x"], 2, "--signature verifies nothing without --allowed-signers"),
    ]
    for (words, status, message) in refused {
      let run = try await ProgramRun.blocking(["bundle", "verify", path] + words)
      #expect(run.status == status, "\(words): \(run.everything)")
      #expect(
        run.messages.contains(message) && run.messages.contains("  fix    "), "\(run.everything)")
    }
  }

  @Test func `verify refuses a missing, another and a changed signature`() async throws {
    let key = try SigningKey.generate(.p256)
    let path = try bundle(key)
    let allowed = try write("attache \(key.publicKey.line)\n", "allowed")
    func verify(_ more: String...) async throws -> ProgramRun {
      try await ProgramRun.blocking(
        ["bundle", "verify", path, "--allowed-signers", allowed] + more)
    }
    let text = try Files.read(path + ".sig")
    // The signature may have another name; a link finds the one of its target.
    try Files.rename(path + ".sig", to: directory.file("elsewhere"))
    let missing = try await verify()
    #expect(missing.status == 8 && missing.messages.contains("there is no signature \(path).sig"))
    #expect(try await verify("--signature", directory.file("elsewhere")).status == 0)
    try DurableFile.write(text, to: path + ".sig")
    try DurableFile.link(directory.file("latest.zip"), to: "ios.bundle.zip")
    let linked = try await attache(
      "bundle", "verify", directory.file("latest.zip"), "--allowed-signers", allowed)
    #expect(linked.status == 0, "\(linked.everything)")
    var changed = text
    changed[100] = changed[100] == 0x41 ? 0x42 : 0x41
    try DurableFile.write(changed, to: path + ".sig")
    #expect(try await verify().status == 8)
    let other = try SSHSignature(of: [1], by: key, namespace: SignatureFile.namespace)
    try DurableFile.write(other.armored, to: path + ".sig")
    let wrong = try await verify()
    #expect(
      wrong.status == 8 && wrong.messages.contains("the manifest or the signature has changed"),
      "\(wrong.everything)")
    // Without the option, only the stores are verified.
    #expect(try await attache("bundle", "verify", path).status == 0)
  }
}

extension Manifest {
  fileprivate static func describing(_ name: String, in directory: String) throws -> Manifest {
    let path = directory + "/" + name
    let store = StoreEntry(
      scope: .user, storeName: "default", path: name, bytes: try Files.size(of: path),
      sha256: try Digest.sha256Hex(file: path), stampID: "ab", generation: 1, counts: ["notes": 0])
    return Manifest(
      org: "00D000000000001EAA", user: "005000000000001AAA", pipeline: "p", generation: 1,
      platform: .ios, stampID: "ab", configHash: "cd", stores: [store], created: 0)
  }
}
