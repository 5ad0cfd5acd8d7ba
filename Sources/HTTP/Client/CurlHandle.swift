import CCurl
import Glibc

/// A libcurl easy handle, set up for one transfer.
///
/// It is used only on the loop's thread.
struct CurlHandle: ~Copyable {
  let pointer: UnsafeMutableRawPointer
  private var fields: UnsafeMutablePointer<curl_slist>?
  private let message: UnsafeMutablePointer<CChar>

  /// Sets up the handle; `transfer` must outlive it.
  init(_ transfer: Transfer, _ settings: TransferRules) throws(HTTPError) {
    let (isPlain, isLoopback) = try TransferRules.check(transfer.request)
    if let part = transfer.request.file { try transfer.open(part) }
    guard let pointer = curl_easy_init() else {
      throw HTTPError(
        .other, phase: .beforeSend, url: transfer.request.urlWithoutQuery,
        message: "libcurl provided no handle")
    }
    self.pointer = pointer
    message = .allocate(capacity: Int(CURL_ERROR_SIZE))
    message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    set(CURLOPT_PROTOCOLS_STR, isPlain ? "http" : "https")
    // A proxy from the environment must not see requests to this machine.
    if isLoopback { set(CURLOPT_NOPROXY, "*") }
    setSafety(settings)
    setLimits(transfer, settings.configuration)
    setRequest(transfer)
    setCallbacks(transfer)
  }

  deinit {
    curl_easy_cleanup(pointer)
    curl_slist_free_all(fields)
    message.deallocate()
  }

  /// Curl's description of a failure.
  func text(_ code: CURLcode) -> String {
    if message.pointee != 0 { return String(cString: message) }
    return String(cString: curl_easy_strerror(code))
  }

  /// The code of the HTTP version, and the status.
  func status() -> (status: Int, isHTTP2: Bool) {
    var status = 0
    var version = 0
    _ = attache_curl_get_long(pointer, CURLINFO_RESPONSE_CODE, &status)
    _ = attache_curl_get_long(pointer, CURLINFO_HTTP_VERSION, &version)
    return (status, version >= CURL_HTTP_VERSION_2_0)
  }

  private func set(_ option: CURLoption, _ value: Int) {
    _ = attache_curl_set_long(pointer, option, value)
  }

  private func set(_ option: CURLoption, _ value: String) {
    _ = attache_curl_set_string(pointer, option, value)
  }

