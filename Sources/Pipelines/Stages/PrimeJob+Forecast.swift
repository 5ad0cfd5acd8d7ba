import Salesforce
import Snapshots

extension PrimeJob {
  /// Returns how many records each sync of the snapshot would fetch now, by `PrimeInput.key`.
  ///
  /// Syncs that find out only as they run are left out.
  func counts(with access: OrgAccess) async throws -> [String: Int] {
    let session = try await session(access)
    let fields = try await OpenFields.digest(stores, as: session)
    let previous = try newestRecord().flatMap { try usable($0, session, fields) }
    let variables = variables(session)
    var queries: [(key: String, text: String)] = []
    for store in stores {
      for sync in store.primed {
        let key = PrimeInput.key(store.storeName, sync.syncName)
        let text = try sync.countQuery(
          since: previous?.cursors[key], overlapSeconds: pipeline.prime.overlapSeconds,
          variables: variables)
        if let text { queries.append((key, text)) }
      }
    }
    let counts = try await session.counts(of: queries.map(\.text))
    return zip(queries, counts).reduce(into: [:]) { found, counted in
      found[counted.0.key] = counted.1
    }
  }
}
