import System

/// The state that a chain shares with its transfers.
final class PageChainCore: Sendable {
  typealias Answer = Result<HTTPResponse, HTTPError>?

  private struct Slot {
    let transfer: Transfer
    var result: Result<HTTPResponse, HTTPError>?
  }

  private struct State {
    var slots: [Slot] = []
    /// The next pages that would exceed the window.
    var pending: [HTTPRequest] = []
    var reader: CheckedContinuation<Answer, Never>?
    var spare: [[UInt8]] = []
    /// The size of the longest page so far.
    var longest = 0
    var isCancelled = false

    /// The maximum number of pages in flight or unread: fewer for long pages, but at least one in
    /// addition to the page that is read next.
    func room(_ window: Int) -> Int {
      min(window, max(2, PageChainCore.aheadBytes / max(1, longest)))
    }

    /// The delivery to the reader; nil if no page is ready or no task reads.
    mutating func delivery() -> Delivery? {
      guard let reader else { return nil }
      if isCancelled { return finish(reader, .failure(PageChainCore.cancelled)) }
      // Nothing is in flight. `pending` is empty too, or its page would have been started.
      guard let first = slots.first else { return finish(reader, nil) }
      guard let result = first.result else { return nil }
      slots.removeFirst()
      guard case .success(let response) = result, response.status == 200 else {
        return finish(reader, result)
      }
      self.reader = nil
      return Delivery(reader: reader, answer: result, dropped: [])
    }

    /// Ends the chain with this response and discards the pages requested ahead.
    private mutating func finish(
      _ reader: CheckedContinuation<Answer, Never>, _ answer: Answer
    ) -> Delivery {
      let dropped = slots.filter { $0.result == nil }.map(\.transfer)
      slots = []
      pending = []
      self.reader = nil
      return Delivery(reader: reader, answer: answer, dropped: dropped)
    }
  }

  private struct Delivery {
    let reader: CheckedContinuation<Answer, Never>
    let answer: Answer
    let dropped: [Transfer]
  }

  private let loop: CurlLoop
  private let window: Int
  private let next: @Sendable (UnsafeRawBufferPointer) -> PageChain.Next
  private let state = Locked(State())

  /// The address is in the first bytes.
  ///
  /// Beyond this size it is searched only once the page is complete.
  private static let headBytes = 16 << 10

  /// The maximum total size of pages in flight or unread if there are more than two.
  fileprivate static let aheadBytes = 8 << 20

  private static let cancelled = HTTPError(
    .cancelled, phase: .beforeSend, url: "", message: "the pages were cancelled")

  init(
    loop: CurlLoop, window: Int,
    next: @escaping @Sendable (UnsafeRawBufferPointer) -> PageChain.Next
  ) {
    self.loop = loop
    self.window = window
    self.next = next
  }

  func append(_ request: HTTPRequest) {
    state.withLock { $0.pending.append(request) }
    startPending()
  }

  func recycle(_ body: consuming [UInt8]) {
    body.removeAll(keepingCapacity: true)
    let buffer = body
    state.withLock { state in
      if state.spare.count < state.room(window) { state.spare.append(buffer) }
    }
  }

  func take(_ reader: CheckedContinuation<Answer, Never>) {
    state.withLock { $0.reader = reader }
    deliver()
  }

  /// Cancels the pages in flight; the reader gets an error.
  func cancel() {
    let transfers = state.withLock { state in
      state.isCancelled = true
      state.pending = []
      return state.slots.filter { $0.result == nil }.map(\.transfer)
    }
    for transfer in transfers { loop.cancel(transfer) }
    deliver()
  }

  private func startPending() {
    let transfers = state.withLock { state -> [Transfer] in
      var started: [Transfer] = []
      while !state.isCancelled, !state.pending.isEmpty, state.slots.count < state.room(window) {
        let transfer = Transfer(
          state.pending.removeFirst(), buffer: state.spare.popLast() ?? [])
        state.slots.append(Slot(transfer: transfer))
        started.append(transfer)
      }
      return started
    }
    for transfer in transfers {
      transfer.onBody = { [weak self, weak transfer] head in
        guard let self, let transfer else { return }
        self.look(at: head, of: transfer, isWhole: false)
      }
      transfer.onCompletion = { [weak self, weak transfer] result, spare in
        guard let self, let transfer else { return }
        self.complete(transfer, result, spare)
      }
      loop.start(transfer)
    }
  }

  /// Looks for the next page's address in the available bytes, and requests that page at once.
  private func look(at body: UnsafeRawBufferPointer, of transfer: Transfer, isWhole: Bool) {
    guard !transfer.isFollowed, isWhole || transfer.lookedAtBytes < Self.headBytes else { return }
    transfer.lookedAtBytes = body.count
    let answer = next(body)
    if case .unknown = answer { return }
    transfer.isFollowed = true
    if case .request(let request) = answer { append(request, after: transfer) }
  }

  /// Adds the page that another page named, unless that page was discarded meanwhile.
  ///
  /// Otherwise its successor would be taken for the page that is requested again.
  private func append(_ request: HTTPRequest, after transfer: Transfer) {
    state.withLock { state in
      guard state.slots.contains(where: { $0.transfer === transfer }) else { return }
      state.pending.append(request)
    }
    startPending()
  }

  private func complete(
    _ transfer: Transfer, _ result: Result<HTTPResponse, HTTPError>, _ spare: [UInt8]
  ) {
    if case .success(let response) = result, response.status == 200, !transfer.isFollowed {
      response.body.withUnsafeBytes { look(at: $0, of: transfer, isWhole: true) }
    }
    state.withLock { state in
      guard let index = state.slots.firstIndex(where: { $0.transfer === transfer }) else { return }
      state.slots[index].result = result
      if case .success(let response) = result {
        state.longest = max(state.longest, response.body.count)
      }
    }
    if spare.capacity > 0 { recycle(spare) }
    deliver()
  }

  /// Delivers the first page if it is complete and a reader waits.
  private func deliver() {
    let delivery = state.withLock { $0.delivery() }
    guard let delivery else { return }
    for transfer in delivery.dropped { loop.cancel(transfer) }
    startPending()
    delivery.reader.resume(returning: delivery.answer)
  }
}
