import CMicrohttpd
import Glibc

/// The state that the callbacks of a server share.
///
/// It does not change after the start.
final class ServerContext: Sendable {
  let handler: @Sendable (ServerRequest) -> ServerResponse
  let bodyLimitBytes: Int

  init(handler: @escaping @Sendable (ServerRequest) -> ServerResponse, bodyLimitBytes: Int) {
    self.handler = handler
    self.bodyLimitBytes = bodyLimitBytes
  }
}

/// A request that is arriving, used only on the thread of its connection.
private final class ArrivingRequest {
  let target: String
  var body: [UInt8] = []
  var received = 0
  var hasStarted = false

  init(target: String) { self.target = target }
}

/// Called with the target of the request line, before libmicrohttpd parses it.
func serverTarget(
  _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?,
  _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
  let request = ArrivingRequest(target: target.map { String(cString: $0) } ?? "/")
  return Unmanaged.passRetained(request).toOpaque()
}

/// Called once with the head, then for each piece of the body, then with size 0 for the response.
func serverHandle(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ url: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?,
  _ version: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?,
  _ size: UnsafeMutablePointer<Int>?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let context, let connection, let method, let size, let held = state?.pointee else {
    return .NO
  }
  let server = Unmanaged<ServerContext>.fromOpaque(context).takeUnretainedValue()
  let request = Unmanaged<ArrivingRequest>.fromOpaque(held).takeUnretainedValue()
  if !request.hasStarted {
    request.hasStarted = true
    let announced = headers(of: connection)["Content-Length"].flatMap { Int($0) } ?? 0
    return announced > server.bodyLimitBytes ? answerTooLarge(connection) : .YES
  }
  if size.pointee > 0 {
    request.received += size.pointee
    // Excess bytes are read and discarded, so that the client receives 413. A body without end is
    // aborted.
    guard request.received <= 2 * server.bodyLimitBytes else { return .NO }
    if request.received <= server.bodyLimitBytes, let data {
      request.body.append(contentsOf: UnsafeRawBufferPointer(start: data, count: size.pointee))
    }
    size.pointee = 0
    return .YES
  }
  guard request.received <= server.bodyLimitBytes else { return answerTooLarge(connection) }
  let response = server.handler(
    ServerRequest(
      method: String(cString: method), rawTarget: request.target,
      headers: headers(of: connection), body: request.body,
      remote: SocketAddress.text(attache_mhd_client_address(connection))))
  request.body = []
  return ServerAnswer.send(response, on: connection)
}

/// Called when a request has been answered or aborted.
func serverDone(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
  guard let held = state?.pointee else { return }
  Unmanaged<ArrivingRequest>.fromOpaque(held).release()
  state?.pointee = nil
}

private func answerTooLarge(_ connection: OpaquePointer) -> MHD_Result {
  ServerAnswer.send(
    ServerResponse(status: 413, headers: ["Connection": "close"]), on: connection)
}

private func headers(of connection: OpaquePointer) -> HTTPHeaders {
  var result = HTTPHeaders()
  withUnsafeMutablePointer(to: &result) {
    _ = MHD_get_connection_values(connection, .HEADER_KIND, collectHeader, $0)
  }
  return result
}

private func collectHeader(
  _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
  _ value: UnsafePointer<CChar>?
) -> MHD_Result {
  guard let context, let name else { return .NO }
  context.assumingMemoryBound(to: HTTPHeaders.self).pointee
    .add(String(cString: name), value.map { String(cString: $0) } ?? "")
  return .YES
}
