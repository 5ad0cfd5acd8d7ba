import JSON
import MobileSync
import ObjectStore
import Salesforce
import Snapshots
import System

/// Performs orders of a run: it primes their snapshots and puts the results into the work store.
///
/// It has neither the ledger nor a lock, and of the pipeline's secrets only the login and the access
/// key of the work store.
package struct Worker {
  /// How a worker performs orders.
  package struct Options: Sendable {
    package var shard: Shard
    /// Whether orders of other shards are left alone.
    package var onlyOwn = false
    /// Whether there may be more workers than concurrent requests.
    package var oversubscribes = false
    /// The seconds after which the worker stops; nil for the pipeline's limit.
    package var deadlineSeconds: Int?
    /// The store of orders and results; nil for that of the pipeline.
    package var store: (any ObjectStore)?
    package var retryPause = RetryPause.real

    package init(_ shard: Shard) { self.shard = shard }
  }

  private let pipeline: Pipeline
  private let options: Options
  private let variables: [String: String]
  private let store: WorkStore
  private let list: OrderList
  private let access: OrgAccess
  private let wide: WideCalls
  private let preflight: Preflight?
  private let report: @Sendable (RunEvent) -> Void

  /// Performs the orders of a shard, and then those that no other worker has claimed.
  ///
  /// Throws if no order can be performed here, or the store or the machine fails. Orders that are
  /// complete stay so.
  package static func perform(
    _ pipeline: Pipeline, variables: [String: String], options: Options,
    report: @escaping @Sendable (RunEvent) -> Void
  ) async throws -> WorkSummary {
    let thread = StoreThread(name: "work")
    return try await withTaskExecutorPreference(thread) {
      try await WorkStore.with(options.store, of: pipeline, variables) { store in
        try await store.check()
        guard let list = try await store.orderList() else {
          var summary = WorkSummary()
          (summary.pipeline, summary.shard) = (pipeline.name, options.shard.text)
          return summary
        }
        try check(list, pipeline, options)
        let worker = try Worker(pipeline, options, variables, store, list, report)
        return try await worker.perform()
      }
    }
  }

  private init(
    _ pipeline: Pipeline, _ options: Options, _ variables: [String: String], _ store: WorkStore,
    _ list: OrderList, _ report: @escaping @Sendable (RunEvent) -> Void
  ) throws {
    (self.pipeline, self.options, self.variables) = (pipeline, options, variables)
    (self.store, self.list, self.report) = (store, list, report)
    let workers = options.shard.count
    access = try OrgAccess(
      pipeline, DataDirectory(root: store.scratch, name: pipeline.name), variables: variables,
      mostRequests: list.requests.map { $0 / workers }, workers: workers,
      pause: options.retryPause
    ) { event in
      if let event = RunEvent(event) { report(event) }
    }
    wide = WideCalls(stored: list.wide)
    preflight = list.checked.map { Preflight(pipeline, stages: $0) }
  }

  /// Throws if this process would prime other stores than the run.
  private static func check(_ list: OrderList, _ pipeline: Pipeline, _ options: Options) throws {
    guard list.version == ProgramVersion.text else {
      throw PipelineError(
        .configuration, "work.other-version",
        "the orders were written by attache \(list.version), and this is \(ProgramVersion.text)",
        fix: "install the same version on all machines")
    }
    try list.checkSettings(
      of: pipeline, fix: "use the same pipeline, store and sync files on all machines")
    guard options.shard.count <= pipeline.org.concurrency || options.oversubscribes else {
      throw PipelineError(
        .configuration, "work.workers",
        "\(options.shard.count) workers need at least \(options.shard.count) concurrent requests, "
          + "and org.concurrency is \(pipeline.org.concurrency)",
        location: pipeline.file,
        fix: "use fewer workers, or raise org.concurrency; with --oversubscribe each worker sends "
          + "one request at a time")
    }
  }

  /// The age at which another worker's claim expires.
  private var claimSeconds: Int {
    2 * (options.deadlineSeconds ?? pipeline.org.runDeadlineSeconds)
  }

  // MARK: orders

  private func perform() async throws -> WorkSummary {
    var summary = WorkSummary()
    (summary.pipeline, summary.shard) = (pipeline.name, options.shard.text)
    summary.orders = list.orders.count
    let claims = WorkClaims(
      store: store, set: list.set, shard: options.shard, seconds: claimSeconds)
    var isChecked = false
    for order in inTurn() {
      try Task.checkCancellation()
      // No run collects the results of superseded orders.
      guard try await store.orderList()?.set == list.set else { break }
      let results = try await store.entries(WorkStore.results(of: list.set), of: order)
      if results.contains(where: \.isDone) {
        summary.elsewhere += 1
        continue
      }
      guard let claim = try await claims.claim(order) else {
        summary.claimed += 1
        continue
      }
      let mayGoOn: Bool
      do {
        if !isChecked { try await checkOrg() }
        isChecked = true
        mayGoOn = try await perform(order, results, &summary)
      } catch {
        // A cancelled task sends no request.
        await Task { [claims] in
          // If it fails, the claim expires after a while.
          try? await claims.release(claim)
        }.value
        throw error
      }
      if mayGoOn { continue }
      summary.unfinished += 1
      try await claims.release(claim)
      if let left = access.org.requestsLeft, left <= 0 { break }
    }
    summary.requests = access.requestsMade
    return summary
  }

  /// The orders of this shard, and then the others from this shard's place on, so that workers who
  /// have finished do not all claim the same one.
  private func inTurn() -> [Int] {
    let own = list.orders.indices.filter { options.shard.owns($0) }
    if options.onlyOwn { return own }
    let others = list.orders.indices.filter { !options.shard.owns($0) }
    let start = others.count * options.shard.index / options.shard.count
    return own + others[start...] + others[..<start]
  }

  /// Throws if the login is one of another org.
  private func checkOrg() async throws {
    let found = try await access.anySession().identity.organizationID
    guard found == list.organizationID else {
      throw PipelineError(
        .configuration, "work.other-org", "the orders are for another org",
        reason: "the run used \(list.organizationID), and this login is one of \(found)",
        fix: "use the same login on all machines")
    }
  }

  /// Performs an order and writes its result; false if a part of it waits for another attempt.
  private func perform(
    _ index: Int, _ earlier: [WorkStore.Entry], _ summary: inout WorkSummary
  ) async throws -> Bool {
    guard let order = try await store.order(index, of: list, pipeline) else { return true }
    let primed = try await primed(earlier)
    let snapshots = order.snapshots.filter { !primed.contains($0.order.user.id) }
    let root = store.scratch + "/order-\(index)"
    defer {
      // Removed with the scratch directory at the end.
      try? Files.remove(root)
    }
    let data = DataDirectory(root: root, name: pipeline.name)
    try Files.makeDirectory(data.path)
    let before = access.spent
    let (stream, continuation) = AsyncStream.makeStream(of: PrimeWork.Primed.self)
    let collector = WorkCollector(continuation, report: report)
    async let written = entries(of: stream, data)
    var ready: [PrimeOrder] = []
    for snapshot in snapshots {
      let id = snapshot.order.user.id
      do {
        try await store.get(snapshot.files, into: data.generation(snapshot.generation, of: id))
        ready.append(snapshot.order)
      } catch let error as ObjectStoreError where error.kind == .damaged {
        try collector.take(
          PrimeWork.Primed(
            order: snapshot.order, result: .failure(error), hadNoRequests: true, isMisled: false))
      }
    }
    let work = PrimeWork(
      pipeline: pipeline, data: data, access: access, wide: wide, preflight: preflight,
      report: report)
    try await work.perform(ready, isFirst: list.wide == nil, for: collector)
    try Task.checkCancellation()
    continuation.finish()
    let entries = try await written
    var result = WorkResult(
      order: list.orders[index], shard: options.shard.text,
      snapshots: snapshots.compactMap { entries[$0.order.user.id] }, shared: collector.shared)
    result.spent = (access.spent.requests - before.requests, access.spent.bytes - before.bytes)
    result.wide = wide.stored
    try await store.write(result, index, of: list.set)
    summary.add(result)
    return !result.isForLater
  }

  /// The users whom an earlier attempt primed.
  private func primed(_ results: [WorkStore.Entry]) async throws -> Set<String> {
    var users: Set<String> = []
    for entry in results {
      for snapshot in try await store.result(entry)?.snapshots ?? [] {
        if case .primed = snapshot.outcome { users.insert(snapshot.userID) }
      }
    }
    return users
  }

  /// Writes the files of new generations as they arrive, and returns the results by user; the last
  /// one of a snapshot that is primed again.
  private func entries(
    of stream: AsyncStream<PrimeWork.Primed>, _ data: DataDirectory
  ) async throws -> [String: WorkResult.Snapshot] {
    // The store may block, and the worker starts the next snapshots meanwhile.
    try await withTaskExecutorPreference(StoreThread(name: "results")) {
      var entries: [String: WorkResult.Snapshot] = [:]
      for await primed in stream {
        entries[primed.order.user.id] = try await entry(of: primed, data)
      }
      return entries
    }
  }

  /// Writes the files of a new generation, and returns the result of its snapshot.
  private func entry(
    of primed: PrimeWork.Primed, _ data: DataDirectory
  ) async throws -> WorkResult.Snapshot {
    let id = primed.order.user.id
    let outcome: WorkResult.Outcome
    switch primed.result {
    case .failure(let error): outcome = .failed(WorkFailure(error))
    case .success(let output):
      var files: [WorkFile] = []
      var issued: WorkFile?
      if output.outcome.changed {
        let directory = data.generation(output.generation, of: id)
        let record = try SnapshotDirectory(path: data.snapshot(id)).record(of: output.generation)
        files = try GenerationFiles.list(record, in: directory, hasStores: true)
        try await store.put(files, from: directory)
        let file = data.issued(output.generation, of: id)
        let place = Files.parent(of: file) ?? "."
        let own = try WorkFile(Files.name(of: file), in: place)
        try await store.put([own], from: place)
        issued = own
      }
      outcome = .primed(output, files: files, issued: issued)
    }
    return WorkResult.Snapshot(
      userID: id, outcome: outcome, hadNoRequests: primed.hadNoRequests)
  }
}

extension WorkSummary {
  fileprivate mutating func add(_ result: WorkResult) {
    if !result.isForLater { done += 1 }
    if !result.shared.unlike.isEmpty { findings.insert(.unlikeRecords) }
    for snapshot in result.snapshots {
      switch snapshot.outcome {
      case .primed(let output, _, _):
        snapshots += 1
        if output.outcome.guardTripped { findings.insert(.guardTripped) }
        if output.outcome.isIncomplete { findings.insert(.incompleteData) }
      case .failed(let failure):
        failed += 1
        findings.insert(.skippedUser)
        if failure.error.kind == .tryLater { findings.insert(.limitReached) }
      }
    }
  }
}
