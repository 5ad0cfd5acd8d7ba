import Crypto
import Foundation
import TestSupport
import Testing

@Suite struct DigestTests {
  // FIPS 180-2, appendix B.
  @Test(arguments: [
    "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq":
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  ])
  func `SHA-256 matches the standard`(text: String, digest: String) {
    #expect(Digest.sha256Hex(Array(text.utf8)) == digest)
  }

  @Test func `pieces and a file have the digest of the whole`() throws {
    let million = [UInt8](repeating: 0x61, count: 1_000_000)
    let expected = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    var hasher = SHA256Hasher()
    for start in stride(from: 0, to: million.count, by: 999) {
      hasher.update(Array(million[start..<min(start + 999, million.count)]))
    }
    #expect(Hex.encode(hasher.finalize()) == expected)
    let directory = TemporaryDirectory()
    try Data(million).write(to: URL(fileURLWithPath: directory.file("a")))
    #expect(try Digest.sha256Hex(file: directory.file("a")) == expected)
  }

  @Test func `an unreadable file is an error that names it`() {
    for path in ["/no/such/file", "/tmp"] {
      let error = #expect(throws: CryptoError.self) { try Digest.sha256Hex(file: path) }
      #expect(error?.message.contains(path) == true)
    }
  }

  // RFC 4231, cases 1, 2 and 6.
  @Test(arguments: [
    (
      [UInt8](repeating: 0x0B, count: 20), "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xAA, count: 131),
      "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
  ])
  func `HMAC-SHA-256 matches the standard`(key: [UInt8], text: String, code: String) {
    #expect(Hex.encode(HMAC.sha256(key: key, Array(text.utf8))) == code)
  }

  @Test func `HMAC-SHA-512 matches the standard, also for empty input`() {
    let code = HMAC.sha512(key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
    #expect(
      Hex.encode(code) == "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
        + "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737")
    #expect(
      Hex.encode(HMAC.sha256(key: [], []))
        == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }

  @Test func `digests are compared completely`() {
    #expect(Digest.areEqual([1, 2], [1, 2]))
    #expect(!Digest.areEqual([1, 2], [1, 3]))
    #expect(!Digest.areEqual([1, 2], [1, 2, 3]))
    #expect(Digest.areEqual([], []))
  }
}
