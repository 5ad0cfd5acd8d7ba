import JSON
import Testing

@Suite struct JSONSyntaxTests {
  @Test(arguments: [
    "{}", " [1, 2.5e3, {\"a\": null}] ", "\"\\ud83d\\ude00\"", "true", "-0", "", " ", "{", "[1,]",
    "{\"a\" 1}", "{\"a\":1} 2", "\"\\ud83d\"", "01", "nul", "\"\u{1}\"",
    String(repeating: "[", count: 64) + String(repeating: "]", count: 64),
    String(repeating: "[", count: 65) + String(repeating: "]", count: 65),
  ])
  func `the syntax check accepts what the parser accepts`(_ text: String) {
    func fault(_ body: () throws -> Void) -> JSONError? {
      do {
        try body()
        return nil
      } catch { return error as? JSONError }
    }
    let parsed = fault { _ = try JSONValue(parsing: text) }
    let checked = fault { try Array(text.utf8).withUnsafeBytes { try JSONSyntax.check($0) } }
    #expect(parsed == checked)
  }
}
