import Glibc

/// A started program that runs in the background.
package final class RunningProcess: Sendable {
  /// The destination of the program's standard error.
  package enum ErrorStream: Sendable {
    /// The standard error of this process.
    case inherited
    /// The output is discarded.
    case discarded
    /// The output is appended to a file.
    case file(String)
  }

  private struct Output: Sendable {
    var descriptor: Int32
    var pending: [UInt8] = []
  }

  /// The process ID.
  package let pid: Int32
  private let output: Locked<Output>
  private let status = Locked<Int32?>(nil)

  init(pid: Int32, output: Int32) {
    self.pid = pid
    self.output = Locked(Output(descriptor: output))
  }

  // A child process outlives its handle unless it is asked to end; then no one waits for it.
  deinit { output.withLock { if $0.descriptor >= 0 { close($0.descriptor) } } }

  /// Sends SIGTERM.
  package func terminate() { kill(SIGTERM) }

  /// Sends a signal, unless the process has been waited for: its ID may belong to another process
  /// by now.
  package func kill(_ signal: Int32) {
    status.withLock { if $0 == nil { Glibc.kill(pid, signal) } }
  }

  /// Waits for the end of the process and returns its exit code, or 128 + the number of its signal.
  @discardableResult
  package func wait() -> Int32 {
    // Wait without reaping first, so that the lock does not delay `kill` on another thread.
    var information = siginfo_t()
    _ = retryingInterrupts { Int(waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT)) }
    return status.withLock { status in
      if let status { return status }
      let found = ChildProcess.waitForExit(pid)
      status = found
      return found
    }
  }

  /// The next line of the standard output, without its line end; nil at the end.
  package func readLine() -> String? {
    output.withLock { output in
      while true {
        if let end = output.pending.firstIndex(of: 0x0A) {
          let line = String(decoding: output.pending[..<end], as: UTF8.self)
          output.pending.removeSubrange(...end)
          return line
        }
        if !RunningProcess.readMore(&output) {
          if output.pending.isEmpty { return nil }
          defer { output.pending = [] }
          return String(decoding: output.pending, as: UTF8.self)
        }
      }
    }
  }

  private static func readMore(_ output: inout Output) -> Bool {
    let descriptor = output.descriptor
    return withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
      let count = retryingInterrupts { read(descriptor, buffer.baseAddress, buffer.count) }
      if count > 0 { output.pending.append(contentsOf: buffer[..<count]) }
      return count > 0
    }
  }
}
