import System
import TestSupport
import Testing

@Suite struct ProgramEndTests {
  /// Detached threads ran into the handlers of `exit`: 12 of 23,000 short runs crashed.
  @Test func `short concurrent runs all exit with their status`() async throws {
    let count = CampaignSize.shortRuns.count
    let world = try World()
    try await world.run(.pack)
    let variables = world.variables
    let arguments = ["ingest", world.pipeline.file, "--data", world.root, "--quiet"]
    let failures = await StoreThread(name: "runs").run { () -> [String] in
      let failures = Locked<[String]>([])
      Parallel.perform(2) { lane in
        for number in 0..<(count / 2) {
          let run = try? ProgramRun(arguments, variables: variables)
          // 7 means that the other lane holds the lock.
          if let run, run.status == 0 || run.status == 7 { continue }
          let story = run.map { "\($0.status): \($0.everything)" } ?? "not started"
          failures.withLock { $0.append("lane \(lane), run \(number): \(story)") }
        }
      }
      return failures.withLock { $0 }
    }
    #expect(failures == [])
  }

  @Test func `the program exits after the threads that it stopped`() async throws {
    let world = try World()
    let log = world.directory.file("threads")
    let shim = try KillShim.threads.get().path
    let run = try await world.program(["run"], variables: ["LD_PRELOAD": shim, "THREAD_LOG": log])
    #expect(run.status == 0, "\(run.everything)")
    let lines = String(decoding: try Files.read(log), as: UTF8.self).split(separator: "\n")
    let before = lines.prefix { $0 != "leave" }
    #expect(before.count < lines.count)
    let ended = before.count { $0 == "ended" }
    #expect(ended >= 10, "otherwise the test shows nothing")
    #expect(before.count { $0 == "ending" } == ended)
    // At its start it waits for its trial threads, at its end for its own.
    let last = try #require(before.lastIndex(of: "create"))
    #expect(before[last...].contains("join"))
  }

  /// Below what its libraries need, the system cannot start it; above that, it reports the error
  /// itself.
  @Test(arguments: [110_000, 150_000, 200_000, 300_000, 400_000])
  func `too little memory is an error, not a crash or a hang`(kibibytes: Int) async throws {
    let world = try World()
    let run = try await world.program(
      ["run"], [], shell: "ulimit -v \(kibibytes); exec \"$@\"", deadlineSeconds: 120)
    #expect([0, 1, 4, 6, 127].contains(run.status), "\(run.status): \(run.everything)")
    #expect(run.status == 0 || !run.messages.isEmpty)
    // The interrupted work is resumed.
    let next = try await world.program(["run"])
    #expect(next.status == 0, "\(next.everything)")
  }

  /// The limit counts every process of a user, and does not apply to root, so another user has it.
  @Test(
    .enabled(
      if: ProcessEnvironment.isRoot() && Files.exists("/usr/bin/setpriv"),
      "needs root and setpriv, to be a user with no other process"), arguments: [1, 2, 3, 5, 8, 14])
  func `too few processes are an error, not a crash or a hang`(limit: Int) async throws {
    let directory = TemporaryDirectory("limit")
    try Files.setMode(of: directory.path, 0o755)
    let user = 60_000 + limit
    let run = try await ProgramRun.blocking(
      ["store", "query", directory.file("none.sqlite"), "select 1"],
      shell: """
        exec setpriv --reuid=\(user) --regid=\(user) --clear-groups \
        bash -c 'ulimit -u \(limit); exec "$@"' bash "$@"
        """, deadlineSeconds: 60)
    #expect([1, 2].contains(run.status), "\(run.status): \(run.everything)")
    if run.status == 1 { #expect(run.messages.contains("[process.threads]"), "\(run.everything)") }
  }

  @Test func `a crash without memory limits is not explained by them`() async throws {
    let run = try await ProgramRun.blocking(["help"], shell: #""$@" >&- & kill -ABRT $!; wait $!"#)
    #expect(!run.everything.contains("[memory]"))
  }
}
