import System
import Testing

@Suite struct SecretTests {
  @Test func `no way of printing shows a secret`() {
    let secret = Secret("open sesame")
    var dumped = ""
    dump(secret, to: &dumped)
    for text in ["\(secret)", String(reflecting: secret), String(describing: [secret]), dumped] {
      #expect(!text.contains("sesame"), "\(text)")
      #expect(!text.contains("115"), "\(text)")
    }
    #expect(secret.reveal() == Array("open sesame".utf8))
  }

  @Test(arguments: [
    ("a\n", "a"), ("a\r\n", "a"), ("a b", "a b"), ("\n", ""), ("", ""), ("a\nb\n", "a\nb"),
  ])
  func `a line end is not part of a secret text`(stored: String, text: String) {
    #expect(Secret(stored).text == text)
  }

  @Test func `bytes that are not UTF-8 have no text`() {
    #expect(Secret([0xFF, 0xFE]).text == nil)
  }
}
