import Foundation
import LocalOrg
import Pipelines
import System

/// The program, run as a child process on one stage of a world's pipeline.
struct ChildRun {
  let status: Int32
  let hasStarted: Bool
  let hasFinished: Bool
  /// The number of events in the stage; empty if it did not finish.
  let counts: [KillPoint.Event: Int]
  /// Its output, for messages.
  let lines: [String]
  var diedInStage: Bool { status == 137 && hasStarted && !hasFinished }

  static var executable: String {
    (Files.parent(of: ProcessEnvironment.executablePath()) ?? ".") + "/attache"
  }

  init(_ stage: Stage, _ world: World, killedAt point: KillPoint? = nil) throws {
    let counted = world.directory.file("calls")
    try Files.remove(counted)
    var environment = world.variables
    for name in ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"] {
      environment[name] = ProcessEnvironment.variable(name)
    }
    environment["LD_PRELOAD"] = try KillShim.shared.get().path
    environment["KILL_COUNT"] = counted
    environment.merge(point?.environment ?? [:]) { $1 }
    let victim = Locked<RunningProcess?>(nil)
    if let point { Self.arm(point, world) { victim.withLock { $0?.kill(9) } } }
    let arguments = [
      "run", world.pipeline.file, "--only", stage.rawValue, "--json", "--data", world.root,
    ]
    // Locked until the handle exists, because the org's threads may need it at once.
    let child = try victim.withLock { victim in
      let child = try ChildProcess.start(
        Self.executable, arguments, environment: environment,
        error: .file(world.directory.file("errors")))
      victim = child
      return child
    }
    var lines: [String] = []
    while let line = child.readLine() { lines.append(line) }
    status = child.wait()
    world.server.faults.removeAll()
    self.lines = lines
    hasStarted = lines.contains { $0.contains("\"stageStarted\"") }
    hasFinished = lines.contains { $0.contains("\"stageFinished\"") }
    let numbers = ((try? String(contentsOfFile: counted, encoding: .utf8)) ?? "")
      .split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    guard numbers.count == 2 else {
      counts = [:]
      return
    }
    let log = world.server.log
    counts = [
      .calls: numbers[0], .names: numbers[1], .requests: log.count, .writes: log.writes.count,
    ]
  }

  private static func arm(
    _ point: KillPoint, _ world: World, _ kill: @escaping @Sendable () -> Void
  ) {
    let match: FaultMatch
    switch point.event {
    case .calls, .names: return
    case .requests: match = .any
    case .writes: match = .writes
    }
    // The body of the answer is held back until the client is dead, or the org does not process the
    // request at all.
    let isBefore = if case .before = point.moment { true } else { false }
    world.server.faults.add(
      match, nth: point.number,
      isBefore ? .mutate { _ in kill() } : .pause(afterBytes: 0, until: kill))
  }

  /// What it did, for messages.
  var story: String { "exit status \(status)\n" + lines.suffix(6).joined(separator: "\n") }
}
