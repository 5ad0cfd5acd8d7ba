import HTTP
import JSON
import LocalOrg
import Pipelines
import System
import TestSupport
import Testing

/// Every fault of the local org at every kind of request of a check, a decision that is applied, an
/// undo and bulk jobs.
///
/// The command succeeds, or ends with a message that names a fix, within few requests.
@Suite struct FaultTableTests {
  struct Fault: Sendable, CustomTestStringConvertible {
    let name: String
    let lasting: System.ExitStatus
    let action: Faults.Action
    var testDescription: String { name }
  }

  private static func page(_ status: Int, _ headers: HTTPHeaders = [:]) -> Faults.Action {
    var headers = headers
    headers["Content-Type"] = "text/html; charset=UTF-8"
    return .respond(
      ServerResponse(status: status, headers: headers, body: Array("<html>Soon</html>".utf8)))
  }

  static let faults = [
    Fault(name: "session", lasting: .authentication, action: .expireSession),
    Fault(name: "page 200", lasting: .tryLater, action: page(200)),
    Fault(name: "page 503", lasting: .tryLater, action: page(503)),
    Fault(
      name: "redirect", lasting: .tryLater,
      action: page(302, ["Location": "https://elsewhere.example.com/"])),
    Fault(
      name: "unavailable", lasting: .tryLater, action: .status(503, code: "SERVER_UNAVAILABLE")),
    Fault(name: "error 500", lasting: .tryLater, action: .status(500, code: "UNKNOWN_EXCEPTION")),
    Fault(
      name: "error 500 after", lasting: .tryLater,
      action: .status(500, code: "UNKNOWN_EXCEPTION", afterCommit: true)),
    Fault(name: "busy", lasting: .tryLater, action: .status(429, code: "TOO_MANY_REQUESTS")),
    Fault(name: "limit", lasting: .tryLater, action: .limitExceeded),
    Fault(name: "cut before", lasting: .tryLater, action: .drop(afterCommit: false)),
    Fault(name: "cut after", lasting: .tryLater, action: .drop(afterCommit: true)),
    Fault(name: "truncated", lasting: .tryLater, action: .truncate(bytes: 10)),
  ]

  /// The calls.
  enum Work: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case check, decide, undo, bulk

    var kinds: [RequestKind] {
      switch self {
      case .check: [.versions, .limits, .composite, .query, .priming]
      case .decide: [.retrieve, .composite]
      case .undo: [.describe, .retrieve, .query, .composite, .collectionDelete, .soapUndelete]
      case .bulk: [.bulkCreate, .bulkUpload, .bulkClose, .bulkRead, .bulkResults]
      }
    }

    var testDescription: String { rawValue }
  }

  /// A fault at one kind of request of a call.
  struct Strike: Sendable, CustomTestStringConvertible {
    let work: Work
    let fault: Fault
    let kind: RequestKind
    var testDescription: String { "\(fault.name) at \(kind) of \(work)" }
  }

  private static let pairs = mixedPairs(Work.allCases, faults)

  /// Every fault at every kind of request: first each pair with one kind of request, then with the
  /// next.
  private static let strikes = (0..<6).flatMap { round in
    pairs.enumerated().compactMap { index, pair in
      let (work, fault) = pair
      guard round < work.kinds.count else { return nil as Strike? }
      // The pairs of a call are four apart.
      let kind = work.kinds[(index / Work.allCases.count + round) % work.kinds.count]
      return Strike(work: work, fault: fault, kind: kind)
    }
  }

  @Test func `a small part of the table has each call and fault, a larger one each request`() {
    let parts = [12, 24, 48].map { Self.strikes.prefix($0) }
    for part in parts {
      #expect(Set(part.map(\.work)).count == Work.allCases.count)
      #expect(Set(part.map(\.fault.name)).count == Self.faults.count)
    }
    for work in Work.allCases {
      #expect(Set(parts[1].filter { $0.work == work }.map(\.kind)) == Set(work.kinds), "\(work)")
    }
    let all = Set(Self.strikes.map(\.testDescription))
    #expect(all.count == CampaignSize.faults.count(at: .soak) && Self.strikes.count == all.count)
  }

  @Test(arguments: strikes.prefix(CampaignSize.faults.count))
  func `a temporary fault does not change the result`(_ strike: Strike) async throws {
    let scene = try await FaultScene(strike.work)
    scene.faults.add(.kind(strike.kind), strike.fault.action)
    let before = scene.requests
    var ends: [String] = []
    for _ in 0..<4 where ends.last != "done" { ends.append(await scene.attempt()) }
    #expect(ends.last == "done", "\(ends)")
    // No login fails; the session that ends is renewed.
    #expect(!ends.contains("\(System.ExitStatus.authentication)"), "\(ends)")
    #expect(scene.faults.fired == 1, "it never struck")
    #expect(try scene.differences() == [], "\(ends)")
    #expect(scene.requests - before < 160, "\(ends)")
  }

  @Test(arguments: pairs.prefix(CampaignSize.faults.count))
  func `a permanent fault ends in a message after few requests and loses nothing`(
    _ work: Work, _ fault: Fault
  ) async throws {
    let scene = try await FaultScene(work)
    for match in [FaultMatch(pathPrefix: "/services/data/v"), .kind(.userinfo)] {
      scene.faults.add(match, times: 100_000, fault.action)
    }
    let before = scene.requests
    #expect(await scene.attempt() == "\(fault.lasting)", "\(work)")
    #expect(scene.requests - before < 40, "\(work)")
    scene.faults.removeAll()
    var ends: [String] = []
    for _ in 0..<3 where ends.last != "done" { ends.append(await scene.attempt()) }
    #expect(ends.last == "done", "\(work): \(ends)")
    #expect(try scene.differences() == [], "\(work)")
  }
}

