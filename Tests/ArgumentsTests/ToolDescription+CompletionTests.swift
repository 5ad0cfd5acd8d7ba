import Arguments
import Testing

@Suite struct CompletionTests {
  @Test(arguments: [
    ("planner pr", "prime"), ("planner org ", "serve"), ("planner prime --fo", "--format"),
    ("planner prime --format ", "zip tar.zst"), ("planner prime --format = t", "tar.zst"),
    ("planner completion ", "bash zsh fish"), ("planner reconcile u", "undo"),
    ("planner reconcile undo --r", "--reason"), ("planner prime fs --d", "--deadline --dry-run"),
  ])
  func `bash offers matching words`(_ line: String, _ expected: String) throws {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    let script =
      planner.description.completion(for: .bash)
      + "COMP_WORDS=(\(words.map { "'\($0)'" }.joined(separator: " ")))\n"
      + "COMP_CWORD=\(words.count - 1)\n_planner\necho \"${COMPREPLY[*]}\"\n"
    #expect(try outputOf("bash", [], input: script).text == expected + "\n")
  }

  /// What the program itself would print, with the words that it was given.
  private static let asked = """
    planner() { [ "$1 $3" = 'complete --' ] || return 1; shift; echo "$*" | tr ' ' '\\n' | sed 's/^/ada./'; }
    """

  @Test(arguments: [
    ("planner prime fs --user ada.p", "ada.prime"), ("planner prime fs -u ada.f", "ada.fs"),
    ("planner reconcile ada.pi", "ada.pipelines"), ("planner reconcile /et", "/etc"),
  ])
  func `bash asks the program for names`(_ line: String, _ expected: String) throws {
    let words = line.split(separator: " ")
    let script =
      planner.description.completion(for: .bash) + Self.asked
      + "\nCOMP_WORDS=(\(words.map { "'\($0)'" }.joined(separator: " ")))\n"
      + "COMP_CWORD=\(words.count - 1)\n_planner\necho \"${COMPREPLY[*]}\"\n"
    #expect(try outputOf("bash", [], input: script).text == expected + "\n")
  }

  private func expectReadable(by shell: Shell) throws {
    let script = planner.description.completion(for: shell)
    let run = try outputOf(shell.rawValue, ["-n"], input: script)
    #expect(run.status == 0)
    #expect(run.text == "")
  }

  @Test func `bash accepts its script`() throws { try expectReadable(by: .bash) }

  @Test(.enabled(if: place(of: "zsh") != nil, "zsh is not installed: make deps-test"))
  func `zsh accepts its script`() throws { try expectReadable(by: .zsh) }

  @Test(.enabled(if: place(of: "fish") != nil, "fish is not installed: make deps-test"))
  func `fish accepts its script`() throws { try expectReadable(by: .fish) }

  @Test(.enabled(if: place(of: "fish") != nil, "fish is not installed: make deps-test"))
  func `fish offers matching words`() throws {
    let script =
      planner.description.completion(for: .fish) + "complete -C 'planner prime --format t'\n"
      + "complete -C 'planner org s'\ncomplete -C 'planner reconcile undo --r'\n"
    let run = try outputOf("fish", [], input: script)
    #expect(run.text == "tar.zst\tarchive format\nserve\tserve an org\n--reason\twhy\n")
  }

  @Test(.enabled(if: place(of: "fish") != nil, "fish is not installed: make deps-test"))
  func `fish asks the program for names`() throws {
    let asked = """
      function planner
        test "$argv[1] $argv[3]" = 'complete --'; and printf 'ada.%s\\n' $argv
      end

      """
    let script =
      planner.description.completion(for: .fish) + asked
      + "complete -C 'planner prime fs --user ada.p'\n"
    #expect(try outputOf("fish", [], input: script).text == "ada.prime\tonly these users\n")
  }
}
