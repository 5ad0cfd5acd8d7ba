import JSON
import System
import Testing

@Suite struct FewerSurprisesTests {
  let world: World
  init() throws { world = try World() }

  @Test func `an unknown user ends a run before any work`() async throws {
    for only in ["ingest,reconcile,prime,pack", "pack", "prime"] {
      let run = try await world.program(["run"], ["--user", "ada@exampel.com", "--only", only])
      #expect(run.status == 4, "\(run.everything)")
      #expect(run.messages.contains("ada@exampel.com is not a user of the pipeline"))
    }
    #expect(try world.data.snapshots().isEmpty)
    try await world.run()
    try DurableFile.write(Array("no store".utf8), to: world.data.inbox("inbox") + "/x.sqlite")
    let late = try await world.program(["run"], ["--user", "ada@exampel.com"])
    #expect(late.status == 4 && late.messages.contains("did you mean ada@example.com?"))
    #expect(try Files.list(world.data.inbox("inbox")) == ["x.sqlite"])
  }

  @Test func `a store lists its soups, and a star names its columns`() async throws {
    try await world.run()
    let store = try world.device("ada").storePath
    let soups = try await ProgramRun.blocking(["store", "soups", store])
    #expect(soups.status == 0)
    for words in ["accounts", "contacts", "Id (string)", "attache_stamp"] {
      #expect(soups.output.contains(words), "\(words) in \(soups.output)")
    }
    let list = try JSONValue(
      parsing: try await ProgramRun.blocking(["store", "soups", store, "--json"]).output)
    let accounts = list.array?.first { $0["soup"] == "accounts" }
    #expect(accounts?["elements"]?.int ?? 0 > 0)
    #expect(accounts?["indexes"]?.array?.contains { $0["path"] == "Id" } == true)
    let star = try await ProgramRun.blocking(
      ["store", "query", store, "select * from {accounts}", "--csv", "--limit", "1"])
    let header = try #require(star.output.split(separator: "\n").first)
    #expect(header.hasPrefix("id,soup,created,lastModified,"))
    let named = try await ProgramRun.blocking(
      ["store", "query", store, "select {accounts:Id} from {accounts}", "--csv", "--limit", "1"])
    #expect(named.output.hasPrefix("{accounts:Id}"))
    let cut = try await ProgramRun.blocking(
      ["store", "query", store, "select 1 union all select 2", "--limit", "1"])
    #expect(cut.messages.contains("1 of 2 rows shown; --limit 2 shows all"))
    let open = try await ProgramRun.blocking(
      ["store", "query", store, "select {accounts:Id from {accounts}"])
    #expect(open.status == 2)
    #expect(open.messages.contains(#"the brace at character 8 is not closed: "{accounts:Id""#))
    let change = try await ProgramRun.blocking(["store", "query", store, "delete from {accounts}"])
    #expect(change.messages.contains(#"cannot run "delete from {accounts}""#))
    for words in [
      "pragma table_info(soup_attrs)", "explain select 1", "select 1; select 2", "-- nothing", "",
    ] {
      let refused = try await ProgramRun.blocking(["store", "query", store, words])
      #expect(refused.status == 2 && refused.output.isEmpty, "\(words): \(refused)")
    }
    let commented = "/* all */ -- of them\n With n AS (SELECT 1 AS one) SELECT one FROM n"
    #expect(try await ProgramRun.blocking(["store", "query", store, commented]).status == 0)
  }

  @Test func `the description of a single file names its content`() async throws {
    let (device, account) = try await world.primed("ada", first: "accounts")
    try device.edit("accounts", id: account, ["Phone": "8"], now: world.org.now())
    let file = world.directory.file("ada.sqlite")
    try device.handBack(to: file, now: world.org.now())
    let look = try await world.program(["ingest"], [file, "--dry-run"])
    #expect(look.status == 0 && look.output.contains("ada.sqlite has 1 edit, 1 of them new"))
    #expect(Files.exists(file))
    #expect(try Files.list(world.data.done).isEmpty)
  }

  @Test func `a bundle is inspected by its stable name`() async throws {
    try await world.run()
    let latest = try world.snapshot("ada") + "/latest/ios.tar.zst"
    #expect(try await ProgramRun.blocking(["bundle", "verify", latest]).status == 0)
    #expect(try await ProgramRun.blocking(["bundle", "inspect", latest]).status == 0)
  }
}
