import Archive
import Testing

@Suite struct EntryNameTests {
  @Test(arguments: [
    ("", "is empty"), (String(repeating: "a", count: 513), "is longer than 512 bytes"),
    ("a\nb", "has control characters"), ("a\u{7F}", "has control characters"),
    ("a\u{85}b", "has control characters"), ("a\u{202E}b", "has invisible characters"),
    ("a\u{2028}b", "has invisible characters"),
    (String(repeating: "ß", count: 128), "has a component longer than 255 bytes"),
    ("a\\b", "has a backslash: a\\b"), ("/etc/passwd", "is an absolute path: /etc/passwd"),
    ("C:/x", "starts with a drive letter: C:/x"), ("a//b", "has an empty component: a//b"),
    ("a/", "has an empty component: a/"), ("a/../b", "contains ..: a/../b"),
    ("./a", "contains .: ./a"),
  ])
  func `a name that may lead outside is rejected with its reason`(_ name: String, _ words: String) {
    #expect(EntryName.refusal(name) == words)
  }

  @Test func `a plain relative path is a valid name`() {
    #expect(EntryName.refusal("ios/a-b_c.d/e") == nil)
    let part = String(repeating: "a", count: 255)
    #expect(EntryName.refusal("\(part)/\(part)/") != nil)
    #expect(EntryName.refusal("\(part)/\(part)a") != nil)
    #expect(EntryName.refusal("\(part)/\(part)") == nil)
    for name in ["größe", "é", "e\u{301}", "名前/ストア", "магазин", "می\u{200C}خواهم", "📱"] {
      #expect(EntryName.refusal(name) == nil, "\(name)")
    }
  }
}