  private func setSafety(_ settings: TransferRules) {
    set(CURLOPT_SSL_VERIFYPEER, 1)
    set(CURLOPT_SSL_VERIFYHOST, 2)
    set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_NETRC, 0)
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
    if let caFile = settings.caFile { set(CURLOPT_CAINFO, caFile) }
    _ = attache_curl_set_pointer(pointer, CURLOPT_ERRORBUFFER, message)
  }

  private func setLimits(_ transfer: Transfer, _ configuration: HTTPClient.Configuration) {
    set(CURLOPT_TIMEOUT, transfer.request.timeoutSeconds)
    set(CURLOPT_CONNECTTIMEOUT, configuration.connectTimeoutSeconds)
    // An org may take as long as the request's timeout to respond. Keep-alive detects an
    // unreachable host earlier.
    set(CURLOPT_TCP_KEEPALIVE, 1)
    set(CURLOPT_USERAGENT, configuration.userAgent)
    set(CURLOPT_BUFFERSIZE, 128 << 10)
    transfer.limitBytes = configuration.responseLimitBytes
  }

  private mutating func setRequest(_ transfer: Transfer) {
    let request = transfer.request
    set(CURLOPT_URL, request.url)
    // The path is signed as it is, or names a resource as it is.
    set(CURLOPT_PATH_AS_IS, 1)
    set(CURLOPT_ACCEPT_ENCODING, "gzip")
    for field in request.headers.all {
      // In curl's notation an empty value needs a semicolon; otherwise the field is omitted.
      let line = field.value.isEmpty ? field.name + ";" : field.name + ": " + field.value
      fields = curl_slist_append(fields, line)
    }
    // Do not wait for permission to send a body, and do not send curl's default content type.
    fields = curl_slist_append(fields, "Expect:")
    if request.headers["Content-Type"] == nil {
      fields = curl_slist_append(fields, "Content-Type:")
    }
    _ = attache_curl_set_list(pointer, CURLOPT_HTTPHEADER, fields)
    if let part = request.file {
      set(CURLOPT_UPLOAD, 1)
      _ = attache_curl_set_offset(pointer, CURLOPT_INFILESIZE_LARGE, curl_off_t(part.count))
      let context = Unmanaged.passUnretained(transfer).toOpaque()
      _ = attache_curl_set_data_callback(pointer, CURLOPT_READFUNCTION, transferFile)
      _ = attache_curl_set_pointer(pointer, CURLOPT_READDATA, context)
    } else if let body = request.body ?? (request.method == "POST" ? [] : nil) {
      _ = attache_curl_set_offset(pointer, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
      body.withUnsafeBytes {
        let start = UnsafeMutableRawPointer(mutating: $0.baseAddress)
        _ = attache_curl_set_pointer(pointer, CURLOPT_COPYPOSTFIELDS, start)
      }
      if body.isEmpty { set(CURLOPT_POSTFIELDS, "") }
    } else if request.method == "HEAD" {
      set(CURLOPT_NOBODY, 1)
    }
    if request.method != "GET" || request.body != nil, request.method != "HEAD" {
      set(CURLOPT_CUSTOMREQUEST, request.method)
    }
  }

  private func setCallbacks(_ transfer: Transfer) {
    let context = Unmanaged.passUnretained(transfer).toOpaque()
    _ = attache_curl_set_data_callback(pointer, CURLOPT_WRITEFUNCTION, transferBody)
    _ = attache_curl_set_pointer(pointer, CURLOPT_WRITEDATA, context)
    _ = attache_curl_set_data_callback(pointer, CURLOPT_HEADERFUNCTION, transferHeader)
    _ = attache_curl_set_pointer(pointer, CURLOPT_HEADERDATA, context)
    _ = attache_curl_set_before_request(pointer, transferBeforeRequest)
    _ = attache_curl_set_pointer(pointer, CURLOPT_PREREQDATA, context)
  }
}

private func transferBody(
  _ data: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context else { return 0 }
  let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  let piece = UnsafeRawBufferPointer(start: data, count: size * count)
  // If any other number is returned, curl fails the transfer. An empty piece must not fail it.
  return transfer.receiveBody(piece) ? piece.count : -1
}

private func transferFile(
  _ data: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context else { return Int(CURL_READFUNC_ABORT) }
  let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  let room = UnsafeMutableRawBufferPointer(start: data, count: size * count)
  return transfer.readFile(into: room) ?? Int(CURL_READFUNC_ABORT)
}

private func transferHeader(
  _ data: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context else { return 0 }
  let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  let line = UnsafeRawBufferPointer(start: data, count: size * count)
  return transfer.receiveHeader(line) ? line.count : -1
}

/// Called when a connection is ready, before the first byte of the request is written.
///
/// If a reused connection closes without a response, curl repeats the request by itself. A write
/// could then be executed twice, so the repetition is rejected here.
private func transferBeforeRequest(
  _ context: UnsafeMutableRawPointer?, _ remote: UnsafeMutablePointer<CChar>?,
  _ local: UnsafeMutablePointer<CChar>?, _ remotePort: Int32, _ localPort: Int32
) -> Int32 {
  guard let context else { return CURL_PREREQFUNC_ABORT }
  let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  if transfer.attempts > 0 && !transfer.request.isSafe { return CURL_PREREQFUNC_ABORT }
  transfer.attempts += 1
  return CURL_PREREQFUNC_OK
}
