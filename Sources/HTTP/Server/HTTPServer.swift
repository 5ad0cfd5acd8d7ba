import CMicrohttpd
import Glibc
import System

/// An HTTP/1.1 server on top of libmicrohttpd, with a thread for each connection.
///
/// A handler may block; it delays only its own connection.
package final class HTTPServer: Sendable {
  /// The address to listen on, and the limits of a request.
  package struct Configuration: Sendable {
    /// The numeric address to bind.
    package var address = "127.0.0.1"
    /// The port to bind; 0 for any free port.
    package var port: UInt16 = 0
    /// The certificate chain and its private key, both in PEM; nil for plain HTTP.
    package var identity: (certificate: String, key: String)?
    /// The maximum size of a request's body; a larger one is answered with status 413.
    package var bodyLimitBytes = 64 << 20
    /// The maximum size of the request line and the header together; larger ones are answered with
    /// 414 or 431.
    package var connectionMemoryBytes = 128 << 10
    /// The time after which an idle connection is closed.
    package var idleSeconds: UInt32 = 120

    /// Creates a configuration for plain HTTP on any free port of the loopback interface.
    package init() {}
  }

  /// The bound port.
  package let port: Int
  /// `http://127.0.0.1:PORT`, or https.
  package let url: String

  private struct Daemon: @unchecked Sendable {
    // An opaque pointer that is passed only to `MHD_stop_daemon`, once, under the mutex.
    var pointer: OpaquePointer?
  }

  private let daemon: Locked<Daemon>
  private let context: ServerContext

  /// Starts listening; `handler` is called on the threads of the connections.
  package init(
    _ configuration: Configuration = Configuration(),
    handler: @escaping @Sendable (ServerRequest) -> ServerResponse
  ) throws(HTTPError) {
    let address = try SocketAddress(configuration.address, port: configuration.port)
    context = ServerContext(handler: handler, bodyLimitBytes: configuration.bodyLimitBytes)
    guard let started = Self.start(configuration, address, context) else {
      throw HTTPError(
        .other, phase: .beforeSend, url: "\(configuration.address):\(configuration.port)",
        message: Self.words(errno, configuration))
    }
    port = Int(attache_mhd_port(started))
    let scheme = configuration.identity == nil ? "http" : "https"
    let host = address.isIPv6 ? "[\(configuration.address)]" : configuration.address
    url = "\(scheme)://\(host):\(port)"
    daemon = Locked(Daemon(pointer: started))
  }

  deinit { stop() }

  /// Stops listening, closes every connection and waits for their handlers.
  package func stop() {
    let taken = daemon.withLock { daemon in
      defer { daemon.pointer = nil }
      return Daemon(pointer: daemon.pointer)
    }
    if let pointer = taken.pointer { MHD_stop_daemon(pointer) }
  }

  private static func start(
    _ configuration: Configuration, _ address: SocketAddress, _ context: ServerContext
  ) -> OpaquePointer? {
    var flags =
      MHD_USE_THREAD_PER_CONNECTION.rawValue | MHD_USE_INTERNAL_POLLING_THREAD.rawValue
      | MHD_USE_POLL.rawValue
    if address.isIPv6 { flags |= MHD_USE_IPv6.rawValue }
    if configuration.identity != nil { flags |= MHD_USE_TLS.rawValue }
    // Both must live until the daemon has started, when GnuTLS parses them.
    let certificate = configuration.identity.map { Array($0.certificate.utf8CString) } ?? [0]
    let key = configuration.identity.map { Array($0.key.utf8CString) } ?? [0]
    let contextPointer = Unmanaged.passUnretained(context).toOpaque()
    return certificate.withUnsafeBufferPointer { certificate in
      key.withUnsafeBufferPointer { key in
        var options = [
          MHD_OptionItem(
            option: .CONNECTION_MEMORY_LIMIT, value: Int(configuration.connectionMemoryBytes),
            ptr_value: nil),
          MHD_OptionItem(
            option: .CONNECTION_TIMEOUT, value: Int(configuration.idleSeconds), ptr_value: nil),
          attache_mhd_target_option(serverTarget, contextPointer),
        ]
        if configuration.identity != nil {
          options.append(item(.HTTPS_MEM_CERT, certificate.baseAddress))
          options.append(item(.HTTPS_MEM_KEY, key.baseAddress))
        }
        options.append(MHD_OptionItem(option: .END, value: 0, ptr_value: nil))
        return withoutPipeSignal {
          address.withPointer {
            attache_mhd_start(flags, $0, serverHandle, contextPointer, serverDone, options)
          }
        }
      }
    }
  }

  /// Returns the message for an error of `bind` or `listen`.
  private static func words(_ code: Int32, _ configuration: Configuration) -> String {
    let place = "port \(configuration.port) of \(configuration.address)"
    return switch code {
    case EADDRINUSE: "\(place) is in use by another program"
    case EACCES: "\(place) is reserved for root"
    case EADDRNOTAVAIL: "this machine has no address \(configuration.address)"
    default: "cannot listen on \(place): \(String(cString: strerror(code)))"
    }
  }

  private static func item(_ option: MHD_OPTION, _ text: UnsafePointer<CChar>?) -> MHD_OptionItem {
    MHD_OptionItem(option: option, value: 0, ptr_value: UnsafeMutableRawPointer(mutating: text))
  }
}
