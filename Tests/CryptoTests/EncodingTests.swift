import Crypto
import Testing

@Suite struct EncodingTests {
  // RFC 4648, section 10.
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
  ])
  func `base64 matches the standard`(plain: String, text: String) {
    let bytes = Array(plain.utf8)
    #expect(Base64.encode(bytes) == text)
    #expect(Base64.decode(text) == bytes)
    #expect(Base64.encodeURL(bytes) == text.replacing("=", with: ""))
    #expect(Base64.decodeURL(text) == bytes)
    #expect(Base64.decodeURL(text.replacing("=", with: "")) == bytes)
  }

  @Test func `every byte survives both alphabets`() {
    let bytes = (0...255).map { UInt8($0) }
    #expect(Base64.decode(Base64.encode(bytes)) == bytes)
    #expect(Base64.decodeURL(Base64.encodeURL(bytes)) == bytes)
    #expect(Base64.encode([0xFB, 0xFF]) == "+/8=")
    #expect(Base64.encodeURL([0xFB, 0xFF]) == "-_8")
    #expect(Base64.decode("Zm9v\nYmFy\r\n") == Array("foobar".utf8))
  }

  @Test(arguments: ["Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zg==Zg==", "Z===", "-_8=", "Zm 9v"])
  func `invalid base64 is rejected`(text: String) { #expect(Base64.decode(text) == nil) }

  @Test(arguments: ["Z", "Zh", "+/8", "Zg="]) func `invalid base64 for URLs is rejected`(
    text: String
  ) { #expect(Base64.decodeURL(text) == nil) }

  @Test func `hexadecimal digits are encoded and decoded`() {
    #expect(Hex.encode([0, 0x7F, 0xFF]) == "007fff")
    #expect(Hex.decode("007fFF") == [0, 0x7F, 0xFF])
    for text in ["0", "0g", "é"] { #expect(Hex.decode(text) == nil) }
  }

  @Test func `a UUID has its version and is unique`() throws {
    let uuid = RandomBytes.uuid()
    #expect(
      uuid.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/)
        != nil)
    #expect(Set((0..<100).map { _ in RandomBytes.uuid() }).count == 100)
  }
}
