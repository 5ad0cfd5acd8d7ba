import Crypto
import Foundation
import HTTP
import JSON
import System
import TestSupport
import Testing

/// The table of `docs/how-to/troubleshoot.md`, row by row.
@Suite struct WrongRunsTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let night: String
    let exit: String
    let told: String
    let log: String
    let hasReport: Bool
    var testDescription: String { night }

    static let all: [Row] = {
      let page = PipelineSchemaTests.root.appendingPathComponent("docs/how-to/troubleshoot.md")
      let text = (try? String(contentsOf: page, encoding: .utf8)) ?? ""
      // The first table is that of the situations.
      let nights = text.split(separator: "\n## ")[0]
      return nights.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().compactMap {
        line in
        let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
          $0.trimmingCharacters(in: .whitespaces)
        }
        guard cells.count > 5 else { return nil }
        return Row(
          night: cells[1], exit: cells[2], told: cells[3],
          log: cells[4].replacing("`", with: ""), hasReport: cells[5] == "yes")
      }
    }()
  }

  /// A situation as it is played: the run that is checked, after what happened before.
  private struct Scene {
    let world: World
    var words: [String] = []
    var variables: [String: String] = [:]
    var shell = #"exec "$@""#
    /// The exit status in the notification and the log, if the program's differs.
    var told: String?
    /// Objects that must live as long as the run.
    var held: [Any] = []
  }

  private let directory = TemporaryDirectory("nights")
  private var log: String { directory.file("attache.log") }
  private var message: String { directory.file("message.json") }

  private func world(_ change: (String) -> String = { $0 }) throws -> World {
    try World {
      change($0).replacing(
        #""report": { "mask": ["Email"] }"#,
        with: """
          "notify": {"on": ["success", "attention", "failure"],
            "command": ["/bin/sh", "-c", "cat > \(message)"]}
          """)
    }
  }

  private func edit(_ world: World, _ count: Int, conflicting: Bool = false) throws {
    let device = try world.device("ada")
    for id in try world.ids("accounts", on: device).prefix(count) {
      try device.edit("accounts", id: id, ["Phone": "device"], now: world.org.now() + 1)
      if conflicting {
        _ = world.org.update("Account", id: id, ["Phone": "office"], as: try world.user("admin"))
      }
    }
    try world.handBack(device, as: "ada.sqlite")
  }

  /// What the org waits for before it answers.
  private let gate = DispatchSemaphore(value: 0)

  /// Makes a signal end the run at its first query; returns how the shell starts it.
  private func strike(_ world: World, _ signal: Int32) -> String {
    let place = directory.file("pid")
    world.server.faults.add(
      .kind(.query),
      .mutate { _ in
        let text = String(decoding: try Files.read(place, limit: 20), as: UTF8.self)
        if let process = Int32(text.filter(\.isNumber)) { kill(process, signal) }
      })
    return "echo $$ > '\(place)'; exec \"$@\""
  }

  private func scene(_ night: String) async throws -> Scene {
    switch night {
    case "the org refuses one user":
      return Scene(
        world: try world { text in
          text.replacing(
            #/"users": \{[^}]*\}[^}]*\}/#,
            with: #""users": {"list": ["ada@example.com", "nobody@example.com"]}"#)
        })
    case "a guard holds changes":
      let world = try world {
        $0.replacing(
          #""unansweredWaitSeconds": 0"#,
          with: #""unansweredWaitSeconds": 0, "maxChanges": {"perSnapshot": 1}"#)
      }
      try await world.run()
      try edit(world, 2)
      return Scene(world: world)
    case "the disk is full":
      return Scene(
        world: try world {
          $0.replacing(#""inbox":"#, with: #""limits": {"freeDiskMiB": 1000000000}, "inbox":"#)
        })
    case "the requests are used up":
      // One user after the other: otherwise it would be undefined which of two meets the limit
      // first.
      let world = try world {
        $0.replacing(#""inbox":"#, with: #""limits": {"jobs": 1}, "inbox":"#)
      }
      try await world.run()
      return Scene(world: world, words: ["--api-budget", "2"])
    case "the org's certificate has expired": return try expired()
    case "what is old cannot be removed": return try await stuck()
    case "the previous run was killed":
      let world = try world()
      try await world.die { if case .snapshotPrimed = $0 { true } else { false } }
      return Scene(world: world)
    default: return try await plainScene(night)
    }
  }

  /// Situations that start with a successful run of a plain pipeline.
  private func plainScene(_ night: String) async throws -> Scene {
    let world = try world()
    try await world.run()
    var scene = Scene(world: world)
    switch night {
    case "nothing is wrong": break
    case "the org cannot be reached": world.goAway()
    case "the org answers with an HTML page":
      let page = ServerResponse(
        status: 200, headers: ["Content-Type": "text/html"], body: Array("<html>".utf8))
      world.server.faults.add(.any, times: .max, .respond(page))
    case "the org refuses every login": scene.variables["ATTACHE_CLIENT_ID"] = "another"
    case "a return is damaged":
      let place = world.data.inbox("inbox") + "/broken.sqlite"
      try DurableFile.write(Array("SQLite format 3\0 and no more".utf8), to: place)
    case "an edit conflicts": try edit(world, 1, conflicting: true)
    case "another run is active": scene.held.append(try FileLock(world.data.lock, exclusive: true))
    case "the ledger is lost":
      for suffix in ["", "-wal", "-shm"] where Files.exists(world.data.state + suffix) {
        try Files.remove(world.data.state + suffix)
      }
    case "the org is another one":
      let text = String(decoding: try Files.read(world.pipeline.file), as: UTF8.self)
        .replacing(#""org": {"#, with: #""org": { "id": "00D000000000009EAA","#)
      try DurableFile.write(Array(text.utf8), to: world.pipeline.file)
    case "the org's clock goes back an hour": try world.org.moveClock(by: -3_600_000)
    case "the run is killed: by hand, or by the kernel as memory runs out":
      scene.shell = strike(world, SIGKILL)
    case "the run is stopped: the unit, the machine, `^C`": scene.shell = strike(world, SIGTERM)
    case "the org accepts a request and never answers":
      world.server.faults.add(.kind(.query), .pause(afterBytes: 1) { [gate] in gate.wait() })
      scene.words = ["--deadline", "1"]
    case "the output cannot be written: the disk of cron's `>>` is full":
      (scene.words, scene.shell, scene.told) = (["--json"], #"exec "$@" >/dev/full 2>&1"#, "0")
    case "the pipeline file is wrong":
      try DurableFile.write(Array("{".utf8), to: world.pipeline.file)
    default: Issue.record("no scene for the situation \(night)")
    }
    return scene
  }

  /// A pipeline that keeps one generation, with another file at the path of the prune note.
  private func stuck() async throws -> Scene {
    let world = try world {
      $0.replacing(#""inbox":"#, with: #""keep": {"generations": 1}, "inbox":"#)
    }
    try await world.run()
    let account = try #require(try world.ids("accounts", on: world.device("ada")).first)
    _ = world.org.update("Account", id: account, ["Phone": "1"], as: try world.user("admin"))
    try await world.run()
    let old = world.data.generation(1, of: try world.user("ada").id)
    try Files.remove(old + "/pruned.json")
    try Files.makeDirectory(old + "/pruned.json")
    return Scene(world: world)
  }

  /// An org whose certificate was signed by a trusted authority, but has expired.
  private func expired() throws -> Scene {
    let authorityKey = try PrivateKey.generateRSA()
    let authority = try authorityKey.selfSignedCertificate(
      commonName: "Test authority", days: 1, isAuthority: true)
    let key = try PrivateKey.generateRSA()
    let certificate = try authorityKey.signCertificate(
      for: key, issuer: Certificate(pem: authority),
      PrivateKey.CertificateRequest(
        commonName: "server", days: -1, dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"]))
    let caFile = directory.file("ca.pem")
    try DurableFile.write(authority, to: caFile)
    var configuration = HTTPServer.Configuration()
    configuration.identity = (
      String(decoding: certificate, as: UTF8.self), String(decoding: key.pem, as: UTF8.self)
    )
    let server = try HTTPServer(configuration) { _ in ServerResponse(status: 200) }
    let world = try world {
      $0.replacing(#""url": {"#, with: "\"caFile\": \"\(caFile)\", \"url\": {")
    }
    return Scene(world: world, variables: ["ATTACHE_ORG_URL": server.url], held: [server])
  }

  @Test(arguments: Row.all)
  func `alarm, exit status, log and report are those of the table`(_ row: Row) async throws {
    let scene = try await scene(row.night)
    let before = try reports(scene.world)
    let run = try await scene.world.program(
      ["run"], ["--log-file", log] + scene.words, shell: scene.shell, variables: scene.variables)
    gate.signal()
    withExtendedLifetime(scene.held) {}
    #expect(String(run.status) == row.exit, "\(run.everything)")
    let told = Files.exists(message) ? try JSONValue(parsing: Files.read(message)) : .null
    #expect((told["outcome"]?.string ?? "no one") == row.told)
    let exit = scene.told ?? row.exit
    #expect((told["status"]?.int).map { String($0) } ?? exit == exit)
    let lines = Files.exists(log) ? String(decoding: try Files.read(log), as: UTF8.self) : ""
    #expect(row.log.isEmpty ? lines.isEmpty : lines.contains(row.log), "\(lines)")
    // If it is killed, no one writes its end.
    let hasEnd = !row.log.isEmpty && row.exit != "137"
    #expect(lines.contains("; exit status \(exit)\n") == hasEnd, "\(lines)")
    let hasNew = try reports(scene.world).count > before.count
    #expect(hasNew == row.hasReport, "\(lines)")
    // The reader of the notification finds the report by it.
    #expect((told["report"] != nil) == row.hasReport)
  }

  @Test func `the table has every exit status of a run`() {
    #expect(Set(Row.all.map(\.exit)) == ["0", "1", "3", "4", "5", "6", "7", "137", "143"])
  }

  private func reports(_ world: World) throws -> [String] {
    let place = world.data.path + "/reports"
    return Files.isDirectory(place) ? try Files.list(place).filter { !$0.hasPrefix(".") } : []
  }
}
