import JSON
import Ledger
import ObjectStore
import SmartStore
import Snapshots
import System

/// Collects what workers made of the orders of a run.
///
/// Of several results for a snapshot, the first that verifies is adopted. A generation comes from
/// one result as a whole.
struct RunResults {
  let run: RunContext
  let stage: PrimeStage

  /// A result that cannot be adopted.
  private struct Unfit: Error {
    let reason: String
  }

  /// Adopts the results, and returns what was learned about calls with several parts.
  func collect(_ list: OrderList) async throws -> String? {
    try await RunOrders(run: run).withStore { store in
      var wide: String?
      var work = RunSummary.Work(orders: list.orders.count, snapshots: 0)
      for index in list.orders.indices {
        try Task.checkCancellation()
        guard let order = try await store.order(index, of: list, run.pipeline) else {
          throw RunOrders.nothingToCollect
        }
        let results = try await results(index, of: list, store)
        for result in results {
          stage.take(result.shared)
          run.workersSpent.requests += result.spent.requests
          run.workersSpent.bytes += result.spent.bytes
          wide = result.wide ?? wide
        }
        for snapshot in order.snapshots {
          work.snapshots += 1
          if try await !adopt(snapshot, from: results, store) { work.missing += 1 }
        }
      }
      run.summary.work = work
      return wide
    }
  }

  /// The readable results of an order, oldest first.
  private func results(
    _ index: Int, of list: OrderList, _ store: WorkStore
  ) async throws -> [WorkResult] {
    let entries = try await store.entries(WorkStore.results(of: list.set), of: index)
      .sorted { ($0.object.modified, $0.object.key) < ($1.object.modified, $1.object.key) }
    var results: [WorkResult] = []
    for entry in entries {
      do {
        guard let result = try await store.result(entry) else { continue }
        guard result.order == list.orders[index] else {
          throw Unfit(reason: "is for another order")
        }
        results.append(result)
      } catch {
        warn(entry.object.key, error: try Self.fault(error))
      }
    }
    return results
  }

  /// Adopts the first result for a snapshot that verifies; false if there is none.
  private func adopt(
    _ snapshot: WorkOrder.Snapshot, from results: [WorkResult], _ store: WorkStore
  ) async throws -> Bool {
    var failure: (error: any Error, hadNoRequests: Bool)?
    for result in results {
      for found in result.snapshots where found.userID == snapshot.order.user.id {
        switch found.outcome {
        case .failed(let error): failure = (error, found.hadNoRequests)
        case .primed(let output, let files, let issued):
          do {
            try await adopt(output, files, issued, snapshot, store)
          } catch {
            let reason = try Self.fault(error)
            warn(
              "the result of worker \(result.shard) for \(snapshot.order.user.username)",
              error: reason)
            continue
          }
          try take(.success(output), of: snapshot.order)
          return true
        }
      }
    }
    let missing = PipelineError(
      .tryLater, "work.no-result", "no worker has primed the snapshot",
      fix: "look at the workers' messages, and run the pipeline again")
    // A user without a result was not cut off.
    try take(
      .failure(failure?.error ?? missing), of: snapshot.order,
      hadNoRequests: failure?.hadNoRequests ?? true)
    return false
  }

  private func take(
    _ result: Result<PrimeOutput, any Error>, of order: PrimeOrder, hadNoRequests: Bool = false
  ) throws {
    try stage.take(
      PrimeWork.Primed(
        order: order, result: result, hadNoRequests: hadNoRequests, isMisled: false))
  }

  /// The reason why a result is not adopted; throws errors that are not its own.
  private static func fault(_ error: any Error) throws -> String {
    switch error {
    case let error as Unfit: return error.reason
    case let error as SnapshotError where error.isDamage: return error.description
    case let error as ObjectStoreError:
      switch error.kind {
      case .damaged, .tooLarge: return error.description
      default: throw error
      }
    default: throw error
    }
  }

  private func warn(_ what: String, error reason: String) {
    run.warn("\(what) is not used: \(reason)")
  }

  // MARK: generations

