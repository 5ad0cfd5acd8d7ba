import Arguments
import Testing

@Suite struct CompletionTests {
  @Test(arguments: [
    ("planner pr", "prime"), ("planner org ", "serve"), ("planner prime --fo", "--format"),
    ("planner prime --format ", "zip tar.zst"), ("planner prime --format = t", "tar.zst"),
    ("planner completion ", "bash zsh fish"), ("planner reconcile u", "undo"),
    ("planner reconcile undo --r", "--reason"), ("planner prime fs --d", "--deadline --dry-run"),
  ])
  func `bash offers what fits`(_ line: String, _ expected: String) throws {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    let script =
      planner.description.completion(for: .bash)
      + "COMP_WORDS=(\(words.map { "'\($0)'" }.joined(separator: " ")))\n"
      + "COMP_CWORD=\(words.count - 1)\n_planner\necho \"${COMPREPLY[*]}\"\n"
    let run = try #require(try outputOf("bash", [], input: script))
    #expect(run.text == expected + "\n")
  }

  @Test(arguments: [Shell.bash, .zsh, .fish])
  func `the shell reads its script without complaint`(_ shell: Shell) throws {
    let script = planner.description.completion(for: shell)
    // A machine without that shell cannot check its script.
    guard let run = try outputOf(shell.rawValue, ["-n"], input: script) else { return }
    #expect(run.status == 0)
    #expect(run.text == "")
  }

  @Test func `fish offers what fits`() throws {
    let script =
      planner.description.completion(for: .fish) + "complete -C 'planner prime --format t'\n"
      + "complete -C 'planner org s'\ncomplete -C 'planner reconcile undo --r'\n"
    guard let run = try outputOf("fish", [], input: script) else { return }
    #expect(run.text == "tar.zst\tarchive format\nserve\tserve an org\n--reason\twhy\n")
  }
}
