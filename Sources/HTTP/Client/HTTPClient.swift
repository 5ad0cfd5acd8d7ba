import System

/// An HTTP client on top of libcurl's multi interface, with its own thread.
///
/// Certificates are always verified, and TLS is version 1.2 or later. Plain HTTP is allowed for
/// loopback addresses only. Redirects are not followed, so a token never reaches another origin.
package final class HTTPClient: Sendable {
  let loop: CurlLoop
  /// The maximum number of concurrent transfers.
  package let concurrency: Int

  /// Starts the client's thread, which ends with the client.
  package init(_ configuration: Configuration = Configuration()) throws(HTTPError) {
    concurrency = configuration.concurrency
    loop = try CurlLoop(try TransferRules(configuration))
  }

  deinit { loop.close() }

  /// Sends a request and waits for the whole response.
  ///
  /// Cancelling the task cancels the transfer.
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

  /// The pages of a cursor.
  ///
  /// `next` finds the address of page n + 1 in the first bytes of page n.
  ///
  /// `next` is called on the client's thread while page n arrives, and a last time with the whole
  /// page.
  package func pages(
    first: HTTPRequest, window: Int = 3,
    next: @escaping @Sendable (_ head: UnsafeRawBufferPointer) -> PageChain.Next
  ) -> PageChain {
    PageChain(client: self, first: first, window: window, next: next)
  }
}
