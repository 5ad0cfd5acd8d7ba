import System
import Testing

@Suite struct ShellWordTests {
  @Test(arguments: [
    "/srv/x/demo.json", "", "its file.json", "it's", "$HOME/x", "a;b", "~/x", "x~", "ö/é.json",
    "back\\slash", "line\nline", "*", "`id`", "\"q\"", "!x", "#x", "a=b",
  ])
  func `a quoted word is one word to a shell, and unchanged`(_ word: String) throws {
    let told = try ChildProcess.run(
      "/bin/bash", ["-c", "printf '<%s>' " + ShellWord.quoted(word)], environment: [:])
    #expect(String(decoding: told.output, as: UTF8.self) == "<\(word)>")
  }

  @Test func `a word without special characters is not quoted`() {
    #expect(ShellWord.quoted("/srv/x-1/demo_2.json") == "/srv/x-1/demo_2.json")
    #expect(ShellWord.quoted("a b") == "'a b'")
  }
}
