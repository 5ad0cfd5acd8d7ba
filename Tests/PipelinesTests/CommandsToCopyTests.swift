import JSON
import System
import Testing

@Suite struct CommandsToCopyTests {
  let scene: DecisionScene
  private var world: World { scene.world }
  init() throws { scene = try DecisionScene() }

  /// The program in a separate directory, with no data directory next to the arguments.
  private func attache(
    _ words: [String], in directory: String = "/", variables: [String: String] = [:]
  ) async throws -> ProgramRun {
    try await ProgramRun.blocking(
      words, variables: world.variables.merging(variables) { $1 },
      shell: "cd '\(directory)' && exec \"$@\"")
  }

  private func pasted(_ command: String) async throws -> ProgramRun {
    #expect(command.hasPrefix("attache "), "\(command)")
    return try await ProgramRun.blocking(
      [], variables: world.variables.merging(["COMMAND": command]) { $1 },
      shell: #"program=$1; attache() { "$program" "$@"; }; cd /; eval "$COMMAND""#)
  }

  /// Moves the pipeline file to where no name finds it and a shell would split its path, and
  /// returns the path.
  private func moved() throws -> String {
    let place = world.directory.file("its pipelines")
    try DurableFile.rename(world.directory.file("pipelines"), to: place)
    return place + "/demo.json"
  }

  @Test func `printed commands contain the quoted path if only that finds the file`() async throws {
    _ = try await scene.conflict()
    let file = try moved()
    // A run with an open edit writes its report again.
    let run = try await attache(["run", file, "--only", "ingest"])
    #expect(run.status == 3)
    let again = try await attache(["decide", file, "1", "--retry", "--now"])
    #expect(again.output.contains("attache decide '\(file)' 1 "), "\(again.everything)")
    let ledger = try #require(try world.data.ledgerIfThere())
    defer { ledger.close() }
    let name = try #require(try ledger.latestRun(of: try Files.list(world.data.reports)))
    let report = world.data.report(name)
    let json = try JSONValue(parsing: try Files.read(report + "/report.json"))
    let open = try #require(json["stillOpen"]?[0])
    let next = try #require(open["next"]?.string)
    #expect(next.contains("attache decide '\(file)' 1 followed by one of: --take device, "))
    let page = String(decoding: try Files.read(report + "/report.html"), as: UTF8.self)
    #expect(page.contains("attache review &#39;\(file)&#39;"))
    let status = try await attache(["status", file, "--json"])
    #expect(try JSONValue(parsing: Array(status.output.utf8))["open"]?[0]?["next"]?.string == next)

    let list = try JSONValue(
      parsing: Array(try await attache(["decide", file, "--list", "--json"]).output.utf8))
    let listed = try #require(list[0]?["commands"]?.array)
    let commands = listed.compactMap(\.string)
    #expect(commands.count == 4)
    for command in commands where !command.contains("FIELD=") {
      let dry = try await pasted(command + " --dry-run")
      #expect([0, 3].contains(dry.status), "\(command): \(dry.everything)")
    }
    let refused = try await attache(["decide", file, "1", "--discard"])
    let hint = try #require(refused.messages.firstMatch(of: /(attache decide .* --list) shows/)?.1)
    #expect(try await pasted(String(hint)).output.hasPrefix("edit 1: conflict"))
  }

  @Test func `printed commands contain the name if that finds the file`() async throws {
    _ = try await scene.conflict()
    let place = world.directory.path
    for word in ["demo", "pipelines/demo.json", world.pipeline.file] {
      let list = try await attache(["decide", word, "--list"], in: place)
      #expect(
        list.output.contains("to decide: attache decide demo 1 followed by one of: --take device"),
        "\(word)")
    }
    // Next to the file its name finds it, and nowhere else.
    let beside = try await attache(["decide", "demo.json", "--list"], in: place + "/pipelines")
    #expect(
      beside.output.contains("to decide: attache decide \(world.pipeline.file) 1 followed by "))
  }

  @Test func `printed commands name the data directory of the call`() async throws {
    _ = try await scene.conflict()
    let data = world.directory.file("its data")
    try DurableFile.rename(world.root, to: data)
    let list = try await attache(["decide", world.pipeline.file, "--list", "--data", data])
    let line = try #require(list.output.split(separator: "\n").last { $0.contains("attache ") })
    let command = try #require(
      line.replacing("followed by one of: ", with: "").firstMatch(of: /attache [^,]*/)?.0)
    #expect(command.contains(" --data '\(data)' 1 --take device"))
    let dry = try await pasted(command + " --dry-run")
    #expect(dry.output.contains("reconcile: update accounts "), "\(dry.everything)")
  }
}
