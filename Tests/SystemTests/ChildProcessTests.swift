import Foundation
import System
import TestSupport
import Testing

@Suite struct ChildProcessTests {
  @Test func `a program gets its input, its arguments and only the given environment`() throws {
    setenv("ATTACHE_LEAK", "1", 1)
    let result = try ChildProcess.run(
      "/bin/sh",
      [
        "-c", "cat; printf '%s|' \"$1\" \"$ATTACHE_LEAK\" \"$A\"; echo bad >&2; exit 3", "sh",
        "x y",
      ], environment: ["A": "b"], input: Array("in ".utf8))
    #expect(String(decoding: result.output, as: UTF8.self) == "in x y||b|")
    #expect(String(decoding: result.error, as: UTF8.self) == "bad\n")
    #expect(result.status == 3)
  }

  @Test func `input beyond a pipe's capacity is written while output is read`() throws {
    let input = [UInt8](repeating: 0x61, count: 1 << 20)
    let result = try ChildProcess.run("/bin/cat", [], input: input)
    #expect(result.output == input)
    #expect(result.status == 0)
  }

  @Test func `a program that does not read its input is not waited for`() throws {
    let result = try ChildProcess.run(
      "/bin/true", [], input: [UInt8](repeating: 0x61, count: 1 << 20))
    #expect(result.status == 0)
  }

  @Test func `a deadline kills a program; signals and missing programs are errors`() throws {
    #expect(throws: SystemError.self) {
      try ChildProcess.run("/bin/sleep", ["30"], deadlineSeconds: 0)
    }
    #expect(try ChildProcess.run("/bin/sh", ["-c", "kill -9 $$"]).status == 137)
    #expect(throws: SystemError.self) { try ChildProcess.run("/nowhere/program", []) }
  }

  @Test(.timeLimit(.minutes(10)))
  func `a deadline kills a program that keeps writing, but not before its time`() throws {
    let error = #expect(throws: SystemError.self) {
      try ChildProcess.run(
        "/bin/sh", ["-c", "while :; do echo more; sleep 0.05; done"], deadlineSeconds: 1)
    }
    #expect(error?.errno == ETIMEDOUT)
    let result = try ChildProcess.run(
      "/bin/sh", ["-c", "sleep 0.1; echo done"], deadlineSeconds: 30)
    #expect(result.output == Array("done\n".utf8))
  }

  @Test(.timeLimit(.minutes(10)))
  func `a program that has ended is not waited for, although a child holds its output`() throws {
    let result = try ChildProcess.run("/bin/sh", ["-c", "echo $$; sleep 1000 & echo $!; exit 3"])
    let lines = String(decoding: result.output, as: UTF8.self).split(separator: "\n")
    let child = try #require(lines.last.flatMap { Int32($0) })
    #expect(kill(child, SIGKILL) == 0)
    #expect(lines.count == 2 && result.status == 3)
  }

  @Test(arguments: [true, false])
  func `output beyond the limit is dropped, or an error`(isDropped: Bool) throws {
    func run() throws -> ChildProcess.Result {
      try ChildProcess.run(
        "/bin/sh", ["-c", "head -c 300000 /dev/zero"], outputLimit: 1000, dropsExcess: isDropped)
    }
    if isDropped {
      let result = try run()
      #expect(result.status == 0 && result.output == [UInt8](repeating: 0, count: 1000))
    } else {
      #expect(throws: SystemError.self) { try run() }
    }
  }

  @Test(.timeLimit(.minutes(10)), arguments: [true, false])
  func `child processes of a late program are killed with it`(closesStreams: Bool) throws {
    let directory = TemporaryDirectory("group")
    let file = directory.file("child")
    let streams = closesStreams ? " >/dev/null 2>&1 </dev/null" : ""
    #expect(throws: SystemError.self) {
      try ChildProcess.run(
        "/bin/sh", ["-c", "sleep 1000\(streams) & echo $! > \(file); wait"], deadlineSeconds: 1,
        asksNobody: true)
    }
    let text = String(decoding: try Files.read(file), as: UTF8.self)
    let child = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    // The process is a zombie or gone as soon as the signal has arrived.
    func isAlive() -> Bool {
      guard let status = try? Files.read("/proc/\(child)/stat") else { return false }
      return !String(decoding: status, as: UTF8.self).contains(") Z ")
    }
    let limit = Clock.monotonicNanoseconds() + 30_000_000_000
    while isAlive(), Clock.monotonicNanoseconds() < limit { Clock.pause(microseconds: 1000) }
    #expect(!isAlive())
  }

  @Test func `a running program is read line by line and asked to end`() throws {
    let program = try ChildProcess.start("/bin/sh", ["-c", "echo one; echo two; exec sleep 60"])
    #expect(program.readLine() == "one")
    #expect(program.readLine() == "two")
    program.terminate()
    #expect(program.wait() == 128 + SIGTERM)
    #expect(program.readLine() == nil)
    #expect(program.wait() == 128 + SIGTERM)
  }
}
