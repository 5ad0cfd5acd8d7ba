import CMicrohttpd
import Glibc

/// Passes responses to libmicrohttpd, with their injected faults.
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
    let source = BodySource(response)
    switch response.fault {
    case .dropBeforeBody: source.sending = 0
    case .dropAfter(let bytes): source.sending = min(source.sending, bytes)
    case .pause(let bytes, let gate): source.gate = (bytes, gate)
    default:
      guard response.stream == nil else { break }
      return response.body.withUnsafeBytes {
        MHD_create_response_from_buffer(
          $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
      }
    }
    // The announced length is that of the whole body, so the client notices a truncated one. An
    // empty body cannot be truncated: a client that has the head has all of it.
    return MHD_create_response_from_callback(
      response.stream == nil ? UInt64(response.body.count) : unknownSize, 64 << 10, readBody,
      Unmanaged.passRetained(source).toOpaque(), freeBody)
  }
}

/// A body that is sent piece by piece, used only on the thread of its connection.
private final class BodySource {
  private var piece: [UInt8]
  private var offset = 0
  private let stream: (@Sendable () throws -> [UInt8]?)?
  /// The number of body bytes after which the connection is closed.
  var sending: Int
  var gate: (afterBytes: Int, until: @Sendable () -> Void)?

  init(_ response: ServerResponse) {
    piece = response.stream == nil ? response.body : []
    stream = response.stream
    sending = response.stream == nil ? response.body.count : Int.max
  }

  /// Fills the buffer from the current or the next piece; 0 is the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    while offset == piece.count {
      guard let next = try stream?() else { return 0 }
      (piece, offset) = (next, 0)
    }
    let count = min(buffer.count, piece.count - offset)
    buffer.copyBytes(from: piece[offset..<offset + count])
    offset += count
    return count
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
  guard start < end else { return endWithError }
  let most = UnsafeMutableRawBufferPointer(start: buffer, count: min(room, end - start))
  // If the stream fails, the response is aborted. The client notices, as the last chunk is missing.
  guard let count = try? source.read(into: most) else { return endWithError }
  return count > 0 ? count : endOfStream
}

private func freeBody(_ context: UnsafeMutableRawPointer?) {
  guard let context else { return }
  Unmanaged<BodySource>.fromOpaque(context).release()
}

/// MHD_SIZE_UNKNOWN, MHD_CONTENT_READER_END_OF_STREAM and …_END_WITH_ERROR: macros with casts,
/// which Swift does not import.
private let unknownSize = UInt64.max
private let endOfStream = -1
private let endWithError = -2
