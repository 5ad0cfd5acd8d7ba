import System
import Testing

/// What a run publishes is on disk before it gets its name, and the name is on disk before the run
/// continues.
@Suite struct DurabilityTests {
  private enum Call {
    case sync(String)
    case rename(from: String, to: String)
  }

  /// The calls of a whole run, in order, that concern the pipeline's directory.
  private func calls(of world: World) throws -> [Call] {
    let log = world.directory.file("order")
    var environment = world.variables
    for name in ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"] {
      environment[name] = ProcessEnvironment.variable(name)
    }
    environment["LD_PRELOAD"] = try KillShim.order.get().path
    environment["ORDER_LOG"] = log
    let result = try ChildProcess.run(
      ChildRun.executable, ["run", world.pipeline.file, "--quiet", "--data", world.root],
      environment: environment)
    #expect(result.status == 0, "\(String(decoding: result.error, as: UTF8.self))")
    let text = String(decoding: try Files.read(log), as: UTF8.self)
    return text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: "\t").map(String.init)
      return parts[0] == "sync" ? .sync(parts[1]) : .rename(from: parts[1], to: parts[2])
    }
  }

  private func parent(_ path: String) -> String { Files.parent(of: path) ?? "/" }

  @Test func `a file is synchronized before its rename, the directory after it`() async throws {
    let world = try World()
    let (device, account) = try await world.primed("ada", first: "accounts")
    try world.handBack(device, as: "ada.db", edited: account, ["Phone": "+1 555 0170"])
    let calls = try calls(of: world)
    let root = try Files.resolved(world.data.path)
    var renames = 0
    for (place, call) in calls.enumerated() {
      // Files unpacked only for inspection do not matter if the run is interrupted.
      guard case .rename(let from, let to) = call, to.hasPrefix(root), !from.contains(".tmp-proof")
      else { continue }
      renames += 1
      let before = Set(
        calls[..<place].compactMap { if case .sync(let path) = $0 { path } else { nil } })
      let after = Set(
        calls[(place + 1)...].compactMap { if case .sync(let path) = $0 { path } else { nil } })
      #expect(after.contains(parent(to)), "\(to) has its name, and its directory does not")
      #expect(
        parent(from) == parent(to) || after.contains(parent(from)), "\(from) is gone for a while")
      // A file that is only moved, or marked for removal, was written before.
      let isPublished = Files.name(of: from).hasPrefix(".tmp-")
      // A link has no content but its target.
      guard isPublished, Files.exists(to), !Files.isSymbolicLink(to) else { continue }
      for path in try everything(below: to) {
        let old = from + path.dropFirst(to.count)
        #expect(before.contains(old), "\(path) has its name before its content")
      }
    }
    #expect(renames >= 12, "otherwise the test shows nothing")
    let names = Set(
      calls.compactMap { if case .rename(_, let to) = $0 { Files.name(of: to) } else { nil } })
    #expect(names.isSuperset(of: ["current", "2", "ios.bundle.tar.zst"]))
  }

  /// A file, or a directory with its content except what later stages add.
  private func everything(below path: String) throws -> [String] {
    guard Files.isDirectory(path) else { return [path] }
    var found = [path]
    for name in try Files.list(path) where !name.contains(".bundle.") {
      found += try everything(below: path + "/" + name)
    }
    return found
  }
}
