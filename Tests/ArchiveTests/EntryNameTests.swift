import Archive
import Testing

@Suite struct EntryNameTests {
  @Test(arguments: [
    ("", "is empty"), (String(repeating: "a", count: 513), "is longer than 512 bytes"),
    ("a\nb", "has control characters"), ("Zoë", "is not plain ASCII"),
    ("a\\b", "has a backslash: a\\b"), ("/etc/passwd", "is an absolute path: /etc/passwd"),
    ("C:/x", "begins with a drive: C:/x"), ("a//b", "has an empty part: a//b"),
    ("a/", "has an empty part: a/"), ("a/../b", "climbs with ..: a/../b"),
    ("./a", "climbs with .: ./a"),
  ])
  func `a name that may lead elsewhere is refused, and the words say why`(
    _ name: String, _ words: String
  ) {
    #expect(EntryName.refusal(name) == words)
  }

  @Test func `a plain relative path is a name`() {
    #expect(EntryName.refusal("ios/a-b_c.d/e") == nil)
    #expect(EntryName.refusal(String(repeating: "a", count: 512)) == nil)
  }
}
