import HTTP
import JSON
import Rehearsal
import Reports
import Review
import System
import Testing

@Suite struct ReviewTests {
  let scene: DecisionScene
  init() throws { scene = try DecisionScene() }

  private func visit(_ scene: DecisionScene) async throws -> ReviewVisit {
    let server = try ReviewServer(
      scene.world.pipeline, root: scene.world.root, variables: scene.world.variables, by: "grace")
    servers.withLock { $0.append(server) }
    return try await ReviewVisit(server.address)
  }

  private func list(_ scene: DecisionScene) async throws -> ReviewVisit {
    let page = try await visit(scene)
    _ = try await page.get("edits")
    return page
  }

  private func send(_ page: ReviewVisit, _ decisions: JSONValue) async throws -> JSONValue {
    _ = try await page.post("decide", ["decisions": decisions])
    let edits = (decisions.array ?? []).compactMap { $0["edit"] }
    return try await page.work("send", ["edits": .array(edits)])
  }

  private func revision(_ page: ReviewVisit, _ edit: Int = 1) async throws -> JSONValue {
    try #require(try await page.get("details?of=\(edit)")["edits"]?[0]?["revision"])
  }
  private let servers = Locked<[ReviewServer]>([])

  // MARK: access

  @Test func `the printed address opens the page once; nothing works without it`() async throws {
    _ = try await scene.conflict()
    let page = try await visit(scene)
    let shown = try await page.ask("GET", page.path)
    #expect(shown.status == 200)
    #expect(shown.headers["Content-Security-Policy"]?.contains("default-src 'none'") == true)
    #expect(!String(decoding: shown.body, as: UTF8.self).contains("office"))
    let token = try #require(servers.withLock { $0.first }).address.dropFirst(page.origin.count)
    for place in [
      String(token), "/", "/edits", "/?token=", page.path.dropLast() + "0/edits", "//edits",
    ] { #expect(try await page.ask("GET", String(place)).status == 403, "\(place)") }
    for place in [page.path, page.path + "edits", page.path + "nothing", "/"] {
      let headers = try await page.ask("GET", place).headers
      #expect(headers["Cache-Control"] == "no-store", "\(place)")
      #expect(headers["X-Content-Type-Options"] == "nosniff", "\(place)")
      #expect(headers["Referrer-Policy"] == "no-referrer", "\(place)")
    }
  }

  @Test func `another site, another host name, and a foreign form get 403`() async throws {
    _ = try await scene.conflict()
    let page = try await visit(scene)
    let body: JSONValue = ["decisions": [["edit": 1, "decision": "device"]]]
    let edits = page.path + "edits"
    let decide = page.path + "decide"
    for headers: HTTPHeaders in [
      ["Origin": "https://example.com"], ["Origin": "null"], ["Host": "example.com"],
      ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
    ] {
      #expect(try await page.ask("GET", edits, headers).status == 403, "\(headers.all)")
      #expect(
        try await page.ask("POST", decide, headers, body: body).status == 403, "\(headers.all)")
    }
    // A request that changes something must name its origin.
    #expect(try await page.ask("POST", decide, body: body).status == 403)
    #expect(try scene.states() == [])
  }

  // MARK: contents

