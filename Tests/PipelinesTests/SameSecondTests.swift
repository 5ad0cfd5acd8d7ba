import JSON
import Testing

@Suite struct SameSecondTests {
  let world: World
  init() throws { world = try World() }

  private func phone(_ account: String, _ place: String) throws -> JSONValue? {
    try world.device("ada", as: place).elements("accounts").first { $0["Id"]?.string == account }?[
      "Phone"]
  }

  private func retrieves(_ run: () async throws -> Void) async throws -> Int {
    func count() -> Int { world.server.log.counts[.retrieve] ?? 0 }
    let before = count()
    try await run()
    return count() - before
  }

  /// An account of ada's that was changed a day after the first run, within the second of the next
  /// one.
  private func firstChange() async throws -> String {
    try await world.run()
    let account = try #require(try world.ids("accounts", on: world.device("ada")).first)
    try world.org.moveClock(by: 86_400_000)
    // From here on, only the test moves the org's clock.
    try world.org.setClockStep(0)
    try world.change(account, ["Phone": "first"])
    try await world.run()
    return account
  }

  @Test func `a second change within one second is in the next bundle`() async throws {
    let account = try await firstChange()
    #expect(try phone(account, "second") == "first")
    try world.change(account, ["Phone": "second"])
    try world.org.moveClock(by: 86_400_000)
    try await world.run()
    #expect(try phone(account, "third") == "second")
    // Records unchanged for longer than the overlap are not requested again.
    #expect(try await retrieves { try await world.run() } == 0)
  }

  @Test func `a recent change is read again later, not in every run`() async throws {
    _ = try await firstChange()
    try world.org.moveClock(by: 86_400_000)
    let generations = try world.data.generations(of: world.user("ada").id)
    #expect(try await retrieves { try await world.run() } > 0)
    // No generation was made, but the next run knows.
    #expect(try world.data.generations(of: world.user("ada").id) == generations)
    #expect(try await retrieves { try await world.run() } == 0)
  }
}
