import Crypto
import Ledger
import Snapshots
import System

/// Writes the orders of a run, which workers perform, and removes what no worker needs any more.
struct RunOrders {
  let run: RunContext

  func withStore<T>(_ body: (WorkStore) async throws -> T) async throws -> T {
    let isUsed = try run.ledger.noted(.workStore) == run.pipeline.work?.store.location
    return try await WorkStore.with(
      run.options.workStore, of: run.pipeline, run.variables, mayBeNew: !isUsed, body)
  }

  /// The error for a run whose orders are not there, or belong to an earlier one.
  static let nothingToCollect = PipelineError(
    .configuration, "work.no-orders", "there are no orders to collect",
    reason: "they were collected, or another run has started since, or they are older than a day",
    fix: "write new ones: attache run PIPELINE --until orders")

  // MARK: writing

  /// Writes the orders; `wide` is what is known about calls with several parts.
  func write(_ orders: [PrimeOrder], by work: PrimeWork, wide: String?) async throws {
    try await withStore { store in
      try await store.check()
      try run.ledger.store(store.store.location, as: .workStore)
      let snapshots = try orders.compactMap { try snapshot($0, work) }
      let wanted = snapshots.flatMap(\.files)
      try await store.removeAll(except: Set(wanted.map(\.sha256)))
      let there = try await store.files()
      for snapshot in snapshots {
        try Task.checkCancellation()
        try await store.put(
          snapshot.files.filter { !there.contains($0.sha256) },
          from: run.data.generation(snapshot.generation, of: snapshot.order.user.id))
      }
      let documents = try grouped(snapshots).map { WorkStore.document(WorkOrder($0).json) }
      // Each attempt of a run has its own results.
      let set = run.row.id + "." + Hex.encode(RandomBytes.make(4))
      for (index, document) in documents.enumerated() {
        try await store.write(document, index, of: set)
      }
      let list = OrderList(
        set: set, version: ProgramVersion.text, definitions: run.pipeline.workDigest(),
        organizationID: try run.ledger.organizationID ?? "", orders: documents.map(\.sha256),
        requests: run.access.org.requestsLeft, wide: wide,
        checked: run.preflight == nil ? nil : run.options.stages,
        isWhole: run.options.users.isEmpty)
      try run.ledger.note(orders: list)
      try await store.write(list)
      var work = RunSummary.Work(orders: documents.count, snapshots: snapshots.count)
      work.isWaiting = true
      run.summary.work = work
    }
  }

  /// Returns an order with the files of the newest generation; nil, and the user is skipped, if that
  /// cannot be read.
  private func snapshot(_ order: PrimeOrder, _ work: PrimeWork) throws -> WorkOrder.Snapshot? {
    let job = work.job(for: order)
    do {
      guard let record = try job.newestRecord() else { return WorkOrder.Snapshot(order: order) }
      return WorkOrder.Snapshot(
        order: order, generation: record.generation,
        files: try GenerationFiles.list(
          record, in: run.data.generation(record.generation, of: order.user.id),
          hasStores: try job.mayContinue(record)))
    } catch {
      if order.isGlobal { throw error }
      try PipelineUsers(run: run).skip(
        snapshot: order.user.id, username: order.user.username, error)
      return nil
    }
  }

  /// Divides the snapshots: the global stores, and each user with more records than the average
  /// order, are a separate order.
  ///
  /// Users who read alike, as far as known, are in the same order, because only those share
  /// records. Orders have the turn of their first user.
  private func grouped(_ snapshots: [WorkOrder.Snapshot]) throws -> [[WorkOrder.Snapshot]] {
    let size = run.pipeline.work?.ordersOf ?? 1
    let history = try RunHistory(.prime, run.ledger)
    func records(_ snapshot: WorkOrder.Snapshot) -> Int {
      (history.fetched(of: snapshot.order.user.id) ?? [:]).values.reduce(0, +)
    }
    let users = snapshots.filter { !$0.order.isGlobal }
    let average = users.map(records).reduce(0, +) / max(1, (users.count + size - 1) / size)
    func isHot(_ snapshot: WorkOrder.Snapshot) -> Bool {
      users.count > size && records(snapshot) > average
    }
    let single = snapshots.filter { $0.order.isGlobal || isHot($0) }
    var classes: [String] = []
    var members: [String: [(turn: Int, snapshot: WorkOrder.Snapshot)]] = [:]
    for (turn, snapshot) in users.enumerated() where !isHot(snapshot) {
      let name = try run.ledger.noted(.readingClass(snapshot.order.user.id)) ?? ""
      if members[name] == nil { classes.append(name) }
      members[name, default: []].append((turn, snapshot))
    }
    let groups = classes.flatMap { members[$0] ?? [] }.parts(of: size)
    func turn(_ group: [(turn: Int, snapshot: WorkOrder.Snapshot)]) -> Int {
      group.map(\.turn).min() ?? 0
    }
    return single.map { [$0] }
      + groups.sorted { turn($0) < turn($1) }.map { $0.map(\.snapshot) }
  }

  // MARK: removing

  /// Removes orders and results, and the files of all but the newest generations.
  ///
  /// A failure is only a warning: the next orders do the same.
  func removeRemains() async {
    do {
      let newest = try newestFiles()
      try await withStore { try await $0.removeAll(except: newest) }
    } catch {
      run.warn(
        "orders and results were not removed: \(PipelineError(describing: error).message)")
    }
  }

  private func newestFiles() throws -> Set<String> {
    var digests: Set<String> = []
    for id in try run.data.snapshots() {
      let directory = SnapshotDirectory(path: run.data.snapshot(id))
      guard let newest = try directory.generations().last else { continue }
      let files = try GenerationFiles.list(
        directory.record(of: newest), in: directory.directory(of: newest), hasStores: true)
      digests.formUnion(files.map(\.sha256))
    }
    return digests
  }
}
