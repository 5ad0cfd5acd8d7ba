import Crypto
import LocalOrg
import Pipelines
import System

/// The program, run as a child process that may be killed.
struct ChildRun {
  let status: Int32
  let hasStarted: Bool
  let hasFinished: Bool
  /// The number of events in the stage or in the whole program; empty if it did not finish.
  let counts: [KillPoint.Event: Int]
  /// Its output, for messages.
  let lines: [String]
  var diedInStage: Bool { status == 137 && hasStarted && !hasFinished }

  static var executable: String {
    (Files.parent(of: ProcessEnvironment.executablePath()) ?? ".") + "/attache"
  }

  /// Runs one stage of a world's pipeline, and counts the events in it.
  init(_ stage: Stage, _ world: World, killedAt point: KillPoint? = nil) throws {
    let arguments = [
      "run", world.pipeline.file, "--only", stage.rawValue, "--json", "--data", world.root,
    ]
    defer { world.server.faults.removeAll() }
    try self.init(arguments, world, killedAt: point, inStage: true)
  }

  /// Runs the program, and counts its events from its start.
  ///
  /// The fault that kills it at a request to the org stays there.
  init(_ arguments: [String], _ world: World, killedAt point: KillPoint? = nil) throws {
    try self.init(arguments, world, killedAt: point, inStage: false)
  }

  private init(
    _ arguments: [String], _ world: World, killedAt point: KillPoint?, inStage: Bool
  ) throws {
    let place = world.directory.file("child-" + RandomBytes.uuid())
    defer {
      for suffix in Self.suffixes { try? Files.remove(place + suffix) }
    }
    let (counted, errors) = (place + Self.suffixes[0], place + Self.suffixes[1])
    var environment = world.variables
    for name in ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"] {
      environment[name] = ProcessEnvironment.variable(name)
    }
    environment["LD_PRELOAD"] = try KillShim.shared.get().path
    environment["KILL_COUNT"] = counted
    if !inStage { environment["KILL_FROM"] = "start" }
    environment.merge(point?.environment ?? [:]) { $1 }
    let victim = Locked<RunningProcess?>(nil)
    if let point { Self.arm(point, world) { victim.withLock { $0?.kill(9) } } }
    let before = (requests: world.server.log.count, writes: world.server.log.writes.count)
    // Locked until the handle exists, because the org's threads may need it at once.
    let child = try victim.withLock { victim in
      let child = try ChildProcess.start(
        Self.executable, arguments, environment: environment,
        error: .file(errors))
      victim = child
      return child
    }
    var lines: [String] = []
    while let line = child.readLine() { lines.append(line) }
    status = child.wait()
    self.lines = lines + Self.lines(errors)
    hasStarted = lines.contains { $0.contains("\"stageStarted\"") }
    hasFinished = lines.contains { $0.contains("\"stageFinished\"") }
    let numbers = (Self.lines(counted).first ?? "").split(separator: " ").compactMap { Int($0) }
    guard numbers.count == 3 else {
      counts = [:]
      return
    }
    let log = world.server.log
    var counts: [KillPoint.Event: Int] = [
      .calls: numbers[0], .names: numbers[1], .requests: log.count - before.requests,
      .writes: log.writes.count - before.writes,
    ]
    // A stage sends only requests.
    if !inStage { counts[.sends] = numbers[2] }
    self.counts = counts
  }

  /// The files for the counts and for messages.
  private static let suffixes = [".calls", ".errors"]

  private static func lines(_ file: String) -> [String] {
    let text = (try? Files.read(file)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  private static func arm(
    _ point: KillPoint, _ world: World, _ kill: @escaping @Sendable () -> Void
  ) {
    let match: FaultMatch
    switch point.event {
    case .calls, .names, .sends: return
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
