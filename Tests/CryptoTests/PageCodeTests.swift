import Crypto
import Testing

@Suite struct PageCodeTests {
  @Test func `a page's MAC is the HMAC of its bytes and its number`() throws {
    let key = RandomBytes.make(32)
    var code = try PageCode(key: key)
    for number in [UInt32(1), 2, 0x0102_0304] {
      for count in [0, 1, 16, 4032] {
        let message = RandomBytes.make(count)
        let tail = withUnsafeBytes(of: number.littleEndian) { Array($0) }
        var found = [UInt8](repeating: 0, count: 64)
        try message.withUnsafeBytes { message in
          try found.withUnsafeMutableBytes { try code.compute(message, number: number, into: $0) }
        }
        #expect(found == HMAC.sha512(key: key, message + tail))
      }
    }
  }

  @Test func `an empty key is rejected`() {
    #expect(throws: CryptoError.self) { _ = try PageCode(key: []) }
  }

  @Test func `one cipher encrypts and decrypts in turn`() throws {
    var cipher = try PageCipher(key: RandomBytes.make(32))
    for _ in 0..<3 {
      let (plain, iv) = (RandomBytes.make(4016), RandomBytes.make(16))
      var sealed = [UInt8](repeating: 0, count: 4016)
      var opened = sealed
      try iv.withUnsafeBytes { iv in
        try plain.withUnsafeBytes { plain in
          try sealed.withUnsafeMutableBytes { try cipher.encrypt(plain, iv: iv, into: $0) }
        }
        try sealed.withUnsafeBytes { sealed in
          try opened.withUnsafeMutableBytes { try cipher.decrypt(sealed, iv: iv, into: $0) }
        }
      }
      #expect(opened == plain)
      #expect(sealed != plain)
    }
  }
}
