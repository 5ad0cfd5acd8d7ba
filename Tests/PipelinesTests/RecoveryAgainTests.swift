import Glibc
import System
import Testing

@Suite struct RecoveryAgainTests {
  let world: World
  init() throws { world = try World() }

  private func newest() throws -> Int {
    try world.data.generations(of: world.user("ada").id).last ?? 0
  }

  @Test func `the later of two recoveries from one backup has higher numbers`() async throws {
    try await world.run()
    let file = try world.backUp()
    try Files.remove(world.data.path)
    try world.recover { ($0.backup, $0.now) = (file, $0.now + 7_200_000) }
    try await world.run()
    let account = try #require(try world.ids("accounts", on: world.device("ada")).first)
    for text in ["one", "two", "three"] {
      try world.change(account, ["Description": .string(text)])
      try await world.run()
    }
    let first = try newest()
    #expect(first > 1000)
    // A phone's generation from the first recovery has a lower number than any from the second.
    try Files.remove(world.data.path)
    try world.recover { ($0.backup, $0.now) = (file, $0.now + 18_000_000) }
    try await world.run()
    #expect(try newest() > first)
  }

  @Test func `after the whole directory is restored, numbers increase anyway`() async throws {
    try await world.run()
    try world.loseLedger()
    try world.recover { $0.isRestored = true }
    let account = try #require(try world.ids("accounts", on: world.device("ada")).first)
    try world.change(account, ["Description": "new"])
    try await world.run()
    #expect(try newest() > 1000)
  }

  @Test func `with a wrong clock, two recoveries never start the same epoch`() async throws {
    try await world.run()
    let file = try world.backUp()
    var epochs: Set<Int64> = []
    for _ in 0..<3 {
      try Files.remove(world.data.path)
      epochs.insert(try world.recover { ($0.backup, $0.now) = (file, 1_000_000) }.epoch)
    }
    #expect(epochs.count == 3 && epochs.allSatisfy { $0 > 1000 })
  }

  @Test func `a backup succeeds during an upload`() async throws {
    try await world.run()
    let upload = world.data.inbox("inbox") + "/upload.zip"
    let bytes = [UInt8](repeating: 7, count: 8 << 20)
    try DurableFile.write(bytes, to: upload)
    let isOver = Locked(false)
    // It restarts again and again, on a thread that does not block other tests.
    var uploading: Parallel.Running?
    await withCheckedContinuation { begun in
      uploading = Parallel.begin(1) { _ in
        begun.resume()
        let file = open(upload, O_WRONLY)
        while !isOver.withLock({ $0 }) {
          ftruncate(file, 0)
          pwrite(file, bytes, bytes.count, 0)
        }
        close(file)
      }
    }
    let made: Result<String, any Error>
    do { made = .success(try world.backUp()) } catch { made = .failure(error) }
    isOver.withLock { $0 = true }
    uploading?.wait()
    let backup = try made.get()
    let listed = try ChildProcess.run(
      "/bin/tar", ["--zstd", "-tf", backup], environment: ["PATH": "/usr/bin:/bin"])
    #expect(String(decoding: listed.output, as: UTF8.self).contains("inbox/upload.zip"))
    try Files.remove(world.data.path)
    try world.recover { $0.backup = backup }
    #expect(Files.exists(upload))
  }

  @Test func `a recovery with another pipeline file names the next run's refusal`() async throws {
    let none = try await world.program(["recover"], ["--from", "/no/backup"])
    #expect(none.status == 2 && none.messages.contains("correct --from"), "\(none.everything)")
    let backup = try await world.runAndBackUp()
    let copy = world.directory.file("pipelines/copy.json")
    try Files.copy(world.pipeline.file, to: copy)
    let place = world.directory.file("elsewhere")
    let arguments = [copy, "--data", place]
    let told = try await ProgramRun.blocking(
      ["recover"] + arguments + ["--from", backup], variables: world.variables)
    #expect(told.status == 0, "\(told.everything)")
    #expect(
      told.output.contains(
        "next: remove or rename \(world.pipeline.file), which has the same name"))
    let refused = try await ProgramRun.blocking(["run"] + arguments, variables: world.variables)
    #expect(refused.status == 4 && refused.everything.contains("pipeline.twice"))
    // As the message suggested.
    try Files.remove(world.pipeline.file)
    let ran = try await ProgramRun.blocking(["run"] + arguments, variables: world.variables)
    #expect(ran.status == 0, "\(ran.everything)")
  }

  /// Neither status nor a run starts from scratch, and each names the reason.
  private func expectRefused(_ code: String, _ place: String) async throws {
    for command in [["run"], ["run", "--dry-run"], ["status"]] {
      let said = try await world.program(command)
      #expect(said.status == 4, "\(command): \(said.everything)")
      #expect(said.everything.contains(code), "\(said.everything)")
      #expect(said.everything.contains(place))
      #expect(said.everything.contains("--from FILE"))
    }
    #expect(!Files.exists(world.data.state))
  }

  @Test func `data that were moved aside prevent a run, but not a recovery`() async throws {
    try await world.run()
    let file = try world.backUp()
    let aside = world.root + "/demo.damaged"
    try Files.rename(world.data.path, to: aside)
    try await expectRefused("pipeline.put-aside", aside)
    let recovered = try await world.program(["recover"], ["--from", file])
    #expect(recovered.status == 0, "\(recovered.everything)")
    let ran = try await world.program(["run"])
    #expect(ran.status == 0, "\(ran.everything)")
    #expect(Files.exists(aside))
  }

  @Test func `data that were moved back, or away, prevent nothing`() async throws {
    try await world.run()
    let aside = world.root + "/demo-old"
    try Files.rename(world.data.path, to: aside)
    try await expectRefused("pipeline.put-aside", aside)
    try Files.rename(aside, to: world.data.path)
    #expect(try await world.program(["status"]).status == 0)
    try Files.rename(world.data.path, to: world.directory.file("away"))
    #expect(try await world.program(["run"]).status == 0)
  }

  @Test func `an interrupted recovery prevents runs until it is completed`() async throws {
    try await world.run()
    let file = try world.backUp()
    try Files.remove(world.data.path)
    try Files.makeDirectory(world.data.path)
    try DurableFile.write([], to: world.data.lock)
    // Another pipeline's directory has no effect.
    let other = world.root + "/.tmp-7-abc-recover-other-recover-demo"
    try Files.makeDirectory(other)
    #expect(try await world.program(["status"]).status == 0)
    let begun = world.root + "/.tmp-7-abc-recover-demo"
    try Files.makeDirectory(begun + "/data", intermediate: true)
    try await expectRefused("recover.unfinished", begun)
    let recovered = try await world.program(["recover"], ["--from", file])
    #expect(recovered.status == 0, "\(recovered.everything)")
    #expect(!Files.exists(begun) && Files.exists(other))
    let ran = try await world.program(["run"])
    #expect(ran.status == 0, "\(ran.everything)")
  }
}
