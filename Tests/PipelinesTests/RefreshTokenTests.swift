import Foundation
import Pipelines
import System
import Testing

@Suite struct RefreshTokenTests {
  /// The demo's pipeline with another login, and its users in a table if given.
  static func world(_ login: String, users: String? = nil) throws -> World {
    try World { text in
      var text = text.replacing("\"method\": \"jwt\",", with: login)
        .replacing(#""key": { "env": "ATTACHE_JWT_KEY" },"#, with: "")
      if let users, let range = text.firstRange(of: /"users": \{[^}]*\{[^}]*\}\s*\}/) {
        text.replaceSubrange(range, with: "\"users\": \(users)")
      }
      return text
    } server: {
      $0.rotatesRefreshTokens = true
    }
  }

  /// A table of users, in which `other` replaces some users' tokens by another user's.
  private func table(
    _ world: World, _ names: [String], other: [String: String] = [:], mode: Int = 0o600
  ) throws {
    var text = "Username,Token\n"
    for name in names {
      let owner = other[name] ?? name
      let token = try world.server.refreshToken(
        for: owner + "@example.com", app: OrgTemplate.clientID)
      text += "\(name)@example.com,\(token)\n"
    }
    let path = world.directory.file("pipelines/users.csv")
    try DurableFile.write(Array(text.utf8), to: path)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  static let tokens = #"""
    "method": "refreshToken", "refreshToken": { "file": "token" },
    """#
  static let csv = #"""
    { "csv": { "file": "users.csv", "username": "Username", "refreshToken": "Token" } }
    """#

  private func run(_ world: World, _ token: String) async throws -> RunSummary {
    try DurableFile.write(Array(token.utf8), to: world.directory.file("pipelines/token"))
    return try await world.run()
  }

  @Test func `each user of a table is primed with their own token, run after run`() async throws {
    let world = try Self.world(Self.tokens, users: Self.csv)
    try table(world, ["ada", "ben"])
    let token = try world.server.refreshToken(for: "attache@example.com", app: OrgTemplate.clientID)
    let first = try await run(world, token)
    #expect(world.skipped == [])
    #expect(
      first.snapshots.map(\.username).sorted() == ["ada@example.com", "ben@example.com", "global"])
    // Each token works once. The org's replacement is on disk, readable only by its owner.
    let kept = try FileManager.default.attributesOfItem(atPath: world.data.tokens)
    #expect(kept[.posixPermissions] as? Int == 0o600)
    let text = String(decoding: try Files.read(world.data.tokens), as: UTF8.self)
    #expect(!text.contains(token))
    let before = world.server.log.entries.count
    let again = try await run(world, token)
    #expect(world.skipped == [])
    #expect(again.snapshots.allSatisfy { !$0.changed })
    let readers = world.server.log.entries.dropFirst(before).compactMap(\.user)
    #expect(Set(readers) == ["ada@example.com", "ben@example.com", "attache@example.com"])
    // A check from the command line continues the same chain of tokens.
    let check = try await OrgCheck.run(world.pipeline, root: world.root, variables: world.variables)
    #expect(check.failures == [])
    #expect(check.identities.map(\.username) == ["ada@example.com", "ben@example.com"])
    _ = try await run(world, token)
    #expect(world.skipped == [])
  }

  @Test func `a new token in the configuration takes effect at once`() async throws {
    let world = try Self.world(Self.tokens, users: Self.csv)
    try table(world, ["ada"])
    let token = try world.server.refreshToken(for: "attache@example.com", app: OrgTemplate.clientID)
    _ = try await run(world, token)
    // All tokens are revoked and approved again.
    try Files.remove(world.data.tokens)
    try table(world, ["ada"])
    let next = try world.server.refreshToken(for: "attache@example.com", app: OrgTemplate.clientID)
    _ = try await run(world, next)
    #expect(world.skipped == [])
  }

  @Test func `another user's token skips the user and primes nothing`() async throws {
    let world = try Self.world(Self.tokens, users: Self.csv)
    try table(world, ["ada", "ben"], other: ["ben": "ada"])
    let token = try world.server.refreshToken(for: "attache@example.com", app: OrgTemplate.clientID)
    #expect(try await run(world, token).findings == [.skippedUser])
    #expect(world.skipped.count == 1)
    #expect(
      world.skipped.first?.contains(
        "the refresh token belongs to ada@example.com, for ben@example.com")
        == true, "\(world.skipped)")
    #expect(!Files.exists(try world.snapshot("ben")))
  }

  @Test func `a world-readable table of tokens is refused`() async throws {
    let world = try Self.world(Self.tokens, users: Self.csv)
    try table(world, ["ada"], mode: 0o644)
    let error = await #expect(throws: SecretError.self) { try await run(world, "x") }
    #expect(error?.description.contains("other users can read") == true)
    #expect(world.server.log.entries.isEmpty)
  }

  @Test func `without a table, a refresh token is one user`() async throws {
    let world = try Self.world(Self.tokens, users: #"{ "self": true }"#)
    let token = try world.server.refreshToken(for: "attache@example.com", app: OrgTemplate.clientID)
    #expect(try await run(world, token).snapshots.map(\.username).contains("attache@example.com"))
    _ = try await run(world, token)
  }

  @Test func `two processes that renew at once do not use a token twice`() async throws {
    let world = try Self.world(Self.tokens, users: Self.csv)
    try table(world, ["ada", "ben"])
    let token = try world.server.refreshToken(for: "attache@example.com", app: OrgTemplate.clientID)
    try DurableFile.write(Array(token.utf8), to: world.directory.file("pipelines/token"))
    let variables = world.variables
    try await withThrowingTaskGroup(of: [String].self) { group in
      for _ in 0..<6 {
        group.addTask {
          try await OrgCheck.run(world.pipeline, root: world.root, variables: variables).failures
        }
      }
      for try await failures in group { #expect(failures == []) }
    }
  }

  @Test func `an invalid token file is named, and no token is used`() async throws {
    let world = try Self.world(Self.tokens, users: Self.csv)
    try table(world, ["ada"])
    try Files.makeDirectory(world.data.path)
    try DurableFile.write(Array("{".utf8), to: world.data.tokens)
    let error = await #expect(throws: (any Error).self) { try await run(world, "x") }
    let message = error.map { PipelineError(describing: $0).message } ?? ""
    #expect(message.contains("tokens.json"), "\(message)")
    #expect(world.server.log.entries.isEmpty)
  }
}
