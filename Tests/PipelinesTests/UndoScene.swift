import JSON
import LocalOrg
import Pipelines
import Rehearsal
import Reports
import System
import TestSupport
import Testing

struct UndoScene {
  let scene: DecisionScene
  var world: World { scene.world }
  init(_ change: (String) -> String = { $0 }) throws { scene = try DecisionScene(change) }

  /// A world whose sync ups differ from the demo's.
  init(syncs change: (String) -> String) throws {
    let directory = TemporaryDirectory.untilExit("undo")
    let pipelines = directory.file("pipelines")
    try Tree.copy(World.repository + "/pipelines", to: pipelines)
    let path = pipelines + "/demo/usersyncs.json"
    let text = String(decoding: try Files.read(path), as: UTF8.self)
    let changed = change(text)
    #expect(changed != text)
    try DurableFile.write(Array(changed.utf8), to: path)
    scene = DecisionScene(try World(file: pipelines + "/demo.json"))
  }

  var undoing: PipelineUndo { PipelineUndo(world.pipeline, root: world.root) }

  /// A technician's phone with the newest bundle, after a first run if there was none.
  func phone(_ name: String = "ada", as place: String? = nil) async throws -> Device {
    if !Files.exists(world.data.state) { try await world.run() }
    return try world.device(name, as: place)
  }

  /// Ada's phone, and an account of hers.
  func primed() async throws -> (Device, String) {
    let device = try await phone()
    return (device, try scene.account(device))
  }

  /// Returns a phone's store an hour later, and reconciles; returns the summary.
  @discardableResult
  func night(_ phone: Device, as name: String = "ada.sqlite") async throws -> RunSummary {
    try world.org.moveClock(by: 3_600_000)
    try world.handBack(phone, as: name)
    return try await world.run(.ingest, .reconcile)
  }

  @discardableResult func night(
    _ phone: Device, as name: String, edited id: String, _ fields: JSONObject,
    in soup: String = "accounts"
  ) async throws -> RunSummary {
    try phone.edit(soup, id: id, fields, now: world.org.now())
    return try await night(phone, as: name)
  }

  @discardableResult func undo(_ run: String, _ edits: [Int64] = []) async throws -> RunSummary {
    try world.org.moveClock(by: 60_000)
    return try await carryOut(try undoing.plan(run: run, edits: edits))
  }

  /// Undoes a run, is interrupted during one of its requests, and is resumed by the next run or by
  /// the same command.
  ///
  /// Completed requests are not sent again.
  func undoDying(
    _ run: String, over requests: FaultMatch, edits: Int, isNightly: Bool
  ) async throws {
    let plan = try undoing.plan(run: run)
    let (data, aside) = (world.data.path, world.directory.file("aside"))
    // The org commits, but the program gets no answer.
    world.server.faults.add(requests, .mutate { _ in try? Tree.copy(data, to: aside) })
    let options = undoing.runOptions(plan, by: "grace", isDryRun: false)
    _ = try await world.run { $0 = options }
    try Tree.copy(aside, to: data)
    #expect(try scene.states() == [String](repeating: "undo pending", count: edits))
    let before = writes
    #expect(try undoing.plan(run: run).digest == plan.digest)
    if isNightly {
      #expect(try await world.run().verdicts == [.undone: edits])
    } else {
      #expect(try await undo(run).verdicts == [.undone: edits])
    }
    #expect(writes == before)
  }

  /// Undoes a run while ada cannot log in: the undo waits.
  func undoLater(_ run: String) async throws {
    try world.org.setActive("ada@example.com", false)
    #expect(try await undo(run).verdicts == [.notAttempted: 1])
    try world.org.setActive("ada@example.com", true)
  }

  func carryOut(_ plan: PipelineUndo.Plan, isDryRun: Bool = false) async throws -> RunSummary {
    try await PipelineRun.execute(
      world.pipeline, root: world.root, variables: world.variables,
      options: undoing.runOptions(plan, by: "grace", isDryRun: isDryRun),
      report: { [told = world.told] event in told.withLock { $0.append(event) } })
  }

  /// Another user changes a record, a minute later.
  func office(_ id: String, _ fields: JSONObject, _ object: String = "Account") throws {
    try world.org.moveClock(by: 60_000)
    try scene.office(id, fields, object)
  }

  func field(_ name: String, of id: String, _ object: String = "Account") throws -> JSONValue? {
    try scene.field(name, of: id, object)
  }

  func edit(_ number: Int64, in run: RunSummary) throws -> ReportEdit {
    try #require(try scene.edits(of: run.run).first { $0.number == number })
  }

  func rows(of file: String, in run: RunSummary) throws -> [String] {
    let text = String(
      decoding: try Files.read(world.data.report(run.run) + "/" + file), as: UTF8.self)
    return text.split(whereSeparator: \.isNewline).dropFirst().map(String.init)
  }

  var writes: Int { world.server.log.writes.count }

  func isThere(_ id: String, _ object: String = "Account") throws -> Bool {
    let found = try world.org.query(
      "SELECT Id FROM \(object) WHERE Id = '\(id)'", as: try world.user("admin"),
      includeDeleted: false)
    return found.totalSize == 1
  }

  /// The ID of the only record of an object with a value in a field.
  func id(of object: String, where field: String, is value: String) throws -> String {
    let found = try world.org.query(
      "SELECT Id FROM \(object) WHERE \(field) = '\(value)'", as: try world.user("admin"),
      includeDeleted: false)
    let records = try JSONValue(parsing: found.records).array ?? []
    #expect(records.count == 1)
    return try #require(records.first?["Id"]?.string)
  }
}
