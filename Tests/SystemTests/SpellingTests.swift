import System
import Testing

@Suite struct SpellingTests {
  static let known = ["soupName", "syncName", "target", "options", "full_text"]

  @Test(
    arguments: [
      ("soupname", "soupName"), ("soupÑame", "soupName"), ("sopuName", "soupName"),
      ("traget", "target"), ("option", "options"), ("fulltext", "full_text"), ("zzz", nil),
      ("", nil), ("columns", nil),
    ] as [(String, String?)])
  func `the nearest known word is found, and no distant one`(word: String, expected: String?) {
    #expect(Spelling.nearest(word, among: Self.known) == expected)
  }

  @Test(arguments: [
    ("jobs", "jobs", 0), ("jbos", "jobs", 1), ("job", "jobs", 1), ("hobs", "jobs", 1),
    ("", "abc", 3), ("kitten", "sitting", 3),
  ])
  func `the distance counts mistakes`(_ left: String, _ right: String, _ expected: Int) {
    #expect(Spelling.distance(left, right) == expected)
  }

  @Test func `a look-alike letter is reported`() {
    #expect(Spelling.lookAlikes("sоupName", of: "soupName")?.map(\.wrong) == ["о"])
    #expect(Spelling.lookAlikes("soupname", of: "soupName") == nil)
  }
}
