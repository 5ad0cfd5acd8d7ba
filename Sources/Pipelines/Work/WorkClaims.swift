import Crypto
import JSON
import ObjectStore
import System

/// Who performs which order.
///
/// A claim only saves work: an order that two workers perform has two results, of which the run
/// adopts one.
struct WorkClaims: Sendable {
  let store: WorkStore
  let set: String
  let shard: Shard
  /// The age at which a claim expires, in seconds: no worker takes so long.
  let seconds: Int

  /// A claim that was written.
  struct Claim: Sendable {
    fileprivate let key: String
    fileprivate let version: ObjectVersion
  }

  /// Claims an order; returns the claim, or nil if another worker performs the order.
  ///
  /// A claim of this shard counts for this process: its engine started it again.
  func claim(_ order: Int) async throws -> Claim? {
    let claims = try await store.entries(WorkStore.claims(of: set), of: order)
    let newest = claims.max { attempt($0) < attempt($1) }
    if let newest, isLive(newest), try await owner(newest) != shard.text { return nil }
    let key = store.key(WorkStore.claims(of: set)) + "\(order).\((newest.map(attempt) ?? 0) + 1)"
    let text: JSONValue = [
      "shard": .string(shard.text), "host": .string(ProcessEnvironment.hostName()),
      "time": .string(Dates.utc(Clock.wallMilliseconds())),
    ]
    do throws(ObjectStoreError) {
      let version = try await store.store.put(key, ObjectContent(text.bytes), if: .absent)
      return Claim(key: key, version: version)
    } catch {
      guard error.kind == .conditionFailed else { throw error }
      return nil
    }
  }

  /// Lets others claim the order.
  func release(_ claim: Claim) async throws(ObjectStoreError) {
    try await store.store.delete(claim.key, matching: claim.version)
  }

  private func attempt(_ entry: WorkStore.Entry) -> Int { entry.rest.last.flatMap { Int($0) } ?? 0 }

  private func isLive(_ entry: WorkStore.Entry) -> Bool {
    Clock.wallMilliseconds() - entry.object.modified < Int64(seconds) * 1000
  }

  private func owner(_ entry: WorkStore.Entry) async throws -> String? {
    guard let found = try await store.content(entry.object.key, limit: 1 << 16) else { return nil }
    return (try? JSONValue(parsing: found.bytes))?["shard"]?.string
  }
}
