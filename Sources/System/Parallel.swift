import Glibc

/// Work that is cut into independent parts for the cores there are.
package enum Parallel {
  /// How many cores there are.
  package static var cores: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  /// Runs `body` for 0 to `count` - 1 on several threads and comes back when all are done.
  ///
  /// It blocks: call it from a thread of one's own, never from the cooperative pool. The threads are
  /// the C library's, joined at the end, which the thread sanitizer understands.
  package static func perform(_ count: Int, _ body: @Sendable (Int) -> Void) {
    let threads = max(1, min(count, cores))
    withoutActuallyEscaping(body) { body in
      let work = Work(count: count, threads: threads, body: body)
      let others = Running((1..<threads).compactMap { Part(work: work, first: $0).start() })
      work.run(from: 0)
      others.wait()
    }
  }

  /// Begins `body` for 0 to `count` - 1, each on a thread of its own, and comes back at once.
  ///
  /// Where no thread is to be had a part is done before the call comes back.
  package static func begin(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) -> Running {
    let work = Work(count: count, threads: count, body: body)
    return Running((0..<count).compactMap { Part(work: work, first: $0).start() })
  }

  /// Work that goes on while its owner does something else; whoever lets go of it waits for its end.
  package final class Running {
    private var threads: [pthread_t]

    fileprivate init(_ threads: [pthread_t]) { self.threads = threads }

    deinit { wait() }

    /// Waits until all is done, and what the work used is let go of.
    package func wait() {
      for thread in threads { pthread_join(thread, nil) }
      threads = []
    }
  }

  /// The whole of the work: each thread takes every `threads`-th index.
  private struct Work: Sendable {
    let count: Int
    let threads: Int
    let body: @Sendable (Int) -> Void

    func run(from first: Int) {
      for index in stride(from: first, to: count, by: threads) { body(index) }
    }
  }

  /// What one thread does.
  private final class Part: Sendable {
    let work: Work
    let first: Int

    init(work: Work, first: Int) {
      self.work = work
      self.first = first
    }

    /// Starts a thread; where none is to be had the caller does the part itself.
    func start() -> pthread_t? {
      var thread = pthread_t()
      let context = Unmanaged.passRetained(self).toOpaque()
      guard pthread_create(&thread, nil, runPart, context) == 0 else {
        Unmanaged<Part>.fromOpaque(context).release()
        work.run(from: first)
        return nil
      }
      return thread
    }

    func run() { work.run(from: first) }
  }

  private static let runPart:
    @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? =
      { context in
        if let context { Unmanaged<Part>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }
}
