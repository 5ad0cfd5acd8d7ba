/// The pages of one cursor, in order, asked for while the page before is still arriving.
///
/// At most `window` pages are in flight or unread, and of pages of some megabytes fewer. One task reads at
/// a time. A page whose status is not 200 is handed out and ends the chain, and so does an error; `append`
/// goes on from there.
package final class PageChain: Sendable {
  /// What the head of a page says of the next one.
  package enum Next: Sendable {
    /// The next page's request.
    case request(HTTPRequest)
    /// This is the last page.
    case end
    /// It is not in these bytes yet.
    case unknown
  }

  private let core: PageChainCore
  /// Keeps the client's thread alive as long as its pages are read.
  private let client: HTTPClient

  init(
    client: HTTPClient, first: HTTPRequest, window: Int,
    next: @escaping @Sendable (UnsafeRawBufferPointer) -> Next
  ) {
    self.client = client
    core = PageChainCore(loop: client.loop, window: max(1, window), next: next)
    core.append(first)
  }

  deinit { core.cancel() }

  /// The next page when it is whole, nil after the last.
  package func next() async throws(HTTPError) -> HTTPResponse? {
    let core = self.core
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { core.take($0) }
    } onCancel: {
      core.cancel()
    }
    return try result?.get()
  }

  /// Adds a page whose address the chain could not read by itself.
  package func append(_ request: HTTPRequest) { core.append(request) }

  /// Gives a page's buffer back for a page to come.
  package func recycle(_ body: consuming [UInt8]) { core.recycle(body) }
}
