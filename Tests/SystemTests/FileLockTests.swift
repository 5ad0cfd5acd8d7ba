import Foundation
import System
import TestSupport
import Testing

@Suite struct FileLockTests {
  let directory = TemporaryDirectory()

  @Test func `a second holder is refused with the first one's note, until it lets go`() throws {
    let path = directory.file("lock")
    let first = try FileLock(path, note: "run 7")
    let error = #expect(throws: LockError.self) { _ = try FileLock(path) }
    let text = try #require(error?.description)
    #expect(text.contains("process \(getpid())") && text.contains("run 7"), "\(text)")
    #expect(throws: LockError.self) { _ = try FileLock(path, exclusive: false) }
    first.close()
    let shared = try FileLock(path, exclusive: false)
    _ = try FileLock(path, exclusive: false)
    #expect(throws: LockError.self) { _ = try FileLock(path) }
    shared.close()
    #expect(Files.exists(path))
  }

  @Test func `a killed holder's lock is free`() throws {
    let path = directory.file("lock")
    try Files.append([], to: path)
    let holder = try ChildProcess.start(
      "/usr/bin/flock", ["-F", "-n", "-x", path, "/bin/sh", "-c", "echo held; exec sleep 60"],
      environment: ["PATH": "/usr/bin:/bin"])
    #expect(holder.readLine() == "held")
    #expect(throws: LockError.self) { _ = try FileLock(path) }
    holder.kill(SIGKILL)
    holder.wait()
    _ = try FileLock(path)
  }
}
