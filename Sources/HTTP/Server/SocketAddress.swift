import Glibc

/// A numeric address and a port, in the form that the C library needs.
struct SocketAddress {
  private var storage = sockaddr_storage()
  /// Whether it is an IPv6 address.
  let isIPv6: Bool

  init(_ text: String, port: UInt16) throws(HTTPError) {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE | AI_NUMERICSERV
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(text, String(port), &hints, &found) == 0, let first = found else {
      throw HTTPError(
        .notAllowed, phase: .beforeSend, url: text, message: "this is not a numeric address")
    }
    defer { freeaddrinfo(first) }
    isIPv6 = first.pointee.ai_family == AF_INET6
    withUnsafeMutableBytes(of: &storage) { destination in
      destination.copyMemory(
        from: UnsafeRawBufferPointer(
          start: first.pointee.ai_addr, count: Int(first.pointee.ai_addrlen)))
    }
  }

  func withPointer<T>(_ body: (UnsafePointer<sockaddr>) -> T) -> T {
    withUnsafePointer(to: storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
    }
  }

  /// The numeric text of a C socket address.
  static func text(_ address: UnsafePointer<sockaddr>?) -> String {
    guard let address else { return "" }
    let length =
      Int32(address.pointee.sa_family) == AF_INET6
      ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
    var name = [CChar](repeating: 0, count: 64)
    guard
      getnameinfo(
        address, socklen_t(length), &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0
    else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// Runs `body` with SIGPIPE blocked in this thread; threads that it starts inherit the mask.
///
/// A broken connection then makes a call fail, but does not end the process.
func withoutPipeSignal<T, E: Error>(_ body: () throws(E) -> T) throws(E) -> T {
  var pipe = sigset_t()
  var before = sigset_t()
  sigemptyset(&pipe)
  sigaddset(&pipe, SIGPIPE)
  pthread_sigmask(SIG_BLOCK, &pipe, &before)
  defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
  return try body()
}
