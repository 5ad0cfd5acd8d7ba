import Bundles
import JSON
import Ledger
import Pipelines
import Rehearsal
import Reports
import Testing

struct DecisionScene {
  let world: World
  init(_ change: (String) -> String = { $0 }) throws { world = try World(change: change) }

  init(_ world: World) { self.world = world }

  var decisions: PipelineDecisions { PipelineDecisions(world.pipeline, root: world.root) }

  /// Decides that the open edits with some verdicts are retried, as `decide --retry` does.
  func retry(_ verdicts: Set<Verdict>) throws {
    _ = try decisions.enter(
      [], PipelineDecisions.Selection(verdicts, .whole(.retry)), by: "an operator")
  }

  func phone() async throws -> Device {
    try await world.run()
    return try world.device("ada")
  }

  /// Ada's phone after the first run, and an account of hers.
  func primed() async throws -> (Device, String) {
    let device = try await phone()
    return (device, try account(device))
  }

  /// Returns ada's store; the next run leaves its edits with `verdicts`.
  func handBack(
    _ device: Device, as name: String = "ada", leaves verdicts: [Verdict: Int],
    location: SourceLocation = #_sourceLocation
  ) async throws {
    try world.handBack(device, as: name + ".sqlite")
    #expect(try await night().verdicts == verdicts, sourceLocation: location)
  }

  /// Ada's edit of an account's phone, before its return; the account.
  func edited(_ device: Device) throws -> String {
    let id = try account(device)
    try device.edit("accounts", id: id, ["Phone": "device"], now: world.org.now())
    return id
  }

  func delete(_ id: String) throws {
    let outcome = world.org.delete("Account", id: id, as: try world.user("admin"))
    if let error = outcome.errors.first { throw error }
  }

  func count(_ soql: String) throws -> Int {
    try world.org.query(soql, as: try world.user("admin")).totalSize
  }

  func account(_ device: Device, _ place: Int = 0) throws -> String {
    let ada = try world.user("ada").id
    return try world.ids("accounts", on: device).filter {
      try world.record("Account", $0)["OwnerId"]?.string == ada
    }[place]
  }

  func office(_ id: String, _ fields: JSONObject, _ object: String = "Account") throws {
    try world.change(id, fields, of: object)
  }

  func field(_ name: String, of id: String, _ object: String = "Account") throws -> JSONValue? {
    try world.record(object, id)[name]
  }

  /// Ada's edit of an account's phone that another user changes too; the account.
  func conflict(_ fields: JSONObject = ["Phone": "device"]) async throws -> String {
    try await world.run()
    let device = try world.device("ada")
    let id = try account(device)
    try device.edit("accounts", id: id, fields, now: world.org.now())
    try office(id, ["Phone": "office"])
    try world.handBack(device, as: "ada.sqlite")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.conflict: 1])
    return id
  }

  /// Ada and ben edit an account that both have, and neither edit is sent; the account.
  func deviceConflict(ada fields: JSONObject, ben others: JSONObject) async throws -> String {
    try await world.run()
    let (ada, ben) = (try world.device("ada"), try world.device("ben", .android))
    let shared = Set(try world.ids("accounts", on: ada))
      .intersection(try world.ids("accounts", on: ben))
    let id = try #require(shared.first)
    // The devices have nothing that happens on the day of the prime.
    try world.org.moveClock(by: 3_600_000)
    try ada.edit("accounts", id: id, fields, now: world.org.now())
    try ben.edit("accounts", id: id, others, now: world.org.now())
    try world.handBack(ada, as: "ada.sqlite")
    try world.handBack(ben, as: "ben.sqlite")
    let (verdicts, edits) = try await night()
    #expect(verdicts == [.deviceConflict: 2])
    // The org's values are shown with the devices'.
    #expect(edits.allSatisfy { $0.detail.fields.allSatisfy { $0.server != nil } })
    return id
  }

  @discardableResult func decide(
    _ edit: Int64, _ decision: Decision, shown: [String: DecisionRequest.ShownValue] = [:]
  ) throws -> PipelineDecisions.Result {
    try decisions.enter([DecisionRequest(edit: edit, .whole(decision), shown: shown)], by: "grace")
  }

  func set(_ edit: Int64, _ fields: [String: String], rest: Decision.Side? = nil) throws {
    let choices = fields.mapValues { DecisionRequest.FieldChoice.text($0) }
    _ = try decisions.enter(
      [DecisionRequest(edit: edit, .fields(choices, rest: rest))], by: "grace")
  }

  func night() async throws -> (verdicts: [Verdict: Int], edits: [ReportEdit]) {
    let run = try await world.runAsWritten([.ingest, .reconcile])
    return (run.verdicts, try edits(of: run.run))
  }

  func edits(of run: String) throws -> [ReportEdit] {
    try withLedger { try ReportModel(state: $0, run: run, called: "field").edits.all() }
  }

  func withLedger<T>(_ body: (LedgerDatabase) throws -> T) throws -> T {
    let ledger = try LedgerDatabase(path: world.data.state)
    defer { ledger.close() }
    return try body(ledger)
  }

  func open() throws -> [Verdict: Int] { try withLedger { try $0.unsettledEdits() } }

  func states(of edit: Int64? = nil) throws -> [String] {
    try withLedger {
      try $0.connection.texts(
        """
        SELECT kind || ' ' || state FROM decision WHERE edit_id = coalesce(\(edit), edit_id)
        ORDER BY id
        """)
    }
  }

  /// Checks that nothing is open, that the bundle includes the return, and that its generation is
  /// clean.
  func expectClosed(
    _ name: String = "ada", handback: Int64 = 1, location: SourceLocation = #_sourceLocation
  ) async throws { try await expectClosed([name: handback], location: location) }

  /// The same for the last returns of several users.
  func expectClosed(
    _ handbacks: [String: Int64], location: SourceLocation = #_sourceLocation
  ) async throws {
    let all = Set(Stage.allCases)
    _ = try await world.runAsWritten(all)
    let open = try open()
    #expect(open.isEmpty, sourceLocation: location)
    for (name, handback) in handbacks {
      let bundle = try BundleReader.inspect(world.bundle(name))
      let included: [Int64] = bundle.includes.compactMap(\.handback).map { Int64($0) }
      #expect(included == [handback], sourceLocation: location)
      let fresh = try world.device(name, as: "\(name)-fresh")
      for soup in ["accounts", "contacts", "workorders"] {
        let dirty = try fresh.elements(soup).filter { $0["__local__"]?.bool == true }
        #expect(dirty.isEmpty, sourceLocation: location)
      }
    }
    let again = try await world.runAsWritten(all)
    let isQuiet = again.verdicts.isEmpty && again.open.isEmpty
    #expect(isQuiet, sourceLocation: location)
  }
}
