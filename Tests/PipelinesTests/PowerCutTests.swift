import System
import Testing

/// What would remain after a power cut: which calls reach the disk, and in which order.
///
/// A killed process loses nothing that it has written, so the tests that kill do not detect a
/// missing `fsync`. Here a preloaded library (`Tests/Fixtures/kill/watch.c`) records the program's
/// calls, which are checked against rules.
@Suite struct PowerCutTests {
  /// The calls of a whole run: three users primed, edits of two devices sent, bundles written, one
  /// return quarantined.
  private static let watched = Task { () throws -> (lines: [String], root: String) in
    // One request and one user at a time: while one user's change is sent, another's may correctly
    // be unsynchronized, and descriptions are fetched by a request that looks like a change.
    let world = try World {
      $0.replacing(#""org": {"#, with: #""limits": { "jobs": 1 }, "org": { "concurrency": 1,"#)
    }
    try await world.run(.prime, .pack)
    let (ada, ben) = (try world.device("ada"), try world.device("ben", .android))
    let now = world.org.now() + 60_000
    try ada.edit(
      "accounts", id: world.ids("accounts", on: ada)[0], ["Phone": "+1 555 01"], now: now)
    try ben.edit("contacts", id: world.ids("contacts", on: ben)[0], ["Title": "Foreman"], now: now)
    try world.handBack(ada, as: "ada.sqlite")
    try world.handBack(ben, as: "ben.db")
    let note = world.data.inbox("inbox") + "/note.txt"
    try DurableFile.write(Array("no store".utf8), to: note)
    for name in ["ada.sqlite", "ben.db", "note.txt"] {
      // Unchanged for a minute, so that the run takes it.
      try Files.setModificationTime(
        of: world.data.inbox("inbox") + "/" + name,
        nanoseconds: (Clock.wallMilliseconds() - 3_600_000) * 1_000_000)
    }
    let log = world.directory.file("calls")
    let shim = try KillShim.watch.get().path
    let run = try await world.program(["run"], variables: ["LD_PRELOAD": shim, "WATCH_LOG": log])
    guard [0, 3].contains(run.status) else { throw KillScene.Failure(words: run.everything) }
    let lines = String(decoding: try Files.read(log), as: UTF8.self).split(separator: "\n")
    return (lines.map(String.init), world.data.path)
  }

  private func problems(
    of root: String, _ lines: [String], without: (String) -> Bool = { _ in false }
  ) -> [String] {
    var rules = DurabilityRules(root: root)
    for line in lines where !without(line) { rules.take(line) }
    return rules.ended()
  }

  @Test func `everything that a run publishes is on disk before its publication`() async throws {
    let (lines, root) = try await Self.watched.value
    #expect(lines.contains { $0.hasPrefix("request POST") && $0.hasSuffix("/composite") })
    #expect(lines.contains { $0.hasPrefix("move ") && $0.hasSuffix("/current") })
    #expect(lines.contains { $0.hasPrefix("move ") && $0.contains("/quarantine/") })
    #expect(problems(of: root, lines) == [])
  }

  @Test func `the directories of a first run are on disk, too`() async throws {
    let world = try World()
    let log = world.directory.file("calls")
    let shim = try KillShim.watch.get().path
    let run = try await world.program(["run"], variables: ["LD_PRELOAD": shim, "WATCH_LOG": log])
    #expect(run.status == 0, "\(run.everything)")
    let lines = String(decoding: try Files.read(log), as: UTF8.self).split(separator: "\n")
    let made = lines.filter { $0.hasPrefix("name \(world.data.path)/users/") }
    #expect(made.count >= 3, "otherwise the test shows nothing")
    #expect(problems(of: world.data.path, lines.map(String.init)) == [])
  }

  @Test func `nested new directories are on disk, each by its name`() async throws {
    let world = try await World.primed()
    let root = world.directory.file("unpacked")
    let log = world.directory.file("calls")
    let shim = try KillShim.watch.get().path
    let run = try await ProgramRun.blocking(
      ["bundle", "extract", try world.bundle("ada"), root + "/a/b/c/d"],
      variables: ["LD_PRELOAD": shim, "WATCH_LOG": log])
    #expect(run.status == 0, "\(run.everything)")
    let lines = String(decoding: try Files.read(log), as: UTF8.self).split(separator: "\n")
    for path in [root, root + "/a", root + "/a/b", root + "/a/b/c"] {
      let made = try #require(lines.firstIndex { $0 == "name \(path)" }, "\(path)")
      let parent = "sync \(Files.parent(of: path) ?? "/")"
      #expect(lines[made...].contains { $0 == parent }, "\(path)")
    }
  }

  /// The same run, with one kind of synchronization removed, must fail.
  @Test(arguments: ["files", "stores", "directories", "ledger"])
  func `a run that omits one kind of synchronization is detected`(sort: String) async throws {
    let (lines, root) = try await Self.watched.value
    let found = problems(of: root, lines) { line in
      guard line.hasPrefix("sync ") else { return false }
      let path = line.dropFirst(5)
      switch sort {
      case "files": return path.contains("/.tmp-") && !path.hasSuffix(".sqlite")
      case "stores": return path.contains("/users/") && path.contains("sqlite")
      case "directories": return Files.name(of: String(path)).contains(".") == false
      default: return path.hasSuffix("/state.sqlite-wal")
      }
    }
    #expect(!found.isEmpty)
  }
}

/// The rules for the calls of a run.
///
/// 1. What gets its final name by a rename was synchronized before, with every file and directory
///    in it.
/// 2. A new name, and one removed by a rename, is synchronized in its directory before the next
///    change is requested from the org, and before the program exits.
/// 3. The ledger is synchronized before a change is requested from the org.
struct DurabilityRules {
  private let root: String
  /// Files whose content is not on disk.
  private var unwritten: Set<String> = []
  /// Names that are not on disk, by directory.
  private var unnamed: [String: Set<String>] = [:]
  private var problems: [String] = []
  private var last: [String] = []
  init(root: String) { self.root = root }

