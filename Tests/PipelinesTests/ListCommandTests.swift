import JSON
import System
import TestSupport
import Testing

@Suite struct ListCommandTests {
  private func program(
    _ world: World, _ words: [String], data: String? = nil
  ) async throws -> ProgramRun {
    if !Files.exists(world.root) { try Files.makeDirectory(world.root) }
    return try await ProgramRun.blocking(
      words + ["--data", data ?? world.root], variables: world.variables,
      shell: "cd '\(world.directory.path)' && exec \"$@\"")
  }

  @Test func `the list has each pipeline's last run, exit status and edits`() async throws {
    let world = try World()
    let before = try await program(world, ["list"])
    #expect(before.status == 0, "\(before.everything)")
    #expect(before.output.contains(/(?m)^demo +never run +- +0$/), "\(before.output)")
    #expect(before.output.contains(/(?m)^first +never run/), "\(before.output)")
    try await world.run(.prime)
    let after = try await program(world, ["list"])
    #expect(after.output.contains(/(?m)^demo +20\d\d-\S+Z +0 +0$/), "\(after.output)")
    let json = try await program(world, ["list", "--json"])
    let pipelines = try JSONValue(parsing: Array(json.output.utf8))["pipelines"]?.array ?? []
    let demo = pipelines.first { $0["name"] == "demo" }
    #expect(demo?["lastRun"]?["exitStatus"] == 0 && demo?["openEdits"] == 0, "\(json.output)")
  }

  @Test func `a run that does not reach the org is the last run of list and status`() async throws {
    let world = try World()
    try await world.run(.prime)
    world.goAway()
    await #expect(throws: (any Error).self) { try await world.run() }
    let list = try await program(world, ["list"])
    #expect(list.output.contains(/(?m)^demo +20\d\d-\S+Z +6 +0$/), "\(list.output)")
    let status = try await program(world, ["status", "demo"])
    #expect(status.output.contains(/20\d{6}T\d{6}Z-2[: ].*6/), "\(status.output)")
  }

  @Test func `an unreadable pipeline is listed with its fault, with the others`() async throws {
    let world = try World()
    let broken = world.directory.file("pipelines/broken.json")
    try DurableFile.write(Array("{}".utf8), to: broken)
    // A file of the working directory is not listed, and does not replace the one in pipelines/.
    try DurableFile.write(Array("{}".utf8), to: world.directory.file("demo.json"))
    let list = try await program(world, ["list"])
    #expect(list.status == 0, "\(list.everything)")
    #expect(list.output.contains(/broken +\d+ problems: attache check broken/), "\(list.output)")
    #expect(list.output.contains(/(?m)^demo +never run/), "\(list.output)")
    let all = try await program(world, ["status", "--all"])
    #expect(all.status == 4, "\(all.everything)")
    #expect(all.output.contains("pipeline demo\n") && all.output.contains("pipeline first\n"))
    let one = try await program(world, ["status", "--all", "demo"])
    #expect(one.status == 2, "\(one.everything)")
  }

  @Test func `without pipelines, both commands say where they looked`() async throws {
    let empty = TemporaryDirectory("no-pipelines")
    for words in [["list"], ["status", "--all"]] {
      let run = try await ProgramRun.blocking(words, shell: "cd '\(empty.path)' && exec \"$@\"")
      #expect(run.status == 0, "\(words): \(run.everything)")
      #expect(run.messages.contains("no pipelines in pipelines and /etc/attache"), "\(words)")
    }
  }

  @Test func `a data directory that does not exist is an error of the whole list`() async throws {
    let world = try World()
    for words in [["list"], ["status", "--all"]] {
      let run = try await program(world, words, data: "snapshot")
      #expect(run.status == 2, "\(words): \(run.everything)")
      #expect(run.messages.contains("there is no data directory snapshot\n"))
      #expect(run.output.isEmpty, "\(run.output)")
    }
  }
}
