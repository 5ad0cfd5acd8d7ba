import System
import Testing

@Suite struct VisibleTextTests {
  @Test(arguments: [
    ("ada.sqlite", "ada.sqlite", "ada.sqlite"), ("Zoë 測試 👩‍🔧 שלום", "Zoë 測試 👩‍🔧 שלום", "Zoë 測試 👩‍🔧 שלום"),
    ("a\u{1B}]0;owned\u{07}b", #"a\u001b]0;owned\u0007b"#, "a]0;ownedb"),
    ("one\ntwo\r\nthree", #"one\ntwo\r\nthree"#, "one\ntwo\r\nthree"),
    ("gpj.\u{202E}exe", #"gpj.\u202eexe"#, "gpj.exe"),
    ("\u{2066}x\u{2069}\u{200F}\u{061C}", #"\u2066x\u2069\u200f\u061c"#, "x"),
    ("\u{9B}31m\u{85}\u{7F}\u{0}", #"\u009b31m\u0085\u007f\u0000"#, "31m"),
    ("a\u{7F}b", #"a\u007fb"#, "ab"), ("\u{2028}para\u{2029}", #"\u2028para\u2029"#, "para"),
    ("tab\tstays", "tab\tstays", "tab\tstays"),
  ])
  func `control characters are escaped on a line and removed from a cell`(
    _ text: String, _ line: String, _ cell: String
  ) {
    #expect(VisibleText.line(text) == line)
    #expect(VisibleText.cell(text) == cell)
  }

  @Test func `JSON keeps its line ends and its content`() {
    let json = "{\n  \"name\": \"a\u{7F}\u{9B}\u{202E}\\n\"\n}"
    #expect(VisibleText.json(json) == "{\n  \"name\": \"a\\u007f\\u009b\\u202e\\n\"\n}")
  }
}
