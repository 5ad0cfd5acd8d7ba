import System
import TestSupport
import Testing

@Suite struct CompleteCommandTests {
  @Test func `completion offers the users of the file and of the ledger`() async throws {
    let world = try World()
    func offered(_ words: String...) async throws -> [Substring] {
      let run = try await ProgramRun.blocking(["complete", "users", "--"] + words)
      #expect(run.status == 0, "\(run.everything)")
      return run.output.split(separator: "\n")
    }
    // The file has a query, and nothing has run yet.
    let (file, data) = (world.pipeline.file, world.root)
    #expect(try await offered("run", file, "--data", data, "--user", "") == [])
    try await world.run(.prime)
    let names: [Substring] = ["ada@example.com", "ben@example.com", "cleo@example.com"]
    #expect(try await offered("run", file, "--data", data, "--user", "") == names)
    #expect(try await offered("run", "no-such-pipeline", "--user", "") == [])
    let listed = World.repository + "/pipelines/first.json"
    #expect(try await offered("run", listed, "--user", "a") == ["ada@example.com"])
  }

  @Test func `completion offers the pipelines of the directories searched by name`() async throws {
    let directory = TemporaryDirectory("complete")
    try Files.makeDirectory(directory.file("pipelines"))
    for name in ["north.json", "south.json", "notes.txt"] {
      try DurableFile.write([], to: directory.file("pipelines/" + name))
    }
    let run = try await ProgramRun.blocking(
      ["complete", "pipelines"], shell: "cd '\(directory.file(""))' && exec \"$@\"")
    #expect(run.status == 0 && run.output.hasPrefix("north\nsouth\n"), "\(run.everything)")
  }
}
