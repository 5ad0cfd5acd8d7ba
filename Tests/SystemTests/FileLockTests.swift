import Foundation
import System
import TestSupport
import Testing

@Suite struct FileLockTests {
  let directory = TemporaryDirectory()

  @Test
  func `a second holder is rejected with the first one's note until it releases the lock`() throws {
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

  @Test func `the lock of a killed holder is free`() throws {
    let path = directory.file("lock")
    try Files.append([], to: path)
    let holder = try ChildProcess.start(
      "/usr/bin/flock", ["-F", "-n", "-x", path, "/bin/sh", "-c", "echo held; exec sleep 60"],
      environment: ["PATH": "/usr/bin:/bin"])
    #expect(holder.readLine() == "held")
    let error = #expect(throws: LockError.self) { _ = try FileLock(path) }
    // Without a note, the holder is the process that the kernel lists, if it lists it.
    let text = error?.description ?? ""
    #expect(
      text == "the lock is held by another process"
        || text.hasPrefix("the lock is held by process \(holder.pid) ("), "\(text)")
    holder.kill(SIGKILL)
    holder.wait()
    _ = try FileLock(path)
  }

  /// Between its fork and its exec, a child process has a copy of all its parent's descriptors,
  /// including that of this lock.
  @Test(.timeLimit(.minutes(10)))
  func `a released lock is free, even while child processes are being started`() throws {
    let path = directory.file("lock")
    let isDone = Locked(false)
    let failures = Locked<[String]>([])
    let rounds = Locked(0)
    Parallel.perform(2) { part in
      if part == 0 {
        for _ in 0..<1000 { _ = try? ChildProcess.run("/bin/true", []) }
        isDone.withLock { $0 = true }
        return
      }
      repeat {
        do { try FileLock(path, note: nil).close() } catch {
          failures.withLock { $0.append("\(error)") }
        }
        rounds.withLock { $0 += 1 }
      } while !isDone.withLock { $0 }
    }
    let (failed, tried) = (failures.withLock { $0.count }, rounds.withLock { $0 })
    #expect(failed == 0, "\(failed) of \(tried) found it held")
  }

  @Test func `a lock file that is removed before locking, and recreated, locks all`() throws {
    let path = directory.file("lock")
    var looks = 0
    var other: FileLock?
    #expect(throws: LockError.self) {
      _ = try FileLock(path, exclusive: true, note: nil) {
        looks += 1
        if looks > 1 { return }
        try? Files.remove(path)
        other = try? FileLock(path, note: nil)
      }
    }
    #expect(looks == 2 && other != nil)
    other?.close()
    looks = 0
    let lock = try FileLock(path, exclusive: true, note: nil) {
      looks += 1
      if looks == 1 { try? Files.remove(path) }
    }
    #expect(looks == 2)
    #expect(throws: LockError.self) { _ = try FileLock(path) }
    lock.close()
    // If another process removes the file again and again, the attempts end.
    #expect(throws: LockError.self) {
      _ = try FileLock(path, exclusive: true, note: nil) { try? Files.remove(path) }
    }
  }
}
