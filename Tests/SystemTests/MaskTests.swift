import System
import Testing

struct MaskTests {
  private func masked(_ text: String, _ secrets: [String]) -> String {
    String(decoding: SecretMask(secrets).applied(to: Array(text.utf8)), as: UTF8.self)
  }

  @Test func `every secret is masked at any position`() {
    #expect(
      masked("s3cret-token, again s3cret-token and other-one", ["s3cret-token", "other-one"])
        == "•••, again ••• and •••")
    #expect(masked("s3cret-token", ["s3cret-token"]) == "•••")
  }

  @Test func `a longer secret is masked before one that is part of it`() {
    #expect(masked("s3cret-token s3cret", ["s3cret", "s3cret-token"]) == "••• •••")
  }

  @Test func `a text too short for a secret masks no ordinary words`() {
    #expect(masked("the user may not", ["user", "may", ""]) == "the user may not")
  }
}
