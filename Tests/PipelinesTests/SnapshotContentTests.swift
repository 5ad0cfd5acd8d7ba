import Pipelines
import SmartStore
import Snapshots
import System
import Testing

@Suite struct SnapshotContentTests {
  static let first = World.repository + "/pipelines/first.json"

  /// A world with the pipeline of one SOQL query, its text changed; all IDs are listed every
  /// `rhythm` runs.
  func soqlWorld(rhythm: Int = 7, _ change: (String) -> String = { $0 }) throws -> World {
    try World(file: Self.first) { text in
      change(text).replacing(
        "\"format\": 1,",
        with: "\"format\": 1, \"prime\": {\"ghosts\": {\"everyRuns\": \(rhythm)}},")
    }
  }

  /// Rewrites the query of the pipeline's sync down.
  ///
  /// A world has its own copy of `pipelines/`.
  func setQuery(_ soql: String, in world: World) throws {
    let path = world.directory.file("pipelines/first/usersyncs.json")
    let text = String(decoding: try Files.read(path), as: UTF8.self)
    let start = try #require(text.firstRange(of: "\"query\":\""))
    let rest = text[start.upperBound...]
    let end = try #require(rest.firstIndex(of: "\""))
    let new = text[..<start.upperBound] + soql + rest[end...]
    try DurableFile.write(Array(String(new).utf8), to: path)
  }

  func rewrite(_ world: World, _ change: (String) throws -> String) throws {
    let text = String(decoding: try Files.read(world.pipeline.file), as: UTF8.self)
    try DurableFile.write(Array(try change(text).utf8), to: world.pipeline.file)
  }

  @discardableResult func run(
    _ world: World, _ stages: Set<Stage> = [.prime, .pack], variables: [String: String] = [:],
    options change: (inout RunOptions) -> Void = { _ in }
  ) async throws -> RunSummary {
    var options = RunOptions()
    options.stages = stages
    options.retryPause = .none
    change(&options)
    let variables = world.variables.merging(variables) { $1 }
    let pipeline = try PipelineFile.read(path: world.pipeline.file, variables: variables)
    return try await PipelineRun.execute(
      pipeline, root: world.root, variables: variables, options: options,
      report: { [told = world.told] event in told.withLock { $0.append(event) } })
  }

  func contacts(_ world: World, _ name: String = "ada") throws -> Set<String> {
    let id = try world.user(name).id
    let newest = try #require(try world.data.generations(of: id).last)
    let record = try SnapshotDirectory(path: world.data.snapshot(id)).record(of: newest)
    let entry = try #require(record.entries(of: .ios).first)
    let store = try Store(
      opening: world.data.generation(newest, of: id) + "/ios/" + entry.path, readOnly: true)
    var ids: Set<String> = []
    try store.forEachElement(in: "contacts") {
      if let id = try $0.value()["Id"]?.string { ids.insert(id) }
    }
    try store.close()
    return ids
  }

  // MARK: records

  @Test func `a query variable is a quoted literal, a user id the snapshot's`() async throws {
    let world = try soqlWorld()
    try setQuery("SELECT LastName FROM Contact WHERE OwnerId = :userId", in: world)
    #expect(try await run(world).findings == [], "\(world.skipped)")
    let ada = try world.user("ada").id
    let ids = try world.column("SELECT Id FROM Contact WHERE OwnerId = '\(ada)'")
    #expect(!ids.isEmpty)
    #expect(try contacts(world) == Set(ids))
  }

  @Test func `a query with an offset misses no change`() async throws {
    let world = try soqlWorld()
    try setQuery("SELECT LastName FROM Contact ORDER BY Id LIMIT 2000 OFFSET 1", in: world)
    try await run(world)
    let id = try #require(try contacts(world).sorted().first)
    let admin = try world.user("admin")
    #expect(world.org.update("Contact", id: id, ["LastName": "Renamed"], as: admin).errors == [])
    #expect(try await run(world).snapshots.first?.soups.first?.written == 1)
  }

