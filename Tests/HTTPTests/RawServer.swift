import Foundation
import Glibc
import System

/// A server that answers each connection with the given bytes and closes it, for responses that no
/// proper server sends.
final class RawServer: Sendable {
  let port: UInt16
  private let listener: Int32

  /// `answer` receives the number of the connection and the request's bytes up to the blank line.
  ///
  /// It answers once it has read a head, or `headBytes` bytes if that is given.
  init(
    headBytes: Int = .max,
    _ answer: @escaping @Sendable (_ connection: Int, _ request: String) -> [UInt8]
  ) {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = listener
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(descriptor, $0, length)
        _ = listen(descriptor, 64)
        _ = getsockname(descriptor, $0, &length)
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread {
      var number = 0
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { break }
        let request = Self.readHead(connection, headBytes)
        let bytes = answer(number, request)
        number += 1
        _ = bytes.withUnsafeBytes {
          send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        shutdown(connection, Int32(SHUT_WR))
        close(connection)
      }
      // Closed here: otherwise the next `accept` could be on a listener of another server, which got
      // the same number.
      close(descriptor)
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  var url: String { "http://127.0.0.1:\(port)/" }

  private static func readHead(_ connection: Int32, _ limit: Int) -> String {
    var head: [UInt8] = []
    var byte = [UInt8](repeating: 0, count: 4096)
    while head.count < limit, !String(decoding: head, as: UTF8.self).contains("\r\n\r\n") {
      let count = recv(connection, &byte, byte.count, 0)
      if count <= 0 { break }
      head += byte[..<count]
    }
    return String(decoding: head, as: UTF8.self)
  }

  /// Sends bytes to a port and returns everything received until the server closes the connection.
  static func exchange(port: Int, _ text: String) -> String {
    let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(connection) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    let bytes = Array(text.utf8)
    _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = recv(connection, &buffer, buffer.count, 0)
      if count <= 0 { break }
      result += buffer[..<count]
    }
    return String(decoding: result, as: UTF8.self)
  }
}

/// A gate that a server's thread or a test's task waits at until the other opens it.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let semaphore = DispatchSemaphore(value: 0)
  private let state = Locked(State())

  func open() {
    semaphore.signal()
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Blocks a server's thread until the gate opens.
  ///
  /// The wait has a limit, so that a failing test ends, but it is longer than a test may wait on a
  /// busy machine.
  @discardableResult func wait(seconds: Int = 100) -> Bool {
    semaphore.wait(timeout: .now() + .seconds(seconds)) == .success
  }

  /// Suspends a task until the gate opens: blocking would starve the pool that opens it.
  func opened() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}

final class Counter: Sendable {
  private let value = Locked(0)
  @discardableResult func increment() -> Int {
    value.withLock {
      $0 += 1
      return $0
    }
  }
  var count: Int { value.withLock { $0 } }
}
