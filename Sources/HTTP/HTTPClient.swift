import System

/// An HTTP client over libcurl's multi interface on a thread of its own.
///
/// Certificates are always verified, TLS is 1.2 or later, plain HTTP goes to loopback addresses
/// only, and redirects are answers like any other: a token never travels to another origin.
package final class HTTPClient: Sendable {
  let loop: CurlLoop

  /// Starts the client's thread; it ends with the client.
  package init(_ configuration: Configuration = Configuration()) throws(HTTPError) {
    loop = try CurlLoop(try TransferRules(configuration))
  }

  deinit { loop.close() }

  /// Sends a request and waits for the whole answer; cancelling the task ends the transfer.
  package func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
    let transfer = Transfer(request)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        transfer.onCompletion = { result, _ in continuation.resume(returning: result) }
        loop.start(transfer)
      }
    } onCancel: {
      loop.cancel(transfer)
    }
    return try result.get()
  }

  /// The pages of one cursor: `next` reads page n + 1's address from the first bytes of page n.
  ///
  /// It is called on the client's thread while page n arrives, and a last time with all of it.
  package func pages(
    first: HTTPRequest, window: Int = 3,
    next: @escaping @Sendable (_ head: UnsafeRawBufferPointer) -> PageChain.Next
  ) -> PageChain {
    PageChain(client: self, first: first, window: window, next: next)
  }
}
