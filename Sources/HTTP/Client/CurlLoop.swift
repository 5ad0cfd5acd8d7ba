import CCurl
import System

/// The thread that owns a multi handle.
///
/// A mutex passes transfers to it; closures return the results.
///
/// `@unchecked Sendable`: `inbox` is a mutex. `multi` is only woken up, which curl allows from any
/// thread, and only while the inbox is locked and open. Only the thread uses the rest.
final class CurlLoop: @unchecked Sendable {
  private struct Inbox {
    var starting: [Transfer] = []
    var cancelling: [Transfer] = []
    var isClosed = false
    /// Whether the thread checks the inbox again before it waits, so that it needs no second
    /// wake-up.
    var isAwake = false
    var thread: OwnThread?
  }

  private let settings: TransferRules
  private let multi: UnsafeMutableRawPointer
  private let inbox = Locked(Inbox())

  // Used only on the thread.
  private var waiting: [Transfer] = []
  private var running: [UnsafeMutableRawPointer: RunningTransfer] = [:]

  init(_ settings: TransferRules) throws(HTTPError) {
    func failure(_ message: String) -> HTTPError {
      HTTPError(.other, phase: .beforeSend, url: "", message: message)
    }
    guard Self.isInitialised, let multi = curl_multi_init() else {
      throw failure("libcurl cannot be started")
    }
    self.settings = settings
    self.multi = multi
    _ = attache_curl_multi_set_long(
      multi, CURLMOPT_MAXCONNECTS, max(4, settings.configuration.concurrency))
    do throws(SystemError) {
      let thread = try withoutPipeSignal { () throws(SystemError) in
        // The thread retains the loop until the thread ends.
        try OwnThread(name: "http") { self.run() }
      }
      inbox.withLock { $0.thread = thread }
    } catch {
      curl_multi_cleanup(multi)
      throw failure(error.description)
    }
  }

  /// Initializes curl for the whole process, once.
  private static let isInitialised = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

  /// Queues a transfer for the thread.
  func start(_ transfer: Transfer) {
    let isClosed = inbox.withLock { inbox in
      guard !inbox.isClosed else { return true }
      inbox.starting.append(transfer)
      wake(&inbox)
      return false
    }
    if isClosed { transfer.fail(.cancelled, "the client was closed") }
  }

  /// Cancels a transfer, whether it is queued, running or finished, or not started yet.
  func cancel(_ transfer: Transfer) {
    transfer.markCancelled()
    inbox.withLock { inbox in
      guard !inbox.isClosed else { return }
      inbox.cancelling.append(transfer)
      wake(&inbox)
    }
  }

  /// Ends every transfer and the thread, without waiting for it.
  func close() {
    inbox.withLock { inbox in
      guard !inbox.isClosed else { return }
      inbox.isClosed = true
      inbox.thread?.willEnd()
      wake(&inbox)
    }
  }

  private func wake(_ inbox: inout Inbox) {
    guard !inbox.isAwake else { return }
    inbox.isAwake = true
    curl_multi_wakeup(multi)
  }

  private func run() {
    while true {
      let letters = inbox.withLock { inbox in
        defer {
          inbox.starting = []
          inbox.cancelling = []
          inbox.isAwake = false
        }
        return inbox
      }
      if letters.isClosed { return end(letters.starting) }
      waiting += letters.starting
      for transfer in letters.cancelling { drop(transfer) }
      admit()
      var count: Int32 = 0
      curl_multi_perform(multi, &count)
      collect()
      admit()
      // The wait is limited although a wake-up interrupts it: a missed wake-up costs at most this
      // time.
      curl_multi_poll(multi, nil, 0, 1000, nil)
    }
  }

  private func admit() {
    while running.count < settings.configuration.concurrency, !waiting.isEmpty {
      let transfer = waiting.removeFirst()
      if transfer.isCancelled {
        transfer.fail(.cancelled, "the request was cancelled")
        continue
      }
      do throws(HTTPError) {
        let item = RunningTransfer(transfer, try CurlHandle(transfer, settings))
        curl_multi_add_handle(multi, item.handle.pointer)
        running[item.handle.pointer] = item
      } catch {
        transfer.finish(.failure(error))
      }
    }
  }

  private func drop(_ transfer: Transfer) {
    if let index = waiting.firstIndex(where: { $0 === transfer }) {
      waiting.remove(at: index)
    } else if let found = running.first(where: { $0.value.transfer === transfer }) {
      running[found.key] = nil
      curl_multi_remove_handle(multi, found.key)
    } else {
      return
    }
    transfer.fail(.cancelled, "the request was cancelled")
  }

  private func collect() {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else {
        continue
      }
      let code = attache_curl_message_result(message)
      guard let item = running.removeValue(forKey: easy) else { continue }
      curl_multi_remove_handle(multi, easy)
      item.finish(code)
    }
  }

  private func end(_ starting: [Transfer]) {
    for key in running.keys { curl_multi_remove_handle(multi, key) }
    let left = waiting + starting + running.values.map(\.transfer)
    running = [:]
    waiting = []
    // The inbox is closed, so no other thread wakes the handle any more.
    curl_multi_cleanup(multi)
    for transfer in left { transfer.fail(.cancelled, "the client was closed") }
  }
}
