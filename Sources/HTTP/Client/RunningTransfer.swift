import CCurl

/// A transfer with its handle, used on the loop's thread.
final class RunningTransfer {
  let transfer: Transfer
  let handle: CurlHandle

  init(_ transfer: Transfer, _ handle: consuming CurlHandle) {
    self.transfer = transfer
    self.handle = handle
  }

  /// Completes the transfer with a whole response or an error.
  func finish(_ code: CURLcode) {
    let (status, isHTTP2) = handle.status()
    transfer.status = status
    guard code == CURLE_OK else {
      if let error = transfer.fileError { return transfer.fail(.file, error.description) }
      let text = handle.text(code)
      return transfer.fail(kind(of: code, text), text)
    }
    guard transfer.headIsComplete, isHTTP2 || transfer.isDelimited else {
      // A response that ends where the connection ends looks like a truncated one.
      return transfer.fail(.truncated, "the response has no end marker, so it may be truncated")
    }
    transfer.finish(
      .success(HTTPResponse(status: status, headers: transfer.headers, body: takeBody())))
  }

  private func takeBody() -> [UInt8] {
    var body: [UInt8] = []
    swap(&body, &transfer.body)
    return body
  }

  private func kind(of code: CURLcode, _ text: String) -> HTTPError.Kind {
    if transfer.isTooLarge { return .tooLarge }
    if transfer.isCancelled { return .cancelled }
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT:
      return .unreachable
    case CURLE_OPERATION_TIMEDOUT: return .timeout
    case CURLE_SSL_CONNECT_ERROR:
      // A handshake that was interrupted is a network failure. One that was rejected is not.
      let isBroken = ["SSL_ERROR_SYSCALL", "Connection reset", "unexpected eof"]
        .contains { text.contains($0) }
      return isBroken ? .unreachable : .tls
    case CURLE_SSL_CACERT_BADFILE: return .authorities
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
      CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED,
      CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED:
      return .tls
    case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR,
      CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP2, CURLE_HTTP2_STREAM,
      CURLE_SEND_FAIL_REWIND, CURLE_ABORTED_BY_CALLBACK:
      return transfer.attempts > 0 ? .truncated : .unreachable
    case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: return .notAllowed
    default: return .other
    }
  }
}
