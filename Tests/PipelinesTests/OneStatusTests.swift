import HTTP
import LocalOrg
import Testing

@Suite struct OneStatusTests {
  struct Answer: Sendable, CustomTestStringConvertible {
    let name: String
    let status: Int32
    let action: Faults.Action
    var testDescription: String { name }
  }

  private static func page(_ status: Int, _ headers: HTTPHeaders = [:]) -> Faults.Action {
    var headers = headers
    headers["Content-Type"] = "text/html"
    // Do not wait before retries.
    headers["Retry-After"] = "0"
    return .respond(
      ServerResponse(status: status, headers: headers, body: Array("<html>Soon</html>".utf8)))
  }

  static let answers = [
    Answer(name: "a page for people", status: 6, action: page(200)),
    Answer(name: "a page that says 503", status: 6, action: page(503)),
    Answer(
      name: "a redirect", status: 6,
      action: page(302, ["Location": "https://elsewhere.example.com/"])),
    Answer(name: "no more requests", status: 6, action: .limitExceeded),
    Answer(name: "a session that has ended", status: 5, action: .expireSession),
  ]

  @Test(arguments: answers)
  func `every command that contacts the org exits with one status`(_ answer: Answer) async throws {
    let scene = try UndoScene()
    let world = scene.world
    let phone = try await scene.phone()
    let ids = [try scene.scene.account(phone), try scene.scene.account(phone, 1)]
    let before = world.org.now()
    for id in ids { try phone.edit("accounts", id: id, ["Phone": "device"], now: before) }
    try scene.scene.office(ids[1], ["Phone": "office"])
    let night = try await scene.night(phone)
    #expect(night.verdicts == [.updated: 1, .conflict: 1])
    let conflict = try #require(
      try scene.scene.edits(of: night.run).first { $0.verdict == .conflict })
    let commands = [
      ["run"], ["prime"], ["decide", "\(conflict.number)", "--take", "device", "--now"],
      // The decision waits for it.
      ["reconcile"],
      ["reconcile undo", night.run, "--confirm", try scene.undoing.plan(run: night.run).digest],
    ]
    for match in [FaultMatch(pathPrefix: "/services/data/v"), .kind(.userinfo)] {
      world.server.faults.add(match, times: 100_000, answer.action)
    }
    for command in commands {
      let words = command[0].split(separator: " ").map(String.init)
      let run = try await world.program(words, Array(command.dropFirst()))
      #expect(run.status == answer.status, "\(command): \(run.everything)")
    }
    world.server.faults.removeAll()
    #expect(try await world.program(["reconcile"]).status == 0)
    #expect(try world.record("Account", ids[0])["Phone"] != "device")
    #expect(try world.record("Account", ids[1])["Phone"] == "device")
  }
}
