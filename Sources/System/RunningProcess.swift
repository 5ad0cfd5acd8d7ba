import Glibc

/// A program that was started and goes on by itself.
package final class RunningProcess: Sendable {
  /// Where its standard error goes.
  package enum ErrorStream: Sendable {
    /// Where ours goes.
    case inherited
    /// Nowhere.
    case discarded
    /// To the end of a file.
    case file(String)
  }

  private struct Output: Sendable {
    var descriptor: Int32
    var pending: [UInt8] = []
  }

  /// Its id.
  package let pid: Int32
  private let output: Locked<Output>
  private let status = Locked<Int32?>(nil)

  init(pid: Int32, output: Int32) {
    self.pid = pid
    self.output = Locked(Output(descriptor: output))
  }

  // A child outlives its handle unless it is told to end; nobody waits for it then.
  deinit { output.withLock { if $0.descriptor >= 0 { close($0.descriptor) } } }

  /// Asks it to end.
  package func terminate() { kill(SIGTERM) }

  /// Sends it a signal, unless it has been waited for: its id may belong to another by now.
  package func kill(_ signal: Int32) {
    status.withLock { if $0 == nil { Glibc.kill(pid, signal) } }
  }

  /// Waits for its end: its exit code, or 128 + the signal that ended it.
  @discardableResult
  package func wait() -> Int32 {
    // Waits without reaping first, so that `kill` on another thread is not held up by the lock.
    var information = siginfo_t()
    _ = retryingInterrupts { Int(waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT)) }
    return status.withLock { status in
      if let status { return status }
      let found = ChildProcess.waitForExit(pid)
      status = found
      return found
    }
  }

  /// The next line of its standard output, without the line's end; nil at the end.
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
