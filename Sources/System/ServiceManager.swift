import Glibc

/// What systemd is told of a service that asks to be (sd_notify(3)): `NOTIFY_SOCKET` names where.
package enum ServiceManager {
  /// Tells a state, as `READY=1`, `STOPPING=1` or `STATUS=…`; nobody hears it where no service manager asks.
  ///
  /// It is one datagram, and no answer is waited for.
  package static func tell(_ state: String, _ variables: [String: String]) {
    guard let place = variables["NOTIFY_SOCKET"], place.hasPrefix("/") || place.hasPrefix("@")
    else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // A name that begins with @ is one of no file: its first byte is 0.
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
