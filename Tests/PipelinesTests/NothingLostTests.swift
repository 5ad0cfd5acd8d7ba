import Bundles
import JSON
import Pipelines
import SQLite
import SmartStore
import System
import Testing

@Suite struct NothingLostTests {
  let world: World
  init() throws { world = try World() }

  private func includes(_ name: String) throws -> [Manifest.Include] {
    try BundleReader.inspect(world.bundle(name)).includes
  }

  @Test func `a bundle includes a return only after its records were fetched again`() async throws {
    let (device, account) = try await world.primed("ada", first: "accounts")
    try world.handBack(device, as: "ada.sqlite", edited: account, ["Phone": "+1 555 0150"])
    #expect(try await world.run(.ingest, .reconcile, .pack).verdicts == [.updated: 1])
    #expect(try includes("ada") == [])
    try await world.run()
    #expect(try includes("ada").map(\.handback) == [1])
    #expect(try includes("ben") == [])
  }

  @Test func `a generation interrupted before it named its returns includes none`() async throws {
    let (device, account) = try await world.primed("ada", first: "accounts")
    try world.handBack(device, as: "ada.sqlite", edited: account, ["Phone": "+1 555 0150"])
    try await world.run()
    #expect(try includes("ada").map(\.handback) == [1])
    // Published, but not in the ledger yet.
    let ledger = try Connection(world.data.state)
    try ledger.run("UPDATE snapshot SET generation = generation - 1")
    ledger.close()
    let bundle = try world.bundle("ada")
    try Files.remove(bundle)
    try await world.run(.pack)
    #expect(try includes("ada") == [])
    try await world.run()
    #expect(try includes("ada").map(\.handback) == [1])
  }

  @Test func `edits of a soup removed from the configuration are reported`() async throws {
    let (device, contact) = try await world.primed("ada", first: "contacts")
    try device.edit("contacts", id: contact, ["Phone": "+1 555 0153"], now: world.org.now())
    try world.handBack(device, as: "ada.sqlite")
    try removeContacts()
    let pipeline = try PipelineFile.read(path: world.pipeline.file, variables: world.variables)
    var options = RunOptions()
    options.stages = [.ingest, .reconcile]
    let summary = try await PipelineRun.execute(
      pipeline, root: world.root, variables: world.variables, options: options, report: { _ in })
    #expect(summary.verdicts == [.notConfigured: 1])
  }

  @Test func `a soup that an app created is named and left alone`() async throws {
    let (device, account) = try await world.primed("ada", first: "accounts")
    try device.edit("accounts", id: account, ["Phone": "+1 555 0154"], now: world.org.now())
    let app = try Store(opening: device.storePath)
    try app.registerSoup("drafts", indexSpecs: [IndexSpec(path: "__local__", type: .string)])
    try app.upsert([#"{"__local__":true,"__locally_created__":true}"#], into: "drafts")
    try app.close()
    let summary = try await world.run(device, as: "ada.sqlite", .ingest, .reconcile)
    #expect(summary.verdicts == [.updated: 1])
    let told = world.told.withLock { $0 }.compactMap { event -> [String]? in
      if case .returnIngested(_, _, _, _, _, let leftAlone) = event { leftAlone } else { nil }
    }
    #expect(told == [["drafts"]])
  }

  private func removeContacts() throws {
    let place = world.directory.file("pipelines/demo")
    for file in ["userstore.json", "usersyncs.json"] {
      let value = try JSONValue(parsing: try Files.read(place + "/" + file))
      try DurableFile.write(without("contacts", value).bytes, to: place + "/" + file)
    }
  }

  private func without(_ soup: String, _ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements):
      .array(elements.filter { $0["soupName"]?.string != soup }.map { without(soup, $0) })
    case .object(let members):
      .object(members.reduce(into: JSONObject()) { $0[$1.name] = without(soup, $1.value) })
    default: value
    }
  }

  @Test(arguments: [("0055g0000000000AAA", 1), ("ada", 1), ("ada", 2)])
  func `a file is not ingested for a snapshot that was never issued`(
    _ name: String, _ generation: Int
  ) async throws {
    try await world.run()
    let id = name == "ada" ? try world.user("ada").id + (generation == 1 ? "x" : "") : name
    let file = world.directory.file("lost.db")
    try world.device("ada").handBack(to: file, now: world.org.now())
    let error = await #expect(throws: PipelineError.self) {
      try await world.run(.ingest) {
        $0.files = [file]
        $0.asSnapshot = (id, generation)
      }
    }
    #expect(error?.code == "ingest.no-snapshot")
    #expect(try Files.list(world.data.path + "/processing") == [])
  }

  @Test func `a conflict is new in one run and stays in every later report`() async throws {
    let (device, account) = try await world.primed("ada", first: "accounts")
    try device.edit("accounts", id: account, ["Phone": "+1 555 0151"], now: world.org.now())
    _ = world.org.update(
      "Account", id: account, ["Phone": "+1 555 0152"], as: try world.user("admin"))
    let first = try await world.run(device, as: "ada.sqlite")
    #expect(first.verdicts == [.conflict: 1])
    #expect(first.findings == [.unsettledEdits])
    let second = try await world.run()
    #expect(second.verdicts == [:])
    #expect(second.findings == [.unsettledEdits])
    #expect(second.open == [.conflict: 1])
    #expect(second.exitStatus == .needsAttention)
    // Its device may install, because the bundle redelivers the edit.
    #expect(try includes("ada").map(\.handback) == [1])
  }
}