  @Test func `a login as another user than the pipeline's makes no snapshot`() async throws {
    let world = try soqlWorld()
    let token = try world.server.token(for: "ben@example.com", app: OrgTemplate.clientID)
    try rewrite(world) { text in
      let start = text.firstRange(of: "\"login\": {")?.upperBound ?? text.startIndex
      let end = text.firstRange(of: "\"users\":")?.lowerBound ?? text.endIndex
      return text[..<start]
        + "\"method\": \"accessToken\", \"accessToken\": {\"env\": \"TOKEN\"}}}," + text[end...]
    }
    let error = await #expect(throws: PipelineError.self) {
      do { try await run(world, variables: ["TOKEN": token]) } catch {
        throw PipelineError(describing: error)
      }
    }
    #expect(error?.kind == .configuration)
    #expect(try world.data.snapshots() == [])
  }

  // MARK: users

  @Test func `a user who is in the table twice is primed once`() async throws {
    let world = try soqlWorld { text in
      text.replacing(
        "{ \"list\": [\"ada@example.com\"] }",
        with: "{ \"csv\": { \"file\": \"users.csv\", \"username\": \"User\" } }")
    }
    try DurableFile.write(
      Array("User\nada@example.com\nAda@Example.com\nben@example.com\n".utf8),
      to: world.directory.file("pipelines/users.csv"))
    let summary = try await run(world)
    #expect(summary.snapshots.map(\.username) == ["ada@example.com", "ben@example.com"])
    #expect(summary.findings == [])
  }

  @Test func `a first user who cannot log in does not stop the others`() async throws {
    let world = try soqlWorld { $0.replacing("[\"ada@", with: "[\"zoe@example.com\", \"ada@") }
    let summary = try await run(world)
    #expect(summary.snapshots.map(\.username) == ["ada@example.com"])
    #expect(summary.findings == [.skippedUser])
    #expect(world.skipped.first?.contains("zoe@example.com") == true)
  }

  @Test func `a run may serve one of several users; an unknown one is refused`() async throws {
    let world = try soqlWorld {
      $0.replacing(
        "[\"ada@example.com\"]",
        with: "[\"ada@example.com\", \"ben@example.com\"], \"expect\": { \"atLeast\": 2 }")
    }
    let summary = try await run(world) { $0.users = ["Ben@example.com"] }
    #expect(summary.snapshots.map(\.username) == ["ben@example.com"])
    #expect(summary.bundles.count == 1)
    let error = await #expect(throws: PipelineError.self) {
      try await run(world) { $0.users = ["ben@exampel.com"] }
    }
    #expect(error?.code == "users.unknown")
    #expect(error?.message == "ben@exampel.com is not a user of the pipeline")
    #expect(error?.fix == "did you mean ben@example.com?")
  }

  @Test func `fewer users than users.expect stop the run before any fetch`() async throws {
    let world = try soqlWorld {
      $0.replacing(
        "[\"ada@example.com\"]", with: "[\"ada@example.com\"], \"expect\": { \"atLeast\": 2 }")
    }
    let error = await #expect(throws: PipelineError.self) { try await run(world) }
    #expect(error?.code == "users.unexpected")
    #expect(
      error?.message.hasPrefix("the pipeline has 1 user, and users.expect allows 2 to ") == true)
    #expect(error?.fix == "check the source of the users, or change users.expect")
    #expect(try world.data.snapshots() == [])
  }

  @Test func `users who share one view need not log in`() async throws {
    let world = try soqlWorld()
    try rewrite(world) { text in
      text.replacing(
        "[\"ada@example.com\"]", with: "[\"ada@example.com\", \"ben@example.com\"]"
      )
      .replacing("\"prime\": {", with: "\"prime\": {\"fetchAs\": \"integration\", ")
      .replacing("\"method\":", with: "\"integrationUser\": \"attache@example.com\", \"method\":")
    }
    try await run(world)
    #expect(try contacts(world, "ada") == contacts(world, "ben"))
    #expect(try contacts(world, "ada").count > 1)
  }
}
