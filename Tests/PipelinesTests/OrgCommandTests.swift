import Foundation
import JSON
import LocalOrg
import System
import TestSupport
import Testing

@Suite struct OrgCommandTests {
  let directory = TemporaryDirectory("org-command")

  private func attache(_ words: String...) async throws -> ProgramRun {
    try await ProgramRun.blocking(["org"] + words)
  }

  @Test func `the same scale and seed make the same records`() async throws {
    var counts: [JSONValue] = []
    for name in ["one", "two"] {
      let run = try await attache(
        "seed", "--data", directory.file(name), "--clock", "2026-01-31T00:00:00.000Z", "--json")
      #expect(run.status == 0, "\(run.everything)")
      counts.append(try JSONValue(parsing: run.output))
    }
    #expect(counts[0] == counts[1])
    #expect((counts[0]["Account"]?.int ?? 0) > 0)
  }

  @Test func `each seeded org is a new one, unless it is to be repeated`() async throws {
    var ids: [String] = []
    for (name, clock) in [("a", false), ("b", false), ("c", true), ("d", true)] {
      let time = clock ? ["--clock", "2026-01-31T00:00:00.000Z"] : []
      let run = try await ProgramRun.blocking(
        ["org", "seed", "--data", directory.file(name)] + time)
      #expect(run.status == 0, "\(run.everything)")
      ids.append(try Org(directory: directory.file(name)).organizationID)
    }
    #expect(ids.allSatisfy { $0.hasPrefix("00D") && $0.count == 18 })
    #expect(Set(ids).count == 3 && ids[2] == ids[3])
    // Seeding again does not change the org's ID.
    _ = try await attache("seed", "--data", directory.file("a"))
    #expect(try Org(directory: directory.file("a")).organizationID == ids[0])
  }

  @Test func `a setup file is read, and its faults are reported with locations`() async throws {
    let (data, file) = (directory.file("org"), directory.file("setup.json"))
    func write(_ text: String) throws { try DurableFile.write(Array(text.utf8), to: file) }
    try write(#"{"profiles": [{"name": "Field Technician", "objects": {"Acount": {}}}]}"#)
    let wrong = try await attache("seed", "--data", data, "--setup", file)
    #expect(wrong.status == 4 && !Files.exists(data))
    #expect(
      wrong.messages.contains("setup.json:1:56: profiles[0].objects.Acount: the org has no object"))
    try write(
      #"{"profiles": [{"name": "Field Technician", "objects": {"Lead": {"read": false}}}]}"#)
    #expect(try await attache("seed", "--data", data, "--setup", file).status == 0)
    #expect(try await attache("seed", "--data", data, "--scale", "0").status == 2)
    let again = try await attache("seed", "--data", data, "--scale", "0", "--setup", file, "--json")
    #expect(again.status == 0)
    #expect(try JSONValue(parsing: again.output)["Account"] == 200)
    let org = try Org(directory: data)
    let ada = try #require(org.user(named: "ada@example.com"))
    #expect(org.schema("Lead", as: ada) == nil && org.schema("Account", as: ada) != nil)
  }

  @Test func `an org is served until it is stopped, and prints its address`() async throws {
    let directory = directory
    // A background job ignores the signal, and so would every program that it starts.
    signal(SIGINT, SIG_DFL)
    try await StoreThread(name: "serve").run { () throws in
      for signal in [SIGTERM, SIGINT] {
        let process = try ChildProcess.start(
          ChildRun.executable, ["org", "serve", "--data", directory.file("org"), "--json"])
        let answer = try JSONValue(parsing: process.readLine() ?? "")
        #expect(answer["url"]?.string?.hasPrefix("http://127.0.0.1:") == true)
        #expect(answer["organizationId"]?.string?.count == 18)
        process.kill(signal)
        #expect(process.readLine() == nil)
        #expect(process.wait() == 0)
      }
    }
  }

  @Test func `a missing certificate and a client without secret are refused`() async throws {
    let data = directory.file("org")
    let app = try await attache("serve", "--data", data, "--app", "a=\(directory.file("none.pem"))")
    #expect(app.status != 0)
    #expect(app.messages.contains("none.pem"))
    let client = try await attache("serve", "--data", data, "--client", "a=ada@example.com")
    #expect(client.status == 2)
    #expect(client.messages.contains("ATTACHE_CLIENT_SECRET"))
    #expect(try await attache("serve", "--data", data, "--app", "nothing").status == 2)
  }

  @Test func `the authority is created once and kept`() async throws {
    let first = try await attache("ca", "--data", directory.path)
    #expect(first.status == 0)
    let path = first.output.trimmingCharacters(in: .newlines)
    let made = try Files.read(path)
    #expect(try await attache("ca", "--data", directory.path).output == first.output)
    #expect(try Files.read(path) == made)
  }
}
