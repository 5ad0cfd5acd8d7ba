import Arguments
import Testing

@Suite struct NearestWordTests {
  @Test(
    arguments: [
      ("dry", ["dry-run", "quiet"], "dry-run"), ("QUIET", ["dry-run", "quiet"], "quiet"),
      ("zzz", ["dry-run", "quiet"], nil), ("", ["a"], nil), ("x", ["json"], nil),
    ] as [(String, [String], String?)])
  func `only a near word is suggested`(_ word: String, _ words: [String], _ expected: String?) {
    #expect(NearestWord.find(for: word, among: words) == expected)
  }
}
