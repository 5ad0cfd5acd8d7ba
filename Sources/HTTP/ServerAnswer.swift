import CMicrohttpd
import Glibc

/// Hands answers to libmicrohttpd, with their injected faults.
enum ServerAnswer {
  static func send(_ response: ServerResponse, on connection: OpaquePointer) -> MHD_Result {
    switch response.fault {
    case .dropBeforeHead: return .NO
    case .delay(let milliseconds): usleep(UInt32(clamping: milliseconds) &* 1000)
    default: break
    }
    guard let handle = make(response) else { return .NO }
    defer { MHD_destroy_response(handle) }
    for field in response.headers.all {
      _ = MHD_add_response_header(handle, field.name, field.value)
    }
    return MHD_queue_response(connection, UInt32(response.status), handle)
  }

  private static func make(_ response: ServerResponse) -> OpaquePointer? {
    let source: BodySource
    switch response.fault {
    case .dropBeforeBody: source = BodySource(response.body, sending: 0)
    case .dropAfter(let bytes): source = BodySource(response.body, sending: bytes)
    case .pause(let bytes, let gate):
      source = BodySource(response.body, sending: response.body.count, gate: (bytes, gate))
    default:
      return response.body.withUnsafeBytes {
        MHD_create_response_from_buffer(
          $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
      }
    }
    // The length announced is the whole body's: what is cut off is seen as missing. An empty body
    // has nothing to cut, and a client that got the head has all of it.
    return MHD_create_response_from_callback(
      UInt64(response.body.count), 64 << 10, readBody, Unmanaged.passRetained(source).toOpaque(),
      freeBody)
  }
}

/// A body that is handed out piece by piece; touched by its connection's thread only.
private final class BodySource {
  let bytes: [UInt8]
  let sending: Int
  var gate: (afterBytes: Int, until: @Sendable () -> Void)?

  init(_ bytes: [UInt8], sending: Int, gate: (Int, @Sendable () -> Void)? = nil) {
    self.bytes = bytes
    self.sending = min(sending, bytes.count)
    self.gate = gate
  }
}

private func readBody(
  _ context: UnsafeMutableRawPointer?, _ position: UInt64,
  _ buffer: UnsafeMutablePointer<CChar>?, _ room: Int
) -> Int {
  guard let context, let buffer else { return endWithError }
  let source = Unmanaged<BodySource>.fromOpaque(context).takeUnretainedValue()
  let start = Int(position)
  var end = source.sending
  if let gate = source.gate {
    if start < gate.afterBytes {
      end = min(end, gate.afterBytes)
    } else {
      gate.until()
      source.gate = nil
    }
  }
  let count = min(room, end - start)
  guard count > 0 else { return endWithError }
  UnsafeMutableRawBufferPointer(start: buffer, count: count)
    .copyBytes(from: source.bytes[start..<start + count])
  return count
}

private func freeBody(_ context: UnsafeMutableRawPointer?) {
  guard let context else { return }
  Unmanaged<BodySource>.fromOpaque(context).release()
}

/// MHD_CONTENT_READER_END_WITH_ERROR, a cast macro that Swift does not import.
private let endWithError = -2
