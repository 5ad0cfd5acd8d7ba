import Glibc

/// Work divided into independent parts for the available cores.
package enum Parallel {
  /// The number of cores.
  package static var cores: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  /// Runs `body` for 0 to `count` - 1 on several threads and returns when all are done.
  ///
  /// It blocks: call it on a dedicated thread, never on the cooperative pool. The threads are the C
  /// library's and are joined at the end, which the thread sanitizer understands.
  package static func perform(_ count: Int, _ body: @Sendable (Int) -> Void) {
    let threads = max(1, min(count, cores))
    withoutActuallyEscaping(body) { body in
      let work = Work(count: count, threads: threads, body: body)
      let others = Running((1..<threads).compactMap { Part(work: work, first: $0).start() })
      work.run(from: 0)
      others.wait()
    }
  }

  /// The results of `body` for 0 to `count` - 1, which run as in `perform`; throws the first error,
  /// if any, when all are done.
  package static func map<T: Sendable>(
    _ count: Int, _ body: @Sendable (Int) throws -> T
  ) throws -> [T] {
    let results = Locked<[Result<T, any Error>?]>(Array(repeating: nil, count: count))
    perform(count) { place in
      let result = Result { try body(place) }
      results.withLock { $0[place] = result }
    }
    return try results.withLock { $0 }.compactMap { try $0?.get() }
  }

  /// Starts `body` for 0 to `count` - 1, each on its own thread, and returns at once.
  ///
  /// If no thread is available, the part is done before the call returns.
  package static func begin(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) -> Running {
    let work = Work(count: count, threads: count, body: body)
    return Running((0..<count).compactMap { Part(work: work, first: $0).start() })
  }

  /// Work in progress while its owner does something else.
  ///
  /// Releasing it waits for its end.
  package final class Running {
    private var threads: [pthread_t]

    fileprivate init(_ threads: [pthread_t]) { self.threads = threads }

    deinit { wait() }

    /// Waits until all work is done and its resources are released.
    package func wait() {
      for thread in threads { pthread_join(thread, nil) }
      threads = []
    }
  }

  /// The whole work: each thread processes every `threads`-th index.
  private struct Work: Sendable {
    let count: Int
    let threads: Int
    let body: @Sendable (Int) -> Void

    func run(from first: Int) {
      for index in stride(from: first, to: count, by: threads) { body(index) }
    }
  }

  /// The part of one thread.
  private final class Part: Sendable {
    let work: Work
    let first: Int

    init(work: Work, first: Int) {
      self.work = work
      self.first = first
    }

    /// Starts a thread; if none is available, the caller does the part itself.
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
