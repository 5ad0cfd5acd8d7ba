import JSON
import Pipelines
import System
import Testing

@Suite struct PruneCommandTests {
  let scene: DecisionScene
  var world: World { scene.world }
  init() throws { scene = try KeepingTests.scene() }

  /// Three runs of a pipeline that keeps everything, with a return and a report.
  private func nights() async throws {
    let text = try String(decoding: Files.read(world.pipeline.file), as: UTF8.self)
    var keeping = world.pipeline
    keeping.keep.generations = 100
    keeping.keep.returnedDays = 1000
    let device = try await scene.phone()
    _ = try scene.edited(device)
    try world.handBack(device, as: "ada.sqlite")
    for days: Int64 in [0, 1, 60] {
      try world.org.moveClock(by: days * KeepingTests.day)
      let id = try scene.account(device, 1)
      try scene.office(id, ["Website": .string("https://office.example/\(days)")])
      _ = try await PipelineRun.execute(
        keeping, root: world.root, variables: world.variables, options: RunOptions(),
        report: { _ in })
    }
    #expect(text.contains(#""generations": 1"#))
  }

  @Test func `the plan removes nothing, the command removes what it lists`() async throws {
    try await nights()
    let before = try Tree.files(world.data.path)
    let plan = try await world.program(["prune"], ["--dry-run"])
    #expect(plan.status == 0, "\(plan.everything)")
    #expect(plan.output.contains("would be removed: stores and bundles of 4 generations, "))
    #expect(plan.output.contains("would be removed: 1 processed return, "))
    #expect(try Tree.files(world.data.path) == before)
    let disk = try await world.program(["status"], ["--disk", "--json"])
    let document = try JSONValue(parsing: disk.output)
    let free = try #require(document["prune"]?["bytes"]?.int)
    let all = try #require(document["disk"]?["bytes"]?.int)
    let done = try JSONValue(parsing: try await world.program(["prune"], ["--json"]).output)
    #expect(done["done"]?.bool == true && done["totals"]?["bytes"]?.int == free)
    let rest = try JSONValue(
      parsing: try await world.program(["status"], ["--disk", "--json"]).output)
    let left = try #require(rest["disk"]?["bytes"]?.int)
    // Except for the notes of removed generations, and the ledger's own pages.
    #expect(abs(all - free - left) < 200_000 && free > 200_000)
    #expect(try await world.program(["prune"]).output.hasPrefix("there is nothing to remove"))
    let table = try await world.program(["status"], ["--disk"])
    for word in ["stores and bundles", "ada@example.com", "issued", "reports", "ledger", "stays: "]
    { #expect(table.output.contains(word), "\(word) in \(table.output)") }
  }

  @Test func `a prune killed at any point is completed by the next`() async throws {
    try await nights()
    let kept = world.directory.file("kept")
    try Tree.copy(world.root, to: kept)
    #expect(try await world.program(["prune"]).status == 0)
    let wanted = try Tree.files(world.data.path)
    var (deaths, number, status) = (0, 1, Int32(137))
    while status == 137 {
      for side in ["before", "after"] {
        try Tree.copy(kept, to: world.root)
        status = try await world.program(
          ["prune"],
          variables: [
            "LD_PRELOAD": try KillShim.shared.get().path, "KILL_AT": String(number),
            "KILL_OF": "names", "KILL_FROM": "start", "KILL_SIDE": side,
            "KILL_COUNT": world.directory.file("calls"),
          ]
        ).status
        if status != 137 { break }
        deaths += 1
        // A run removes temporary names.
        _ = try await world.run(.pack)
        #expect(try await world.program(["prune"]).status == 0)
        #expect(try Tree.files(world.data.path) == wanted, "killed \(side) call \(number)")
      }
      number += 9
    }
    #expect(status == 0 && deaths > 6, "\(deaths) deaths")
  }

  @Test func `disk use is shown during a run, without disturbing it`() async throws {
    try await world.run()
    let lock = try FileLock.waiting(world.data.lock, exclusive: true, seconds: 1)
    #expect(try await world.program(["prune"]).status == 7)
    let disk = try await world.program(["status"], ["--disk"])
    #expect(disk.status == 0 && disk.output.contains("a run is active"))
    lock.close()
  }
}
