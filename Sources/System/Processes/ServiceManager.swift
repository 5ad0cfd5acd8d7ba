import Glibc

/// Notifications to systemd (sd_notify(3)), sent to the socket in `NOTIFY_SOCKET`.
package enum ServiceManager {
  /// Sends a state such as `READY=1`, `STOPPING=1` or `STATUS=…`; does nothing without a service
  /// manager.
  ///
  /// The state is sent as one datagram without a response.
  package static func tell(_ state: String, _ variables: [String: String]) {
    guard let place = variables["NOTIFY_SOCKET"], place.hasPrefix("/") || place.hasPrefix("@")
    else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // A name that starts with @ is an abstract socket: its first byte is 0.
    var name = Array(place.utf8)
    if name[0] == UInt8(ascii: "@") { name[0] = 0 }
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard name.count < room else { return }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size - room + name.count)
    let bytes = Array(state.utf8)
    _ = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(
          descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), $0,
          length)
      }
    }
  }
}
