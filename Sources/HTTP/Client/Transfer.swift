import CCurl
import Synchronization
import System

/// One request in progress.
///
/// `@unchecked Sendable`: the closures are set before the loop receives the transfer through its
/// mutex. From then on, only the loop's thread uses anything except the atomic flag.
final class Transfer: @unchecked Sendable {
  let request: HTTPRequest
  /// Called once, on the loop's thread, or on the caller's if the loop has ended.
  var onCompletion: (@Sendable (Result<HTTPResponse, HTTPError>, [UInt8]) -> Void)?
  /// Called whenever bytes are added to the body of a response with status 200.
  var onBody: (@Sendable (UnsafeRawBufferPointer) -> Void)?
  private let cancellation = Atomic<Bool>(false)

  var body: [UInt8]
  var headers = HTTPHeaders()
  var status = 0
  /// Whether the blank line after the last head has arrived.
  ///
  /// Without this check, a truncated head would pass for a response.
  var headIsComplete = false
  var isTooLarge = false
  /// The number of times that curl was ready to write the request to a connection.
  var attempts = 0
  var limitBytes = Int.max
  /// The file that is sent, and the number of its bytes that were.
  private var source: (part: FilePart, sent: Int)?
  private var file: FileDescriptorHandle?
  /// Why the file could not be read.
  private(set) var fileError: SystemError?
  /// For a page of a chain: whether its next page is known, or known not to exist.
  var isFollowed = false
  /// For a page of a chain: the number of bytes already searched for the next page's address.
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

  /// Opens the file that is the request's body.
  func open(_ part: FilePart) throws(HTTPError) {
    do throws(SystemError) {
      file = try Files.openInput(part.path)
      source = (part, 0)
    } catch {
      throw HTTPError(
        .file, phase: .beforeSend, url: request.urlWithoutQuery, message: error.description)
    }
  }

  /// Reads the next bytes of the file; nil if they cannot be read.
  func readFile(into room: UnsafeMutableRawBufferPointer) -> Int? {
    guard let (part, sent) = source else { return nil }
    let wanted = min(room.count, part.count - sent)
    if wanted == 0 { return 0 }
    do throws(SystemError) {
      let piece = UnsafeMutableRawBufferPointer(rebasing: room[..<wanted])
      let count = try file?.read(into: piece, at: part.offset + sent) ?? 0
      // A file that became shorter must not look like the end of the body.
      if count == 0 { throw .tooShort(part.path) }
      source = (part, sent + count)
      return count
    } catch {
      fileError = error
      return nil
    }
  }

  /// Processes one line of a head, as curl passes it.
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

  /// Adds a piece of the decoded body; returning false ends the transfer.
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

  /// Reserves the announced length, to avoid copies while the buffer grows.
  ///
  /// The length is not trusted, so it is capped.
  ///
  /// The buffer is reused for other pages of the same query, and some of them are slightly longer.
  private func reserve() {
    guard headers["Content-Encoding"] == nil,
      let length = headers["Content-Length"].flatMap({ Int($0) })
    else { return }
    let promised = min(length, limitBytes, 8 << 20)
    if body.capacity < promised { body.reserveCapacity(promised + promised / 8) }
  }

  /// Whether the protocol marked the end of the body, rather than the end of the connection.
  var isDelimited: Bool {
    guard headIsComplete else { return false }
    if request.method == "HEAD" || status == 204 || status == 304 { return true }
    return headers["Content-Length"] != nil
      || headers["Transfer-Encoding"]?.lowercased().contains("chunked") == true
  }
}
