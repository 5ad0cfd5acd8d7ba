import Glibc
import System

/// A socket like a service manager's, which collects the messages it receives.
package final class DatagramListener: Sendable {
  /// The path of the socket.
  package let path: String
  private let descriptor: Int32
  package init(_ path: String) throws {
    self.path = path
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard bound == 0 else { throw SystemError(operation: "listen at", path: path, errno: errno) }
  }

  deinit { close(descriptor) }

  /// The messages so far.
  package func received() -> [String] {
    var all: [String] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { return all }
      all.append(String(decoding: buffer[..<count], as: UTF8.self))
    }
  }
}
