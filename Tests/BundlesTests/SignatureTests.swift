import Bundles
import Crypto
import System
import TestSupport
import Testing

@Suite struct SignatureTests {
  let directory = TemporaryDirectory("signatures")
  static let namespace = SignatureFile.namespace
  static let message = Array("{\n  \"format\": 1\n}\n".utf8)

  private func signers(_ lines: String...) throws -> AllowedSigners {
    try AllowedSigners(Array(lines.joined(separator: "\n").utf8), path: "allowed_signers")
  }

  private func refusal(
    _ signature: SSHSignature, of message: [UInt8] = message, by signers: AllowedSigners,
    namespace: String = namespace, identity: String? = nil
  ) -> String? {
    do throws(SignatureError) {
      _ = try signers.verify(
        signature, of: message, namespace: namespace, identity: identity,
        now: Clock.wallMilliseconds())
      return nil
    } catch { return error.description }
  }

  @Test(arguments: SigningAlgorithm.allCases)
  func `a changed bit of manifest or signature is refused`(_ algorithm: SigningAlgorithm) throws {
    let issued = try Issued(.ios)
    let manifest = issued.manifest.bytes
    let key = try SigningKey.generate(algorithm)
    let signers = try signers("attache \(key.publicKey.line)")
    let signature = try SSHSignature(of: manifest, by: key, namespace: Self.namespace)
    #expect(refusal(signature, of: manifest, by: signers) == nil)
    for place in manifest.indices {
      var changed = manifest
      changed[place] ^= 1 << UInt8(place % 8)
      #expect(refusal(signature, of: changed, by: signers) != nil, "byte \(place)")
    }
    let text = signature.armored
    for place in text.indices {
      for bit in 0..<UInt8(8) {
        var changed = text
        changed[place] ^= 1 << bit
        guard let read = try? SSHSignature(armored: changed) else { continue }
        #expect(refusal(read, of: manifest, by: signers) != nil, "byte \(place), bit \(bit)")
      }
    }
    for wrong in [[], Array(text.dropLast()), text + text, text + [0x0A], [0x0A] + text] {
      #expect(throws: CryptoError.self) { try SSHSignature(armored: wrong) }
    }
  }

  @Test(
    .enabled(if: ForeignSSHKeygen.isThere, "ssh-keygen is missing: make deps-test"),
    arguments: SigningAlgorithm.allCases)
  func `ssh-keygen accepts and refuses the same signatures`(_ algorithm: SigningAlgorithm) throws {
    let key = try SigningKey.generate(algorithm)
    let (allowed, file) = (directory.file("allowed_signers"), directory.file("manifest.json"))
    try DurableFile.write(Array("attache \(key.publicKey.line)\n".utf8), to: allowed)
    try DurableFile.write(Self.message, to: file)
    try SignatureFile.write(Self.message, of: file, by: key, namespace: Self.namespace)
    let path = SignatureFile.path(of: file)
    let text = try Files.read(path)
    func verifies(_ message: [UInt8] = Self.message, namespace: String = Self.namespace) throws
      -> Bool
    {
      try ForeignSSHKeygen.verifies(
        path, of: message, allowedSigners: allowed, namespace: namespace)
    }
    #expect(try verifies())
    #expect(try !verifies(namespace: "file"))
    #expect(try !verifies(Self.message + [0]))
    for place in Self.message.indices {
      var changed = Self.message
      changed[place] ^= 1
      #expect(try !verifies(changed), "byte \(place)")
    }
    // It skips white space within the text, which attache does not.
    for place in stride(from: 0, to: text.count, by: 3) where text[place] != 0x0A {
      var changed = text
      changed[place] ^= 1
      try DurableFile.write(changed, to: path)
      #expect(try !verifies(), "byte \(place)")
    }
  }

  @Test(.enabled(if: ForeignSSHKeygen.isThere, "ssh-keygen is missing: make deps-test"))
  func `a signature that ssh-keygen made is accepted`() throws {
    for type in ["ecdsa", "ed25519"] {
      let (path, file) = (directory.file(type), directory.file("\(type).json"))
      try ForeignSSHKeygen.run("-q", "-t", type, "-N", "", "-f", path)
      try DurableFile.write(Self.message, to: file)
      try ForeignSSHKeygen.run("-q", "-Y", "sign", "-f", path, "-n", Self.namespace, file)
      let signature = try SignatureFile.read(SignatureFile.path(of: file))
      let line = String(decoding: try Files.read(path + ".pub"), as: UTF8.self)
      let signers = try signers("attache \(line)")
      #expect(refusal(signature, by: signers) == nil)
      #expect(try refusal(signature, by: self.signers("# none"))?.contains("no line of") == true)
    }
  }

