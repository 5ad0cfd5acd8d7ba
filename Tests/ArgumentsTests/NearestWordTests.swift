import Testing

@testable import Arguments

@Suite struct NearestWordTests {
  @Test(arguments: [
    ("jobs", "jobs", 0), ("jbos", "jobs", 1), ("job", "jobs", 1), ("hobs", "jobs", 1),
    ("", "abc", 3), ("kitten", "sitting", 3),
  ])
  func `distance counts slips`(_ left: String, _ right: String, _ expected: Int) {
    #expect(NearestWord.distance(Array(left.utf8), Array(right.utf8)) == expected)
  }

  @Test(
    arguments: [
      ("dry", ["dry-run", "quiet"], "dry-run"), ("QUIET", ["dry-run", "quiet"], "quiet"),
      ("zzz", ["dry-run", "quiet"], nil), ("", ["a"], nil), ("x", ["json"], nil),
    ] as [(String, [String], String?)])
  func `only a near word is suggested`(_ word: String, _ words: [String], _ expected: String?) {
    #expect(NearestWord.find(for: word, among: words) == expected)
  }
}