  /// Publishes the generation of a result, unless it is there already.
  private func adopt(
    _ output: PrimeOutput, _ files: [WorkFile], _ issued: WorkFile?,
    _ snapshot: WorkOrder.Snapshot, _ store: WorkStore
  ) async throws {
    let order = snapshot.order
    guard output.user == order.user else { throw Unfit(reason: "it is for another user") }
    let directory = SnapshotDirectory(path: run.data.snapshot(order.user.id))
    let newest = try directory.generations().last ?? 0
    guard output.outcome.changed else {
      guard output.generation == snapshot.generation, newest == snapshot.generation else {
        throw Unfit(reason: "there is a later generation")
      }
      return
    }
    guard order.stampIDs[output.generation] != nil, let issued else {
      throw Unfit(reason: "it has another number, or no issued records")
    }
    // A run that was interrupted has adopted it before.
    let isThere = newest == output.generation
    guard isThere || newest == snapshot.generation, output.generation > snapshot.generation else {
      throw Unfit(reason: "there is a later generation")
    }
    try directory.removeTemporaries()
    let temporary = directory.path + "/" + DurableFile.temporaryPrefix + order.run
    defer {
      // Removed with other temporary files by the next run at the latest.
      try? Files.remove(temporary)
    }
    guard let own = files.first(where: { $0.path == GenerationRecord.fileName }) else {
      throw Unfit(reason: "it has no \(GenerationRecord.fileName)")
    }
    if isThere, try directory.record(of: newest).digest == own.sha256 { return }
    guard !isThere else { throw Unfit(reason: "there is another generation \(newest)") }
    try await store.get([own], into: temporary)
    let record = try GenerationRecord(
      parsing: Files.read(temporary + "/" + own.path), path: "\(order.user.id)/\(output.generation)"
    )
    try check(record, own, files, order, output.generation)
    try await store.get(files.filter { $0 != own }, into: temporary)
    try await adopt(issued, number: output.generation, of: order.user.id, store)
    try directory.publish(temporary, as: record)
  }

  /// Checks that a generation is the one that was ordered, with all of its files and no other.
  private func check(
    _ record: GenerationRecord, _ own: WorkFile, _ files: [WorkFile], _ order: PrimeOrder,
    _ number: Int
  ) throws {
    let scope: StoreScope = order.isGlobal ? .global : .user
    guard record.digest == own.sha256, record.snapshot == order.user.id,
      record.generation == number, record.run == order.run, record.created == order.created,
      record.configHash == run.pipeline.definitionsHash(of: scope),
      Set(record.carried.map(\.edit)).isSubset(of: Set(order.carried.map(\.edit)))
    else { throw Unfit(reason: "its \(GenerationRecord.fileName) is not for the order") }
    let digests = Dictionary(files.map { ($0.path, $0.sha256) }) { first, _ in first }
    var allowed = Set(GenerationFiles.plain)
    for platform in run.pipeline.platforms {
      for settings in run.pipeline.stores(of: scope) {
        let path = PrimeJob.path(of: settings, platform, order)
        let entry = record.entries(of: platform).first { $0.storeName == settings.storeName }
        let name = platform.rawValue + "/" + path
        guard let entry, entry.path == path, entry.stampID == order.stampIDs[number]?[platform],
          digests[name] == entry.sha256
        else { throw Unfit(reason: "its store \(name) is not for the order") }
        allowed.formUnion([name, CarryingStore.cleanDirectory + "/" + name])
      }
    }
    guard digests.count == files.count, Set(digests.keys).isSubset(of: allowed),
      record.stores.count == run.pipeline.platforms.count * run.pipeline.stores(of: scope).count
    else { throw Unfit(reason: "it has other files than a generation") }
  }

  /// Writes the records that a generation issued.
  private func adopt(
    _ issued: WorkFile, number: Int, of id: String, _ store: WorkStore
  ) async throws {
    let file = run.data.issued(number, of: id)
    guard let directory = Files.parent(of: file) else { return }
    try Files.makeDirectory(directory)
    let name = Files.name(of: DurableFile.temporaryName(for: file))
    defer {
      // Removed with other temporary files by the next run at the latest.
      try? Files.remove(directory + "/" + name)
    }
    try await store.get(
      [WorkFile(path: name, sha256: issued.sha256, bytes: issued.bytes)], into: directory)
    _ = try IssuedRecordReader(path: directory + "/" + name)
    try DurableFile.rename(directory + "/" + name, to: file)
  }
}
