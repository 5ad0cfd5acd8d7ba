import Foundation
import System
import Testing

@Suite struct ProcessTests {
  @Test func `memory is counted and its peak is not below it`() {
    let resident = ProcessLimits.residentKiB()
    #expect(resident > 1000)
    #expect(ProcessLimits.highWaterKiB() >= resident / 2)
  }

  @Test func `free space is known and a temporary directory is local`() {
    #expect((ProcessLimits.freeBytes(at: "/tmp") ?? 0) > 0)
    #expect(ProcessLimits.freeBytes(at: "/no/such/place") == nil)
    #expect(!ProcessLimits.isNetworkFileSystem("/tmp"))
  }

  @Test func `the environment is read`() {
    #expect(ProcessEnvironment.variables()["PATH"] == ProcessEnvironment.variable("PATH"))
    #expect(ProcessEnvironment.executablePath().hasPrefix("/"))
    #expect(ProcessEnvironment.currentDirectory().hasPrefix("/"))
  }

  @Test func `an error says what, where and why`() {
    let error = SystemError(operation: "open", path: "/x/y", errno: ENOENT)
    #expect(error.description == "cannot open /x/y: No such file or directory")
  }
}
