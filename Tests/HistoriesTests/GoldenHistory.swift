import JSON
import System
import TestSupport

/// A history that leaves the same in every play: its outcomes, writes and reports depend on its
/// seed and on the rules alone.
///
/// It sends one request at a time, since concurrent ones arrive in another order each time. Its
/// faults occur at writes, so that a change in what is read moves none.
struct GoldenHistory: RandomHistory {
  var history: History
  /// The digests that it should have; nil to accept any.
  var expected: [GoldenPart: String]?
  /// Receives the digests that it has.
  var found: @Sendable ([GoldenPart: String]) -> Void
  var seed: UInt64 { history.seed }
  var steps: [Step] {
    get { history.steps }
    set { history.steps = newValue }
  }
  var description: String { history.description }
  init(
    seed: UInt64, expected: [GoldenPart: String]?,
    found: @escaping @Sendable ([GoldenPart: String]) -> Void
  ) {
    history = History(seed: seed, isKept: true)
    history.setup.concurrency = 1
    history.steps = history.steps.map { step in
      guard case .run(let verb, let mishap?) = step else { return step }
      return .run(verb, mishap.atWrite)
    }
    (self.expected, self.found) = (expected, found)
  }

  func play() async throws -> Tally {
    let world = try World(history)
    let trace = WriteTrace()
    (world.trace, world.foretells) = (trace, false)
    // A broken rule is an issue of `HistoriesTests`; here it is one more outcome.
    var end = "at rest"
    do { try await world.play() } catch { end = "\(error)" }
    let reports = try Self.reports(of: world)
    let texts: [GoldenPart: String] = [
      .outcomes: GoldenText.outcomes(reports) + "the end: \(end)\n", .writes: trace.text,
      .reports: reports.map { report in
        String(decoding: report.bytes(pretty: true, sortedKeys: false), as: UTF8.self) + "\n"
      }.joined(),
    ]
    var digests: [GoldenPart: String] = [:]
    for (part, text) in texts {
      digests[part] = try GoldenFile.keep(GoldenText.plain(text, of: world), part, of: seed)
    }
    found(digests)
    try compare(digests)
    return world.tally
  }

  private static func reports(of world: World) throws -> [JSONValue] {
    guard Files.isDirectory(world.data.reports) else { return [] }
    let runs = try Files.list(world.data.reports).compactMap { name in
      name.split(separator: "-").last.flatMap { Int($0) }.map { (number: $0, name: name) }
    }
    return try runs.sorted { $0.number < $1.number }.compactMap { run in
      let path = "\(world.data.reports)/\(run.name)/report.json"
      guard Files.exists(path) else { return nil }
      return GoldenText.withoutTimes(try JSONValue(parsing: Files.read(path)))
    }
  }

  private func compare(_ digests: [GoldenPart: String]) throws {
    guard let expected else { return }
    let differing = GoldenPart.allCases.filter { expected[$0] != digests[$0] }
    guard !differing.isEmpty else { return }
    let lines = differing.map { part in
      Self.difference(
        GoldenFile.place(of: expected[part] ?? "-", part, seed),
        GoldenFile.place(of: digests[part] ?? "-", part, seed))
    }
    throw Violation(
      "other \(differing.map(\.rawValue).joined(separator: ", "))\n"
        + lines.joined(separator: "\n"))
  }

  private static func difference(_ old: String, _ new: String) -> String {
    guard let before = try? Files.read(old), let after = try? Files.read(new) else {
      return "  the text before was not played here; now: \(new)"
    }
    let sides = [before, after].map { $0.split(separator: UInt8(ascii: "\n")) }
    let place = zip(sides[0], sides[1]).enumerated().first { $1.0 != $1.1 }?.offset
    let first = place ?? min(sides[0].count, sides[1].count)
    let lines = sides.map { side in
      first < side.count ? String(decoding: side[first].prefix(300), as: UTF8.self) : "(the end)"
    }
    return "  before: \(old)\n    \(lines[0])\n  now:    \(new)\n    \(lines[1])"
  }
}

extension Mishap {
  /// The same kind of fault at a write.
  ///
  /// The first two events of a run come before everything that it reads.
  var atWrite: Mishap {
    var mishap = self
    switch kind {
    case .lostAnswer, .lostRequest, .lateRequest, .killAtWrite: return self
    case .killAtEvent where nth <= 2: return self
    case .killAtEvent, .killAtRequest: mishap.kind = .killAtWrite
    case .unavailable: mishap.kind = .lostRequest
    }
    mishap.nth = 1 + nth % 3
    return mishap
  }
}
