import Dispatch

/// Work that is cut into independent parts for the cores there are.
package enum Parallel {
  /// Runs `body` for 0 to `count` - 1 on several threads and comes back when all are done.
  ///
  /// It blocks: call it from a thread of one's own, never from the cooperative pool.
  package static func perform(_ count: Int, _ body: @Sendable (Int) -> Void) {
    if count == 1 { return body(0) }
    DispatchQueue.concurrentPerform(iterations: count) { body($0) }
  }
}
