import Foundation
import System
import Testing

@Suite struct SecondOrgLoginTests {
  private static let jwt = #""method": "jwt","#
  private static let key = #""key": { "env": "ATTACHE_JWT_KEY" },"#

  /// A pipeline with a login other than the scene's, and with the files that it names.
  private func scene(
    _ login: String, users: String, files: [String: String], seed: Int = 2
  ) async throws -> SecondOrgScene {
    let scene = try await SecondOrgScene(
      seed: seed,
      file: { text in
        text.replacing(Self.jwt, with: login).replacing(Self.key, with: "")
          .replacing(/"users": \{[^}]*\}/, with: "\"users\": \(users)")
      })
    for (name, text) in files {
      let path = scene.directory.file("pipelines/" + name)
      try DurableFile.write(Array(text.utf8), to: path)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }
    return scene
  }

  private static let refreshToken = #"""
    "method": "refreshToken", "clientSecret": { "file": "secret" }, "refreshToken": { "file": "token" },
    """#
  private static let table = #"""
    { "csv": { "file": "users.csv", "username": "Username", "refreshToken": "Token" } }
    """#

  @Test func `each user continues with the last refresh token from the org`() async throws {
    let technicians = ["rosa", "li"].map { "\($0)@foreign.example" }
    let rows = technicians.map { "\($0),refresh-\($0)\n" }.joined()
    let scene = try await scene(
      Self.refreshToken, users: Self.table,
      files: [
        "secret": "sesame", "token": "refresh-night@foreign.example",
        "users.csv": "Username,Token\n" + rows,
      ])
    #expect(try await scene.night().last.findings == [], "\(scene.skipped)")
    #expect(try await scene.differences() == [])
    // A session that ends midway through a run is renewed with the newest token.
    try await scene.org.order(
      ["kind": "session", "user": "rosa@foreign.example", "path": "/query", "nth": 2],
      ["kind": "session", "user": "li@foreign.example", "path": "priming-records"])
    let work = try await FieldWork(scene)
    let logins = try await scene.org.logins()
    #expect(try await scene.night().verdicts == FieldWork.verdicts)
    #expect(try await work.faults() == [])
    #expect(try await scene.differences() == [])
    #expect(try await scene.org.logins() - logins >= 5)
    try await scene.org.order()
    #expect(try await scene.night().last.snapshots.filter(\.changed).map(\.username) == [])
    // Each worked once, and none is used again.
    let grants = try await scene.org.log().filter { $0.path.contains("/token") }
    #expect(grants.allSatisfy { $0.status == 200 })
  }

  @Test func `a refresh token that was used elsewhere skips only its user`() async throws {
    let scene = try await scene(
      Self.refreshToken, users: Self.table,
      files: [
        "secret": "sesame", "token": "refresh-night@foreign.example",
        "users.csv": """
        Username,Token
        rosa@foreign.example,refresh-rosa@foreign.example
        li@foreign.example,refresh-of-yesterday

        """,
      ])
    let summary = try await scene.run()
    #expect(summary.findings == [.skippedUser])
    #expect(summary.snapshots.map(\.username).sorted() == ["global", "rosa@foreign.example"])
    #expect(scene.skipped.count == 1)
    #expect(scene.skipped.first?.contains("expired access/refresh token") == true)
  }

  @Test func `with client credentials, a pipeline serves one user`() async throws {
    let scene = try await scene(
      #""method": "clientCredentials", "clientSecret": { "file": "secret" },"#,
      users: #"{ "self": true }"#, files: ["secret": "sesame"])
    #expect(try await scene.night().last.findings == [], "\(scene.skipped)")
    let night = try scene.device("night", .ios, as: "night")
    let visit = try #require(
      try night.elements("visits").compactMap { $0["Id"]?.string }.sorted().first)
    try night.edit("visits", id: visit, ["Name": "Looked at"], now: Clock.wallMilliseconds())
    try scene.handBack(night, as: "night.sqlite")
    try await scene.org.order(["kind": "session", "path": "/query"])
    #expect(try await scene.night().verdicts == [.updated: 1])
    let record = try await scene.org.records("Site_Visit__c").first { $0["Id"]?.string == visit }
    #expect(record?["Name"] == "Looked at")
    #expect(record?["LastModifiedById"]?.string == scene.userIDs["night@foreign.example"])
    #expect(try await scene.org.mishaps()["session"] == 1)
    #expect(try await Set(scene.org.log().compactMap(\.user)) == ["night@foreign.example"])
  }
}
