import MobileSync
import Reports
import Salesforce
import Snapshots
import System

/// The forecast of a prime in a dry run, with record counts if the org can count them.
struct PrimePlan {
  let run: RunContext
  /// The number of users who have a snapshot.
  let users: Int

  private typealias Counts = [String: Int]

  /// The running totals of the forecast.
  private struct Sum {
    /// The requests for snapshots primed before, beyond those of the last time, and for the others.
    var requests = 0
    var records = 0
    /// The number of snapshots that were primed before.
    var known = 0
    var isAtLeast = false
    /// The counted records, by sync.
    var bySync: Counts = [:]
  }

  /// Counts records as each user, and adds the forecast to the plan.
  func make(_ jobs: [PrimeJob]) async throws {
    let access = run.access
    let counted = await InFlight.all(
      run.pipeline.limits.jobs,
      jobs.map { job in
        { () async -> Result<Counts, any Error> in
          do { return .success(try await job.counts(with: access)) } catch {
            return .failure(error)
          }
        }
      })
    try Task.checkCancellation()
    let history = try RunHistory(.prime, run.ledger)
    var sum = Sum()
    for (job, answer) in zip(jobs, counted) {
      var counts: Counts = [:]
      switch answer {
      case .success(let found)?: counts = found
      case .failure(let error)?:
        run.warn(
          "\(job.user.username): records could not be counted: \(PipelineError(describing: error).description)"
        )
      case nil: break
      }
      add(job, counts, history, &sum)
    }
    tell(sum, history)
    await tellSharing(jobs)
  }

  /// Adds which records and fields the users would fetch for each other, as far as the org has
  /// described the objects to them.
  private func tellSharing(_ jobs: [PrimeJob]) async {
    let prime = run.pipeline.prime
    guard prime.share != .never, prime.fetchAs == .user, users > 1 else { return }
    var check = SharingCheck(run.pipeline)
    for job in jobs where !job.isGlobal {
      if let session = try? await job.session(run.access) { check.add(session, nil) }
    }
    run.summary.plan += check.plan
  }

  private static func pages(_ records: Int) -> Int {
    let size = SoqlTarget.defaultBatchSize
    return max(1, (records + size - 1) / size)
  }

  private func add(_ job: PrimeJob, _ counts: Counts, _ history: RunHistory, _ sum: inout Sum) {
    let id = job.user.id
    var rest = history.fetched(of: id)
    let isKnown = rest != nil
    if isKnown { sum.known += 1 } else { sum.requests += 1 }
    for store in job.stores {
      for sync in store.primed {
        let before = rest?.removeValue(forKey: sync.soupName)
        guard let count = counts[PrimeInput.key(store.storeName, sync.syncName)] else {
          sum.records += before ?? 0
          if !isKnown {
            sum.requests += 1
            sum.isAtLeast = true
          }
          continue
        }
        sum.records += count
        sum.bySync[sync.syncName, default: 0] += count
        sum.requests += Self.pages(count) - (isKnown ? Self.pages(before ?? 0) : 0)
      }
    }
    // The records that one sync brings into several soups.
    sum.records += (rest ?? [:]).values.reduce(0, +)
  }

  private func tell(_ sum: Sum, _ history: RunHistory) {
    for store in run.pipeline.stores {
      for sync in store.primed {
        let whom =
          store.scope == .global ? ReportEdit.globalOwner : CountText.of(users, "user")
        let count = sum.bySync[sync.syncName].map { ": \(CountText.of($0, "record")) to read" }
        run.summary.plan.append(
          "prime: \(sync.syncName) into \(sync.soupName) for \(whom)\(count ?? "")")
      }
    }
    var cost = StageCost(.prime, requests: sum.requests, records: sum.records)
    let share = Double(sum.known) / Double(max(1, history.snapshots))
    if let last = history.last?.cost {
      cost.requests = max(0, cost.requests + Int((Double(last.requests) * share).rounded()))
      if run.pipeline.prime.share != .never, last.used > 0 {
        // The same share of the records is expected to be fetched for others as in the last run.
        cost.records = sum.records * last.records / last.used
      }
      let more = Double(cost.records) - Double(last.records) * share
      let bytes = Double(last.bytes) * share + more * (history.bytesOfRecord ?? 0)
      cost.bytes = Int(max(0, bytes))
    }
    let forecast = StageForecast(
      cost: cost, isAtLeast: sum.isAtLeast, knowsBytes: history.bytesOfRecord != nil,
      last: history.last)
    run.summary.forecasts.append(forecast)
    run.summary.plan += forecast.lines
  }
}