private final class FaultScene {
  private let work: FaultTableTests.Work
  private let scene: UndoScene
  private var run = ""
  private var former: [String: JSONObject] = [:]
  private var ids: [String] = []
  private var isBegun = false
  private var world: World { scene.world }
  var faults: Faults { world.server.faults }
  var requests: Int { world.server.log.entries.count }
  init(_ work: FaultTableTests.Work) async throws {
    self.work = work
    let bulk = #""unansweredWaitSeconds": 0, "bulkAbove": 1, "maxChanges": { "deletes": "100%" }"#
    scene = try UndoScene({
      work == .bulk ? $0.replacing(#""unansweredWaitSeconds": 0"#, with: bulk) : $0
    })
    let now = world.org.now()
    switch work {
    case .check: break
    case .decide: ids = [try await scene.scene.conflict()]
    case .undo:
      let phone = try await scene.phone()
      ids = [try scene.scene.account(phone), try world.ids("contacts", on: phone)[0]]
      former = try records()
      try phone.edit("accounts", id: ids[0], ["Phone": "device"], now: now)
      try phone.delete("contacts", id: ids[1], now: now)
      try phone.create("accounts", type: "Account", ["Name": "Quay"], localID: "local_1", now: now)
      let sent = try await scene.night(phone)
      #expect(sent.verdicts == [.updated: 1, .deleted: 1, .created: 1])
      run = sent.run
      try world.org.moveClock(by: 60_000)
    case .bulk:
      let phone = try await scene.phone()
      ids = [try scene.scene.account(phone), try scene.scene.account(phone, 1)]
      for id in ids { try phone.edit("accounts", id: id, ["Phone": "device"], now: now) }
      for number in 0..<3 {
        try phone.create(
          "contacts", type: "Contact",
          ["LastName": .string("Hand \(number)"), "AccountId": .string(ids[0])],
          localID: "local_\(number)", now: now)
      }
      try world.org.moveClock(by: 3_600_000)
      try world.handBack(phone, as: "ada.sqlite")
    }
  }

  /// Makes one call, and returns its result.
  func attempt() async -> String {
    do {
      let status = try await call()
      return status == .done ? "done" : "\(status)"
    } catch {
      let told = PipelineError(describing: error)
      guard told.fix != nil || told.reason != nil else { return "no sentence: \(told)" }
      return "\(told.kind.exitStatus)"
    }
  }

  private func call() async throws -> System.ExitStatus {
    switch work {
    case .check:
      let check = try await OrgCheck.run(
        world.pipeline, root: world.root, variables: world.variables, pause: .none)
      return check.failures.isEmpty && check.findings.isEmpty && check.identities.count > 1
        ? .done : .authentication
    case .decide:
      if !isBegun {
        isBegun = true
        try scene.scene.decide(1, .device)
        return try await execute(scene.scene.decisions.runOptions(carryingOut: [1], by: "grace"))
      }
      return try await night()
    case .undo:
      let plan = try scene.undoing.plan(run: run)
      if plan.edits.isEmpty { return try await night() }
      return try await execute(scene.undoing.runOptions(plan, by: "grace", isDryRun: false))
    case .bulk: return try await night()
    }
  }

  private func night() async throws -> System.ExitStatus {
    var options = RunOptions()
    options.stages = [.ingest, .reconcile]
    return try await execute(options)
  }

  private func execute(_ given: RunOptions) async throws -> System.ExitStatus {
    var options = given
    options.retryPause = .none
    let summary = try await PipelineRun.execute(
      world.pipeline, root: world.root, variables: world.variables, options: options,
      report: { _ in })
    return summary.exitStatus
  }

  /// The differences between the org and the expected result, one per line.
  func differences() throws -> [String] {
    switch work {
    case .check: return []
    case .decide:
      let phone = try scene.field("Phone", of: ids[0])
      return phone == "device" ? [] : ["\(phone?.text ?? "")"]
    case .undo:
      let now = try records()
      return Set(now.keys).union(former.keys).sorted().filter { now[$0] != former[$0] }
    case .bulk:
      let phones = try ids.map { try scene.field("Phone", of: $0)?.string ?? "" }
      let made = try scene.scene.count("SELECT Id FROM Contact WHERE LastName LIKE 'Hand %'")
      return phones == ["device", "device"] && made == 3 ? [] : ["\(phones), \(made) contacts"]
    }
  }

  /// The accounts and contacts, without their dates.
  private func records() throws -> [String: JSONObject] {
    var records: [String: JSONObject] = [:]
    for (object, field) in [("Account", "Phone"), ("Contact", "LastName")] {
      let found = try world.org.query(
        "SELECT Id, \(field) FROM \(object) LIMIT 2000", as: try world.user("admin"),
        includeDeleted: false)
      for record in try JSONValue(parsing: found.records).array ?? [] {
        records[record["Id"]?.string ?? ""] = record.object
      }
    }
    return records
  }
}
