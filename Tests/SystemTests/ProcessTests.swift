import Foundation
import System
import Testing

@Suite struct ProcessTests {
  @Test func `peak memory is measured`() { #expect(ProcessLimits.highWaterKiB() > 1000) }

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

  @Test func `an error has the operation, the path and the reason`() {
    let error = SystemError(operation: "open", path: "/x/y", errno: ENOENT)
    #expect(error.description == "cannot open /x/y: No such file or directory")
  }
}
