import CCurl
import Synchronization
import System

/// One request on its way.
///
/// `@unchecked Sendable`: the closures are set before it is handed to the loop through its mutex;
/// from then on everything but the atomic flag is touched by the loop's thread only.
final class Transfer: @unchecked Sendable {
  let request: HTTPRequest
  /// Called once, on the loop's thread or on the caller's if the loop has ended.
  var onCompletion: (@Sendable (Result<HTTPResponse, HTTPError>, [UInt8]) -> Void)?
  /// Called as the body of an answer with status 200 grows.
  var onBody: (@Sendable (UnsafeRawBufferPointer) -> Void)?
  private let cancellation = Atomic<Bool>(false)

  var body: [UInt8]
  var headers = HTTPHeaders()
  var status = 0
  /// The blank line after the last head was seen: without it a cut head would pass for an answer.
  var headIsComplete = false
  var isTooLarge = false
  /// How often curl was about to write the request to a connection.
  var attempts = 0
  var limitBytes = Int.max
  /// For a page of a chain: the page after it is known, or known not to be.
  var isFollowed = false
  /// For a page of a chain: so many bytes were searched for the next page's address.
  var lookedAtBytes = 0

  init(_ request: HTTPRequest, buffer: [UInt8] = []) {
    self.request = request
    body = buffer
  }

  var isCancelled: Bool { cancellation.load(ordering: .acquiring) }
  func markCancelled() { cancellation.store(true, ordering: .releasing) }

  func finish(_ result: Result<HTTPResponse, HTTPError>) {
    let completion = onCompletion
    onCompletion = nil
    onBody = nil
    var spare: [UInt8] = []
    if case .failure = result { swap(&spare, &body) }
    completion?(result, spare)
  }

  func fail(_ kind: HTTPError.Kind, _ message: String) {
    finish(
      .failure(
        HTTPError(
          kind, phase: attempts > 0 ? .afterSend : .beforeSend, url: request.urlWithoutQuery,
          message: message)))
  }

  /// Takes one line of a head as curl passes it on.
  func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    let text = line.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
    if text.starts(with: "HTTP/".utf8) {
      headers = HTTPHeaders()
      headIsComplete = false
      status = Self.status(of: text)
    } else if text.isEmpty {
      headIsComplete = line.last == UInt8(ascii: "\n")
    } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
      headers.add(Self.trimmed(text[..<colon]), Self.trimmed(text[(colon + 1)...]))
    }
    return true
  }

  /// The number after the version: `HTTP/1.1 200 OK`.
  private static func status(of line: Slice<UnsafeRawBufferPointer>) -> Int {
    let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
    return parts.count > 1 ? Int(String(decoding: parts[1], as: UTF8.self)) ?? 0 : 0
  }

  private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    var part = bytes[...]
    while let first = part.first, isBlank(first) { part = part.dropFirst() }
    while let last = part.last, isBlank(last) { part = part.dropLast() }
    return String(decoding: part, as: UTF8.self)
  }

  /// Takes a piece of the decoded body; false ends the transfer.
  func receiveBody(_ piece: UnsafeRawBufferPointer) -> Bool {
    guard piece.count <= limitBytes - body.count else {
      isTooLarge = true
      return false
    }
    if body.isEmpty { reserve() }
    body.append(contentsOf: piece)
    if status == 200, let onBody { body.withUnsafeBytes(onBody) }
    return !isCancelled
  }

  /// The announced length saves copies while the buffer grows; it is a promise, so it is capped.
  ///
  /// The buffer serves for other pages of the same query, of which some are a little longer.
  private func reserve() {
    guard headers["Content-Encoding"] == nil,
      let length = headers["Content-Length"].flatMap({ Int($0) })
    else { return }
    let promised = min(length, limitBytes, 8 << 20)
    if body.capacity < promised { body.reserveCapacity(promised + promised / 8) }
  }

  /// Whether the end of the body was told by the protocol, and not by the connection's end.
  var isDelimited: Bool {
    guard headIsComplete else { return false }
    if request.method == "HEAD" || status == 204 || status == 304 { return true }
    return headers["Content-Length"] != nil
      || headers["Transfer-Encoding"]?.lowercased().contains("chunked") == true
  }
}
