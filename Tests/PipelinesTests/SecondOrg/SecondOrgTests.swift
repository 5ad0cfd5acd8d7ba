import JSON
import Pipelines
import TestSupport
import Testing

@Suite struct SecondOrgTests {
  /// A version with the seed of an org's behaviour.
  struct Play: Sendable, CustomTestStringConvertible {
    let version: String
    let seed: Int
    var testDescription: String { "version \(version), seed \(seed)" }
  }

  /// Some of the versions, including the oldest and the newest; in large campaigns, each with
  /// several seeds.
  static let plays = {
    let (versions, count) = (SecondOrg.versions, CampaignSize.secondOrg.count)
    return (0..<max(count, versions.count)).map {
      Play(version: versions[$0 % versions.count], seed: $0 + 1)
    }.spread(count)
  }()

  /// How often each fault occurs in the org of a seed, and how often at most.
  private static func mishaps(_ seed: Int) -> JSONValue {
    func rate(_ often: Double, _ most: Int) -> JSONValue {
      .array([JSONValue(often), JSONValue(most)])
    }
    if seed == 1 { return [:] }
    return [
      "session": rate(0.1, 2), "page 200": rate(0.03, 3), "page 503": rate(0.03, 3),
      "unavailable": rate(0.03, 2), "busy": rate(0.03, 2), "error 500": rate(0.02, 2),
      "cut before": rate(0.02, 2), "cut after": rate(0.03, 2), "lock": rate(0.2, 3),
      "limit": rate(0.02, seed % 3 == 0 ? 1 : 0), "locator": rate(0.3, 2),
    ]
  }

  private static let clocks = [3: 1500, 6: -1500, 8: 86_400]

  @Test(arguments: plays)
  func `stores are the org's records, and each edit is in it only once`(_ play: Play) async throws {
    let scene = try await SecondOrgScene(
      seed: play.seed, version: play.version,
      org: { data in
        data["mishaps"] = Self.mishaps(play.seed)
        data["clockOffsetSeconds"] = JSONValue(Self.clocks[play.seed] ?? 0)
      })
    do {
      let runs = try await nights(scene, play)
      await tell(of: scene, play, "runs \(runs.map(String.init).joined(separator: " "))")
    } catch {
      await tell(of: scene, play, "stopped")
      throw error
    }
  }

  /// Prints the requests and the faults of an org, whether or not the test passed.
  private func tell(of scene: SecondOrgScene, _ play: Play, _ words: String) async {
    guard let log = try? await scene.org.log(), let mishaps = try? await scene.org.mishaps() else {
      return print("SecondOrgTests: \(play.testDescription): \(words), and the org does not answer")
    }
    let wrong = mishaps.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    print(
      "SecondOrgTests: \(play.testDescription): \(log.count) requests, \(words), mishaps: "
        + wrong.joined(separator: ", "))
  }

  /// Three scheduled runs, with a day's work after the first; returns the number of attempts of
  /// each.
  private func nights(_ scene: SecondOrgScene, _ play: Play) async throws -> [Int] {
    let first = try await scene.night()
    #expect(first.last.findings == [], "\(scene.skipped)")
    #expect(try await scene.differences() == [])
    let day = try await FieldWork(scene)
    let second = try await scene.night()
    #expect(second.verdicts == FieldWork.verdicts)
    #expect(second.last.findings == [.unsettledEdits], "\(scene.skipped)")
    #expect(try await day.faults() == [])
    #expect(try await scene.differences() == [])
    let calls = try await scene.org.log().count
    let third = try await scene.night()
    #expect(third.last.snapshots.filter(\.changed).map(\.username) == [])
    let log = try await scene.org.log()
    // Six of them retrieve again what three objects of two briefcases had just before the previous
    // run.
    #expect(log.count - calls < 66 * third.runs)
    let data = log.filter { $0.path.hasPrefix("/services/data/v") }
    #expect(data.allSatisfy { $0.path.hasPrefix("/services/data/v\(play.version)/") })
    return [first.runs, second.runs, third.runs]
  }

  @Test func `a version that the org lacks is reported before any other request`() async throws {
    let scene = try await SecondOrgScene(
      version: "60.0",
      file: { $0.replacing(#""org": {"#, with: #""org": { "apiVersion": "61.0","#) })
    do {
      try await scene.run()
      Issue.record("it ran")
    } catch {
      let told = PipelineError(describing: error)
      #expect(told.kind.exitStatus == .configuration)
      #expect(told.description.contains("the org has no API version 61.0: it has 58.0 to 60.0"))
    }
    #expect(try await scene.org.log().map(\.path) == ["/services/oauth2/token", "/services/data"])
  }

  @Test func `a run within its request budget stops there, the next one continues`() async throws {
    let scene = try await SecondOrgScene(seed: 5)
    #expect(try await scene.run { $0.apiBudget = 24 }.exitStatus == .tryLater)
    #expect(try await scene.org.log().count { $0.path.hasPrefix("/services/data/v") } == 24)
    #expect(try await scene.run().findings == [], "\(scene.skipped)")
    #expect(try await scene.differences() == [])
  }

  private static let records = CampaignSize.sessionRecords.count

  @Test(arguments: ["/query/0r8", "/composite/sobjects/"])
  func `a session that ends midway is one login and loses no record`(_ place: String) async throws {
    let many: JSONValue = [
      [
        "object": "Case", "owner": "rosa@foreign.example", "count": JSONValue(Self.records),
        "values": ["Subject": "Case #", "Status": "New"],
      ],
      [
        "object": "Account", "owner": "rosa@foreign.example", "count": JSONValue(Self.records),
        "values": ["Name": "Account #"],
      ],
    ]
    let scene = try await SecondOrgScene(org: { data in
      data["many"] = many
      data["pageSize"] = JSONValue(max(200, Self.records / 100))
      data["primingPage"] = 2000
    })
    // The integration user and two technicians, each in the first request.
    let pages = place.hasPrefix("/query") ? 7 : 1
    try await scene.org.order(["kind": "session", "path": .string(place), "nth": JSONValue(pages)])
    #expect(try await scene.run().findings == [], "\(scene.skipped)")
    #expect(try await scene.org.mishaps() == ["session": 1])
    #expect(try await scene.org.logins() == 4)
    #expect(try await scene.differences() == [])
  }
}