  @Test func `an open edit is shown with the org's current values`() async throws {
    let id = try await scene.conflict()
    let page = try await visit(scene)
    let list = try await page.get("edits")
    #expect(list["by"] == "grace" && list["edits"]?.array?.count == 1)
    #expect(list["edits"]?[0]?["possible"] == ["device", "server", "set", "retry"])
    #expect(try await page.get("details?of=1")["edits"]?[0]?["fields"]?[0]?["server"] == "office")
    try scene.office(id, ["Phone": "office again"])
    #expect(try await page.work("look", ["edits": [1]])["looked"] == [1])
    let details = try await page.get("details?of=1,2")["edits"]?.array ?? []
    #expect(details.count == 1)
    #expect(details.first?["looked"] == true)
    #expect(
      details.first?["fields"]?[0] == [
        "name": "Phone", "base": "+1 555 0100", "device": "device", "server": "office again",
        "conflicting": true, "edited": true,
      ])
    // The ledger is unchanged: a look-up leaves no trace.
    #expect(try scene.states() == [])
    #expect(try scene.decisions.open()[0].edit.detail.fields[0].server == "office")
  }

  @Test func `a record deleted meanwhile is reported, and can only be retried`() async throws {
    let id = try await scene.conflict()
    let page = try await list(scene)
    _ = scene.world.org.delete("Account", id: id, as: try scene.world.user("admin"))
    _ = try await page.work("look", ["edits": [1]])
    let detail = try await page.get("details?of=1")["edits"]?[0]
    #expect(detail?["now"]?["verdict"] == "deleted on server")
    let plan = try await page.work("plan", ["decisions": [["edit": 1, "decision": "device"]]])
    #expect(plan["planned"]?[0]?["verdict"] == "deleted on server")
    #expect(plan["planned"]?[0]?["action"] == .null)
    let sent = try await send(page, [["edit": 1, "decision": "retry"]])
    #expect(sent["results"]?[0]?["verdict"] == "deleted on server")
  }

  @Test func `masked values are in no answer`() async throws {
    let scene = try DecisionScene { $0.replacing("\"mask\": [", with: "\"mask\": [\"Phone\", ") }
    _ = try await scene.conflict(["Phone": "secret-device"])
    let page = try await visit(scene)
    _ = try await page.work("look", ["edits": [1]])
    let texts = [
      try await page.get("edits").text, try await page.get("details?of=1").text,
      try await page.work("plan", ["decisions": [["edit": 1, "decision": "device"]]]).text,
    ]
    #expect(texts[1].contains("\"masked\":true"))
    for text in texts {
      #expect(!text.contains("secret-device") && !text.contains("office"), "\(text)")
    }
    let fields: JSONValue = ["Phone": ["take": "device"]]
    let sent = try await send(
      page, [["edit": 1, "decision": "set", "fields": fields, "rest": "server"]])
    #expect(sent["results"]?[0]?["verdict"] == "updated")
  }

  // MARK: decisions

  @Test func `a plan sends nothing, and sending it closes the edit`() async throws {
    let id = try await scene.conflict(["Phone": "device", "Description": "seen"])
    let page = try await list(scene)
    let body: JSONValue = [
      "decisions": [
        [
          "edit": 1, "decision": "set", "rest": "server",
          "fields": ["Phone": ["text": "both"], "Description": ["take": "device"]],
        ]
      ]
    ]
    let plan = try await page.work("plan", body)
    #expect(plan["type"] == "done" && plan["refused"] == [])
    #expect(plan["planned"]?[0]?["action"] == "update")
    #expect(try scene.field("Phone", of: id) == "office")
    #expect(try scene.states() == [])
    let sent = try await send(page, try #require(body["decisions"]))
    #expect(sent["results"]?[0]?["verdict"] == "updated")
    #expect(try scene.field("Phone", of: id) == "both")
    #expect(try scene.field("Description", of: id) == "seen")
    #expect(try scene.states() == ["set done"])
    #expect(try await page.get("edits")["edits"] == [])
    try await scene.expectClosed()
  }

  @Test func `a send job reports its run at once and each edit at its end`() async throws {
    _ = try await scene.conflict()
    let page = try await list(scene)
    _ = try await page.post("decide", ["decisions": [["edit": 1, "decision": "device"]]])
    let events = try await page.events(of: "send", ["edits": [1]])
    let types = events.compactMap { $0["type"]?.string }
    let told = ["runStarted", "stageStarted", "editsSettled", "reportWritten", "stageFinished"]
    #expect(types.filter(told.contains) == told && types.last == "done", "\(types)")
    let settled = try #require(events.first { $0["type"] == "editsSettled" })
    #expect(settled["done"] == 1 && settled["of"] == 1)
    #expect(events.last?["results"]?[0]?["verdict"] == "updated")
  }

  @Test func `a decision holds for the values shown, not for newer ones`() async throws {
    let id = try await scene.conflict()
    let page = try await list(scene)
    try scene.office(id, ["Phone": "second"])
    _ = try await page.work("look", ["edits": [1]])
    // "second" was shown: another user changes it again.
    let second = try await revision(page)
    try scene.office(id, ["Phone": "third"])
    let moved = try await send(page, [["edit": 1, "revision": second, "decision": "device"]])
    #expect(moved["results"]?[0]?["verdict"] == "conflict")
    #expect(moved["results"]?[0]?["message"]?.string?.contains("values have changed since") == true)
    #expect(try scene.field("Phone", of: id) == "third")
    // Now the page shows "third", and the decision applies to that.
    _ = try await page.get("edits")
    _ = try await page.work("look", ["edits": [1]])
    let third = try await revision(page)
    let sent = try await send(page, [["edit": 1, "revision": third, "decision": "device"]])
    #expect(sent["results"]?[0]?["verdict"] == "updated")
    #expect(try scene.field("Phone", of: id) == "device")
  }

  @Test func `values looked up after the last report can be decided`() async throws {
    let id = try await scene.conflict()
    let page = try await list(scene)
    try scene.office(id, ["Phone": "second"])
    _ = try await page.work("look", ["edits": [1]])
    let shown = try await revision(page)
    let answer = try await page.post(
      "decide", ["decisions": [["edit": 1, "revision": shown, "decision": "device"]]], status: 200)
    #expect(answer["decided"] == 1)
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "device")
  }

  @Test func `values shown only to another session do not count as shown`() async throws {
    let id = try await scene.conflict()
    let page = try await list(scene)
    let first = try await revision(page)
    try scene.office(id, ["Phone": "second"])
    // A look-up that the page requested, but whose values it has not shown.
    _ = try await page.work("look", ["edits": [1]])
    let sent = try await send(page, [["edit": 1, "revision": first, "decision": "device"]])
    #expect(sent["results"]?[0]?["verdict"] == "conflict")
    #expect(try scene.field("Phone", of: id) == "second")
    let never = try await page.post(
      "decide", ["decisions": [["edit": 1, "revision": 9, "decision": "device"]]], status: 400)
    #expect(never["message"] == "edit 1 was never shown like this; reload the page")
  }

  @Test func `a colleague's decision is replaced with their name in the plan`() async throws {
    _ = try await scene.conflict()
    _ = try scene.decisions.enter([DecisionRequest(edit: 1, .whole(.server))], by: "hedy")
    let page = try await visit(scene)
    #expect(try await page.get("edits")["edits"]?[0]?["decidedBy"] == "hedy")
    let plan = try await page.work("plan", ["decisions": [["edit": 1, "decision": "device"]]])
    #expect(plan["replaced"] == [["edit": 1, "by": "hedy"]])
  }

  @Test func `an edit processed since it was shown is not decided`() async throws {
    let id = try await scene.conflict()
    let page = try await list(scene)
    _ = scene.world.org.delete("Account", id: id, as: try scene.world.user("admin"))
    try scene.decide(1, .retry)
    #expect(try await scene.night().verdicts == [.deletedOnServer: 1])
    let refused = try await page.post(
      "decide", ["decisions": [["edit": 1, "revision": 1, "decision": "device"]]], status: 409)
    #expect(refused["reason"]?.string?.contains("a run has processed it since") == true)
  }

  @Test func `an impossible decision is left out with its reason, or refused`() async throws {
    _ = try await scene.conflict()
    let page = try await visit(scene)
    let body: JSONValue = [
      "decisions": [["edit": 1, "decision": "server"], ["edit": 9, "decision": "discard"]]
    ]
    let plan = try await page.work("plan", body)
    #expect(plan["planned"]?.array?.count == 1)
    #expect(plan["refused"]?[0]?["reason"] == "no edit has this number")
    _ = try await page.post("decide", body, status: 409)
    #expect(try scene.states() == [])
    for wrong: JSONValue in [
      [:], ["decisions": [["edit": 1]]], ["decisions": [["edit": 1, "decision": "office"]]],
      ["decisions": [["edit": 1, "decision": "set"]]],
      ["decisions": [["edit": 1, "decision": "record", "record": "x"]]],
    ] {
      let answer = try await page.post("plan", wrong, status: 400)
      let words = answer["message"]?.string ?? ""
      #expect(words == "this is not a valid decision" || words.contains("not a record ID"))
    }
  }

  @Test func `during a run nothing is decided, and the page says so`() async throws {
    _ = try await scene.conflict()
    let page = try await list(scene)
    let lock = try FileLock(scene.world.data.lock)
    defer { lock.close() }
    let refused = try await page.post(
      "decide", ["decisions": [["edit": 1, "decision": "device"]]], status: 409)
    #expect(refused["message"] == "another run of this pipeline is active")
    #expect(refused["fix"]?.string?.contains("wait until it finishes") == true)
    #expect(try scene.states() == [])
  }

  @Test func `if the org is unreachable, the plan fails and nothing is decided`() async throws {
    _ = try await scene.conflict()
    let page = try await list(scene)
    scene.world.goAway()
    let failed = try await page.work("plan", ["decisions": [["edit": 1, "decision": "device"]]])
    #expect(failed["type"] == "failed")
    #expect(failed["message"]?.string?.isEmpty == false)
    #expect(try scene.states() == [])
  }

  @Test func `the server stops when idle, and not while it is used`() async throws {
    _ = try await scene.conflict()
    let page = try await visit(scene)
    let server = try #require(servers.withLock { $0.first })
    try await server.waitUntilIdle(seconds: 1)
    await server.stop()
    await #expect(throws: HTTPError.self) { try await page.ask("GET", page.path) }
  }
}
