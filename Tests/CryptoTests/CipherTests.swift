import Crypto
import Testing

@Suite struct CipherTests {
  private func hex(_ text: String) throws -> [UInt8] { try #require(Hex.decode(text)) }

  // NIST SP 800-38A, F.2.5 and F.2.6.
  @Test func `AES-256-CBC matches the standard in both directions`() throws {
    let key = try hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    let iv = try hex("000102030405060708090a0b0c0d0e0f")
    let plain = try hex(
      "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
        + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")
    let sealed = try hex(
      "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
        + "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b")
    var cipher = try PageCipher(key: key)
    var out = [UInt8](repeating: 0, count: 64)
    try plain.withUnsafeBytes { plain in
      try iv.withUnsafeBytes { iv in
        try out.withUnsafeMutableBytes { try cipher.encrypt(plain, iv: iv, into: $0) }
      }
    }
    #expect(out == sealed)
    try sealed.withUnsafeBytes { sealed in
      try iv.withUnsafeBytes { iv in
        try out.withUnsafeMutableBytes { try cipher.decrypt(sealed, iv: iv, into: $0) }
      }
    }
    #expect(out == plain)
  }

  // RFC 5869, A.3.
  @Test func `HKDF with SHA-256 matches the standard`() throws {
    let key = [UInt8](repeating: 0x0B, count: 22)
    #expect(
      KeyDerivation.hkdfSHA256(key: key, salt: [], info: "", bytes: 42)
        == (try hex(
          "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
            + "9d201395faa4b61a96c8")))
  }

  // The test cases 13 and 14 of McGrew and Viega's specification of GCM: a key and a nonce of zeros.
  @Test(arguments: [
    (0, "", "530f8afbc74536b9a963b4f1c4cb738b"),
    (16, "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919"),
  ])
  func `AES-256-GCM matches its specification`(_ test: (Int, String, String)) throws {
    let cipher = try ChunkCipher(key: [UInt8](repeating: 0, count: 32))
    let nonce = [UInt8](repeating: 0, count: 12)
    let plain = [UInt8](repeating: 0, count: test.0)
    var sealed = [UInt8](repeating: 9, count: test.0 + 16)
    try plain.withUnsafeBytes { plain in
      try sealed.withUnsafeMutableBytes { try cipher.seal(plain, nonce: nonce, into: $0) }
    }
    #expect(sealed == (try hex(test.1 + test.2)))
    func opened(_ sealed: [UInt8]) throws -> [UInt8]? {
      var out = [UInt8](repeating: 7, count: test.0)
      let isAuthentic = try sealed.withUnsafeBytes { sealed in
        try out.withUnsafeMutableBytes { try cipher.open(sealed, nonce: nonce, into: $0) }
      }
      if !isAuthentic { #expect(out == plain) }
      return isAuthentic ? out : nil
    }
    #expect(try opened(sealed) == plain)
    for place in sealed.indices {
      var changed = sealed
      changed[place] ^= 0x80
      #expect(try opened(changed) == nil, "byte \(place)")
    }
    #expect(throws: CryptoError.self) { try ChunkCipher(key: [1]) }
    #expect(throws: CryptoError.self) {
      try plain.withUnsafeBytes { plain in
        try sealed.withUnsafeMutableBytes { try cipher.seal(plain, nonce: [1], into: $0) }
      }
    }
  }

  @Test func `half a block, a short key and a wrong buffer are rejected`() throws {
    #expect(throws: CryptoError.self) { _ = try PageCipher(key: [1, 2, 3]) }
    let iv = [UInt8](repeating: 0, count: 16)
    let odd = [UInt8](repeating: 0, count: 17)
    var out = odd
    #expect(throws: CryptoError.self) {
      var cipher = try PageCipher(key: [UInt8](repeating: 0, count: 32))
      try odd.withUnsafeBytes { odd in
        try iv.withUnsafeBytes { iv in
          try out.withUnsafeMutableBytes { try cipher.encrypt(odd, iv: iv, into: $0) }
        }
      }
    }
  }

  @Test(arguments: [
    ("passwd", 1, "c74319d99499fc3e9013acff597c23c5baf0a0bec5634c46b8352b793e324723"),
    ("password", 4000, "b0e27c950b671c658dc27ed67260546501e482cd08909bd0db91625f63764acf"),
  ])
  func `PBKDF2 with SHA-512 agrees with Python's hashlib`(
    passphrase: String, iterations: Int, key: String
  ) throws {
    let derived = try KeyDerivation.pbkdf2SHA512(
      passphrase: Array(passphrase.utf8), salt: Array("salt".utf8), iterations: iterations,
      bytes: key.utf8.count / 2)
    #expect(Hex.encode(derived) == key)
  }
}