  mutating func take(_ line: String) {
    let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return }
    last = last.suffix(7) + [line.replacing(root, with: "")]
    switch parts[0] {
    case "write": if isOurs(parts[1]) { unwritten.insert(parts[1]) }
    case "sync":
      unwritten.remove(parts[1])
      unnamed[parts[1]] = nil
    case "name": if isOurs(parts[1]) { unnamed[parent(parts[1]), default: []].insert(parts[1]) }
    case "remove":
      unwritten.remove(parts[1])
      unnamed[parent(parts[1])]?.remove(parts[1])
    case "move":
      let names = parts[1].split(separator: "\t").map(String.init)
      if names.count == 2, isOurs(names[1]) { move(names[0], names[1]) }
    case "request": if isChange(parts[1]) { request() }
    default: break
    }
  }

  mutating func ended() -> [String] {
    checkNames("at the end")
    return Array(Set(problems)).sorted()
  }

  private mutating func move(_ from: String, _ to: String) {
    func isIn(_ path: String) -> Bool { path == from || path.hasPrefix(from + "/") }
    for path in unwritten where isIn(path) {
      problems.append("\(short(path)) was not synchronized before it became \(short(to))")
    }
    for (directory, names) in unnamed where isIn(directory) && !names.isEmpty {
      problems.append("the names in \(short(directory)) were not before it became \(short(to))")
    }
    unwritten = unwritten.filter { !isIn($0) }
    unnamed = unnamed.filter { !isIn($0.key) }
    unnamed[parent(from)]?.remove(from)
    unnamed[parent(to), default: []].insert(to)
    if parent(from) != parent(to) { unnamed[parent(from), default: []].insert(from) }
  }

  private mutating func request() {
    checkNames("when a change was sent")
    if unwritten.contains(root + "/state.sqlite-wal") {
      problems.append("the ledger was not synchronized when a change was sent: \(last)")
    }
  }

  /// Temporary files and SQLite's own need not survive.
  private mutating func checkNames(_ moment: String) {
    for (directory, names) in unnamed where !directory.contains("/.tmp-") {
      for name in names where !isPassing(name) {
        problems.append("the name \(short(name)) was not synchronized \(moment)")
      }
    }
  }

  private func isPassing(_ path: String) -> Bool {
    let name = Files.name(of: path)
    return name.hasPrefix(".tmp-") || name == "lock" || name.hasPrefix("state.sqlite")
      || name.hasSuffix("-journal") || name.hasSuffix("-wal") || name.hasSuffix("-shm")
      || path == root
  }

  /// Whether a request changes records.
  ///
  /// Logins, and queries by ID, are POST requests too.
  private func isChange(_ request: String) -> Bool {
    if request.hasPrefix("PATCH ") || request.hasPrefix("DELETE ") { return true }
    return request.hasPrefix("POST ")
      && (request.hasSuffix("/composite/sobjects") || request.hasSuffix("/composite"))
  }

  /// Files unpacked only for inspection do not matter if the run is interrupted.
  private func isOurs(_ path: String) -> Bool {
    path == root || (path.hasPrefix(root + "/") && !path.contains("/.tmp-proof"))
  }

  private func parent(_ path: String) -> String { Files.parent(of: path) ?? "/" }
  private func short(_ path: String) -> String {
    path.hasPrefix(root + "/") ? String(path.dropFirst(root.count + 1)) : path
  }
}
