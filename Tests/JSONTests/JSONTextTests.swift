import Testing

@testable import JSON

/// Text is escaped wherever in it a byte stands that must be.
@Suite struct JSONTextTests {
  @Test func `what must be escaped is, at every place`() throws {
    let specials: [(String, String)] = [
      ("\"", "\\\""), ("\\", "\\\\"), ("\n", "\\n"), ("\u{1F}", "\\u001f"), ("\u{0}", "\\u0000"),
    ]
    for length in 0..<20 {
      for place in 0...length {
        for (special, escaped) in specials {
          for filler in ["a", " ", "\u{7F}", "é", "!"] {
            let before = String(repeating: filler, count: place)
            let after = String(repeating: filler, count: length - place)
            let quoted = JSONText.quoted(before + special + special + after)
            #expect(quoted == "\"\(before)\(escaped)\(escaped)\(after)\"")
          }
        }
      }
    }
  }
}
