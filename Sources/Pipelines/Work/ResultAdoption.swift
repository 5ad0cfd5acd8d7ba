import JSON
import ObjectStore
import SmartStore
import Snapshots
import System

/// Verifies results of workers, and adopts generations from them.
///
/// Of several results for a snapshot, the first that verifies is adopted. A generation comes from
/// one result as a whole.
struct ResultAdoption: Sendable {
  let pipeline: Pipeline
  let data: DataDirectory
  let list: OrderList
  let store: WorkStore

  /// An order with its readable results, oldest first.
  struct Order: Sendable {
    let snapshots: [WorkOrder.Snapshot]
    var results: [WorkResult] = []
    var warnings: [String] = []
  }

  /// The outcome for a snapshot.
  struct Adopted: Sendable {
    let primed: PrimeWork.Primed
    let warnings: [String]
  }

  /// A result that cannot be adopted.
  private struct Unfit: Error {
    let reason: String
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

  private static func warning(_ what: String, _ error: any Error) throws -> String {
    "\(what) is not used: \(try fault(error))"
  }

  // MARK: results

  func order(_ index: Int) async throws -> Order {
    guard let found = try await store.order(index, of: list, pipeline) else {
      throw RunOrders.nothingToCollect
    }
    var order = Order(snapshots: found.snapshots)
    let entries = try await store.entries(WorkStore.results(of: list.set), of: index)
      .sorted { ($0.object.modified, $0.object.key) < ($1.object.modified, $1.object.key) }
    for entry in entries {
      do {
        guard let result = try await store.result(entry) else { continue }
        guard result.order == list.orders[index] else {
          throw Unfit(reason: "is for another order")
        }
        order.results.append(result)
      } catch {
        order.warnings.append(try Self.warning(entry.object.key, error))
      }
    }
    return order
  }

  /// Adopts the first result for a snapshot that verifies.
  func adopt(
    _ snapshot: WorkOrder.Snapshot, from results: [WorkResult]
  ) async throws -> Adopted {
    var warnings: [String] = []
    var failure: (error: any Error, hadNoRequests: Bool)?
    func adopted(
      _ result: Result<PrimeOutput, any Error>, hadNoRequests: Bool = false
    ) -> Adopted {
      let primed = PrimeWork.Primed(
        order: snapshot.order, result: result, hadNoRequests: hadNoRequests, isMisled: false)
      return Adopted(primed: primed, warnings: warnings)
    }
    for result in results {
      for found in result.snapshots where found.userID == snapshot.order.user.id {
        switch found.outcome {
        case .failed(let error): failure = (error, found.hadNoRequests)
        case .primed(let output, let files, let issued):
          do {
            try await adopt(output, files, issued, snapshot)
            return adopted(.success(output))
          } catch {
            let name = "the result of worker \(result.shard) for \(snapshot.order.user.username)"
            warnings.append(try Self.warning(name, error))
          }
        }
      }
    }
    let order = snapshot.order
    let what = order.isGlobal ? "the global store" : "the store of \(order.user.username)"
    let missing = PipelineError(
      .tryLater, "work.no-result", "no worker has primed \(what)",
      fix: "look at the workers' messages, and run the pipeline again")
    // A user without a result was not cut off.
    return adopted(
      .failure(failure?.error ?? missing), hadNoRequests: failure?.hadNoRequests ?? true)
  }

  // MARK: generations

  /// Publishes the generation of a result, unless it is there already.
  private func adopt(
    _ output: PrimeOutput, _ files: [WorkFile], _ issued: WorkFile?,
    _ snapshot: WorkOrder.Snapshot
  ) async throws {
    let order = snapshot.order
    guard output.user == order.user else { throw Unfit(reason: "it is for another user") }
    let directory = SnapshotDirectory(path: data.snapshot(order.user.id))
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
    try await adopt(issued, number: output.generation, of: order.user.id)
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
      record.configHash == pipeline.definitionsHash(of: scope),
      Set(record.carried.map(\.edit)).isSubset(of: Set(order.carried.map(\.edit)))
    else { throw Unfit(reason: "its \(GenerationRecord.fileName) is not for the order") }
    let digests = Dictionary(files.map { ($0.path, $0.sha256) }) { first, _ in first }
    var allowed = Set(GenerationFiles.plain)
    for platform in pipeline.platforms {
      for settings in pipeline.stores(of: scope) {
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
      record.stores.count == pipeline.platforms.count * pipeline.stores(of: scope).count
    else { throw Unfit(reason: "it has other files than a generation") }
  }

  /// Writes the records that a generation issued.
  private func adopt(
    _ issued: WorkFile, number: Int, of id: String
  ) async throws {
    let file = data.issued(number, of: id)
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
