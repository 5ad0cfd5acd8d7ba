/// The pages of one cursor, in order.
///
/// Each page is requested while the previous one is still arriving.
///
/// At most `window` pages are in flight or unread; fewer if a page has several megabytes. Only one
/// task may read at a time. A page with a status other than 200 is returned and ends the chain, and
/// so does an error; `append` continues the chain.
package final class PageChain: Sendable {
  /// The result of looking for the next page's address in a page's first bytes.
  package enum Next: Sendable {
    /// The next page is fetched with this request.
    case request(HTTPRequest)
    /// There is no next page.
    case end
    /// The available bytes do not show the address yet.
    case unknown
  }

  private let core: PageChainCore
  /// Retained so that the client's thread lives as long as the pages are read.
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

  /// The next page, once it is complete; nil after the last.
  package func next() async throws(HTTPError) -> HTTPResponse? {
    let core = self.core
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { core.take($0) }
    } onCancel: {
      core.cancel()
    }
    return try result?.get()
  }

  /// Adds a page whose address the chain could not find by itself.
  package func append(_ request: HTTPRequest) { core.append(request) }

  /// Returns a page's buffer for reuse by a later page.
  package func recycle(_ body: consuming [UInt8]) { core.recycle(body) }
}
