import System
import Testing

struct MaskTests {
  private func masked(_ text: String, _ secrets: [String]) -> String {
    String(decoding: SecretMask(secrets).applied(to: Array(text.utf8)), as: UTF8.self)
  }

  @Test func `every secret is taken out wherever it stands`() {
    #expect(
      masked("s3cret-token, again s3cret-token and other-one", ["s3cret-token", "other-one"])
        == "•••, again ••• and •••")
    #expect(masked("s3cret-token", ["s3cret-token"]) == "•••")
  }

  @Test func `a longer secret goes before one that is its part`() {
    #expect(masked("s3cret-token s3cret", ["s3cret", "s3cret-token"]) == "••• •••")
  }

  @Test func `a text that is too short for a secret takes no ordinary words away`() {
    #expect(masked("the user may not", ["user", "may", ""]) == "the user may not")
  }
}