  /// A file of allowed signers, the name that is asked for, and the reason that the signature is
  /// refused.
  ///
  /// KEY is the key that signed, OTHER another one.
  static let files: [(file: String, identity: String, refusal: String?)] = [
    ("attache KEY", "attache", nil),
    (
      "# both, for a rotation\nattache OTHER\n\n  attache\tKEY of the build machine", "attache", nil
    ),
    ("attache OTHER", "attache", "no line of allowed_signers has the key SHA256:"),
    ("", "attache", "no line of allowed_signers has the key SHA256:"),
    ("attache cert-authority KEY", "attache", "no line of allowed_signers has the key SHA256:"),
    ("other KEY", "attache", "is not one of attache in allowed_signers"),
    ("Attache KEY", "attache", "is not one of attache in allowed_signers"),
    ("other,attache KEY", "attache", nil), (#""a name,attache" KEY"#, "attache", nil),
    ("*@example.com KEY", "build@example.com", nil), ("b?ild@*.com KEY", "build@example.com", nil),
    ("*,!build@example.com KEY", "build@example.com", "is not one of build@example.com in"),
    (#"attache namespaces="attache-manifest" KEY"#, "attache", nil),
    (#"attache Namespaces="file,attache-*" KEY"#, "attache", nil),
    (#"attache namespaces="file" KEY"#, "attache", "may not sign for \"attache-manifest\""),
    (
      #"attache namespaces="attache-*,!attache-manifest" KEY"#, "attache",
      "may not sign for \"attache-manifest\""
    ),
    (#"attache valid-after="20000101Z",valid-before="29990101Z" KEY"#, "attache", nil),
    (#"attache valid-before="20000101Z" KEY"#, "attache", "is not valid at this time"),
    (#"attache valid-after="29990101120000Z" KEY"#, "attache", "is not valid at this time"),
    (
      "attache valid-before=\"20000101Z\" KEY\nattache valid-after=\"20000101Z\" KEY", "attache",
      nil
    ),
  ]

  @Test(arguments: files) func `a file of allowed signers decides as it does for ssh-keygen`(
    file: String, identity: String, expected: String?
  ) throws {
    let (key, other) = (try SigningKey.generate(.p256), try SigningKey.generate(.ed25519))
    let text = file.replacing("KEY", with: key.publicKey.line)
      .replacing("OTHER", with: other.publicKey.line)
    let signature = try SSHSignature(of: Self.message, by: key, namespace: Self.namespace)
    let found = refusal(signature, by: try signers(text), identity: identity)
    if let expected {
      #expect(found?.contains(expected) == true, "\(found ?? "accepted")")
    } else {
      #expect(found == nil)
    }
    guard ForeignSSHKeygen.isThere else { return }
    let (allowed, path) = (directory.file("allowed_signers"), directory.file("m.sig"))
    try DurableFile.write(Array((text + "\n").utf8), to: allowed)
    try DurableFile.write(signature.armored, to: path)
    #expect(
      try ForeignSSHKeygen.verifies(
        path, of: Self.message, allowedSigners: allowed, identity: identity) == (expected == nil))
  }

  @Test func `a signature for another purpose is refused, and the message names both`() throws {
    let key = try SigningKey.generate(.p256)
    let signers = try signers("attache \(key.publicKey.line)")
    let signature = try SSHSignature(of: Self.message, by: key, namespace: "file")
    #expect(
      refusal(signature, by: signers)?.hasPrefix(
        "the signature is for \"file\", not for \"attache-manifest\"; name the namespace") == true)
    #expect(refusal(signature, by: signers, namespace: "file") == nil)
  }

  @Test(arguments: [
    ("attache", "has no key"), ("attache namespaces=\"a\"", "has no key"),
    ("attache KE KEY", "has an unknown option KE"),
    ("attache ecdsa-sha2-nistp256 AAAA", "has a damaged key"),
    ("attache ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAAQA=", "has a damaged key"),
    ("attache colour=\"x\" KEY", "has an unknown option colour=\"x\""),
    ("attache namespaces= KEY", "has an unknown option namespaces="),
    ("attache valid-after=\"2026\" KEY", "has the time 2026, which is not YYYYMMDD[HHMM[SS]]Z"),
    ("attache valid-after=\"20261399Z\" KEY", "has the time 20261399Z, which does not exist"),
    (
      "attache valid-after=\"20260131\" KEY",
      "has the time 20260131, which depends on the time zone: write 20260131Z"
    ),
  ])
  func `an unreadable line is reported with its number`(line: String, message: String) throws {
    let key = try SigningKey.generate(.p256)
    let text = "# a remark\n" + line.replacing("KEY", with: key.publicKey.line)
    let error = #expect(throws: AllowedSigners.FileFault.self) { try signers(text) }
    #expect(error?.description == "line 2 of allowed_signers \(message)")
  }

  @Test func `a line with a key of another algorithm accepts nothing and is not reported`() throws {
    let key = try SigningKey.generate(.p256)
    // The binary form of an RSA key, as far as its type.
    let other = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAAQE="
    let signature = try SSHSignature(of: Self.message, by: key, namespace: Self.namespace)
    #expect(
      refusal(signature, by: try signers("attache \(other)", "attache \(key.publicKey.line)"))
        == nil)
    #expect(
      refusal(signature, by: try signers("attache \(other)"))?.hasPrefix("no line of") == true)
  }

  @Test(arguments: ["zip", "tar.gz", "tar.zst"])
  func `the signed bytes are those of the manifest in the archive`(_ ending: String) throws {
    let issued = try Issued(.android)
    let path = directory.file("android.bundle." + ending)
    let format = try #require(BundleFormat(rawValue: ending))
    try BundleWriter.pack(
      issued.manifest, storeDirectory: issued.directory.file("stores"), to: path, format: format,
      modified: Issued.now)
    #expect(try BundleReader.manifestBytes(path) == issued.manifest.bytes)
    var checked: [UInt8] = []
    try BundleReader.verify(path) { checked = $0 }
    #expect(checked == issued.manifest.bytes)
    let error = #expect(throws: BundleError.self) {
      try BundleReader.verify(path) { _ in _ = try SignatureFile.read(SignatureFile.path(of: path))
      }
    }
    #expect(error?.isDamage == true)
    #expect(error?.description.hasPrefix("there is no signature \(path).sig; fetch it") == true)
  }
}
