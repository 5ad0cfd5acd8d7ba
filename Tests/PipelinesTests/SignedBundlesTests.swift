import Bundles
import Crypto
import Foundation
import Pipelines
import System
import TestSupport
import Testing

@Suite struct SignedBundlesTests {
  let keys = TemporaryDirectory("sign")

  private func key(_ name: String, _ algorithm: SigningAlgorithm = .p256) throws -> SigningKey {
    let key = try SigningKey.generate(algorithm)
    try DurableFile.write(key.pem(), to: keys.file(name))
    return key
  }

  /// The demo's pipeline, with `pack.sign`.
  private func world(_ name: String, _ more: String = "") throws -> World {
    try World { Self.signing($0, self.keys.file(name), more) }
  }

  private static func signing(_ text: String, _ path: String, _ more: String = "") -> String {
    text.replacing(
      #""pack": { "format": "tar.zst" }"#,
      with: #""pack": { "format": "zip", "sign": {"key": {"file": "\#(path)"}\#(more)} }"#)
  }

  private func signers(_ keys: SigningKey...) throws -> AllowedSigners {
    let lines = keys.map { "attache namespaces=\"attache-manifest\" \($0.publicKey.line)\n" }
    return try AllowedSigners(Array(lines.joined().utf8), path: "allowed_signers")
  }

  @discardableResult
  private func verify(_ bundle: String, by signers: AllowedSigners) throws -> Manifest {
    try BundleReader.verify(Files.resolved(bundle)) { manifest in
      _ = try signers.verify(
        SignatureFile.read(SignatureFile.path(of: bundle)), of: manifest,
        namespace: SignatureFile.namespace, identity: "attache", now: Clock.wallMilliseconds())
    }
  }

  private func verifyList(_ world: World, by signers: AllowedSigners) throws {
    let list = world.data.path + "/bundles.json"
    _ = try signers.verify(
      SignatureFile.read(list + ".sig"), of: Files.read(list), namespace: SignatureFile.namespace,
      identity: nil, now: Clock.wallMilliseconds())
  }

  @Test(arguments: SigningAlgorithm.allCases)
  func `every bundle and the bundle list is signed`(_ algorithm: SigningAlgorithm) async throws {
    let key = try key("sign.key", algorithm)
    let world = try world("sign.key")
    let summary = try await world.run()
    #expect(summary.bundles.count == 6)
    let signers = try signers(key)
    for path in summary.bundles { try verify(path, by: signers) }
    try verifyList(world, by: signers)
    // The stable links lead to signatures too.
    let latest = try world.snapshot("ada") + "/latest"
    #expect(
      try Files.list(latest).sorted() == [
        "android.zip", "android.zip.sig", "ios.zip", "ios.zip.sig",
      ])
    try verify(latest + "/ios.zip", by: signers)
    #expect(
      try Files.resolved(latest + "/ios.zip.sig") == Files.resolved(world.bundle("ada") + ".sig"))
    // A signature is not taken for a bundle.
    #expect(
      try BundleName.list(in: Files.parent(of: world.bundle("ada")) ?? "", .ios).map(\.text) == [
        "ios.bundle.zip"
      ])
    // An unchanged generation keeps its signatures.
    let before = try summary.bundles.map { try Files.read($0 + ".sig") }
    #expect(try await world.run().bundles == [])
    #expect(try summary.bundles.map { try Files.read($0 + ".sig") } == before)
  }

  @Test(.enabled(if: ForeignSSHKeygen.isThere, "ssh-keygen is missing: make deps-test"))
  func `ssh-keygen verifies the manifest in a bundle and the list of bundles`() async throws {
    let key = try key("sign.key")
    let world = try world("sign.key")
    try await world.run()
    let allowed = keys.file("allowed_signers")
    try DurableFile.write(
      Array("attache namespaces=\"attache-manifest\" \(key.publicKey.line)\n".utf8), to: allowed)
    let bundle = try world.bundle("ada")
    let place = world.directory.file("unpacked")
    try BundleReader.extract(bundle, to: place)
    let manifest = try Files.read(place + "/manifest.json")
    let list = world.data.path + "/bundles.json"
    for (signature, message) in [
      (bundle + ".sig", manifest), (list + ".sig", try Files.read(list)),
    ] {
      #expect(try ForeignSSHKeygen.verifies(signature, of: message, allowedSigners: allowed))
      #expect(
        try !ForeignSSHKeygen.verifies(signature, of: message + [0x20], allowedSigners: allowed))
    }
  }

  @Test func `a new key signs the existing bundles again, whose bytes stay`() async throws {
    let (old, new) = (try key("old.key"), try key("new.key"))
    let world = try world("old.key")
    let bundles = try await world.run().bundles
    let before = try bundles.map { try Files.read($0) }
    try world.rewrite("old.key", "new.key")
    #expect(try await world.runAsWritten([.pack]).bundles == [])
    for path in bundles {
      try verify(path, by: signers(new))
      // An app with both keys accepts it before and after.
      try verify(path, by: signers(old, new))
      let error = #expect(throws: BundleError.self) { try verify(path, by: signers(old)) }
      #expect(error?.description.contains("no line of allowed_signers has the key") == true)
    }
    try verifyList(world, by: signers(new))
    #expect(try bundles.map { try Files.read($0) } == before)
    // A lost signature is written again.
    try Files.remove(bundles[0] + ".sig")
    try Files.remove(world.data.path + "/bundles.json.sig")
    _ = try await world.runAsWritten([.pack])
    try verify(bundles[0], by: signers(new))
    try verifyList(world, by: signers(new))
  }

  @Test func `a pipeline that stops signing keeps no old signature of its list`() async throws {
    let key = try key("sign.key")
    let world = try world("sign.key")
    let bundles = try await world.run().bundles
    try world.rewrite(#", "sign": {"key": {"file": "\#(keys.file("sign.key"))"}}"#, "")
    _ = try await world.runAsWritten([.pack])
    #expect(!Files.exists(world.data.path + "/bundles.json.sig"))
    #expect(try Files.list(world.snapshot("ada") + "/latest") == ["android.zip", "ios.zip"])
    // The signatures of bundles that exist are still true.
    for path in bundles { try verify(path, by: signers(key)) }
  }

  @Test(arguments: ["file", "env", "an RSA key", "a key for all"])
  func `a key that cannot sign ends the run before any publication`(_ fault: String) async throws {
    _ = try key("sign.key")
    let world = try World { text in
      fault == "env"
        ? text.replacing(
          #""pack": { "format": "tar.zst" }"#,
          with: #""pack": { "sign": {"key": {"env": "ATTACHE_CLIENT_ID"}} }"#)
        : Self.signing(text, self.keys.file("sign.key"))
    }
    switch fault {
    case "file": try Files.remove(keys.file("sign.key"))
    case "an RSA key":
      try DurableFile.write(PrivateKey.generateRSA().pem, to: keys.file("sign.key"))
    case "a key for all": try Files.setMode(of: keys.file("sign.key"), 0o644)
    default: break
    }
    let error = await #expect(throws: PipelineError.self) { try await world.run() }
    #expect(error?.kind == .configuration && error?.code == "sign.key", "\(error as Any)")
    #expect(error?.location?.hasSuffix("demo.json: pack.sign.key") == true)
    #expect(error?.fix != nil)
    #expect(try world.data.snapshots() == [])
    // The stages that publish nothing to devices need no key.
    try await world.run(.ingest, .reconcile)
  }

  @Test func `the key is in no file, event or message of a run`() async throws {
    let secret = String(decoding: try key("sign.key").pem(), as: UTF8.self)
      .split(separator: "\n")[1]
    let world = try world("sign.key")
    let run = try await world.program(
      ["run"], ["--json", "--log-file", world.directory.file("log"), "-vv"])
    #expect(run.status == 0, "\(run.everything)")
    #expect(!run.everything.contains(secret))
    for name in try Tree.files(world.directory.path) {
      let content = Data(try Files.read(world.directory.file(name)))
      #expect(content.range(of: Data(secret.utf8)) == nil, "\(name)")
    }
    // The effective pipeline has the file's name, and nothing of its content.
    #expect(world.pipeline.effectiveJSON.text.contains("sign.key"))
    #expect(!world.pipeline.effectiveJSON.text.contains("PRIVATE"))
  }

  @Test func `check refuses a wrong key at its location`() async throws {
    _ = try key("sign.key")
    let world = try world("sign.key", #", "namespace": "fleet.bundles""#)
    let position = ":30:55: pack.sign.key.file: \(keys.file("sign.key")) "
    func check(_ more: String...) async throws -> ProgramRun {
      try await ProgramRun.blocking(
        ["check", world.pipeline.file] + more, variables: world.variables)
    }
    let good = try await check()
    #expect(good.status == 0, "\(good.everything)")
    #expect(good.output.contains("fleet.bundles"))
    try Files.setMode(of: keys.file("sign.key"), 0o640)
    let open = try await check()
    #expect(
      open.status == 4 && open.messages.contains("other users can read"), "\(open.everything)")
    try DurableFile.write(PrivateKey.generateRSA().pem, to: keys.file("sign.key"))
    let other = try await check()
    #expect(
      other.status == 4
        && other.messages.contains(position + "is not a P-256 or Ed25519 key, which signing needs"),
      "\(other.everything)")
    try Files.remove(keys.file("sign.key"))
    let missing = try await check()
    #expect(missing.status == 4 && missing.messages.contains(position + "is missing"))
    #expect(try await check("--offline-secrets").status == 0)
  }

  @Test func `prune signs a list that it has to change`() async throws {
    let key = try key("sign.key")
    let world = try world("sign.key")
    try await world.run()
    let list = world.data.path + "/bundles.json"
    let (before, signature) = (try Files.read(list), try Files.read(list + ".sig"))
    let old = try world.bundle("ada")
    try world.change(world.ids("accounts", on: world.device("ada"))[0], ["Phone": "1"])
    try world.org.moveClock(by: 60_000)
    try await world.run()
    let after = try Files.read(list)
    #expect(after != before)
    try world.rewrite(#""pack""#, #""keep": {"generations": 1}, "pack""#)
    // As if the run had been interrupted before it wrote the list.
    try DurableFile.write(before, to: list)
    try DurableFile.write(signature, to: list + ".sig")
    let prune = try await world.program(["prune"])
    #expect(prune.status == 0, "\(prune.everything)")
    #expect(try Files.read(list) == after)
    try verifyList(world, by: signers(key))
    #expect(!Files.exists(old) && !Files.exists(old + ".sig"))
  }
}
