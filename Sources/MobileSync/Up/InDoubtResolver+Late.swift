import JSON
import Salesforce

// Creates that were held to have made nothing, and whose requests may have arrived since.
extension InDoubtResolver {
  /// The records that creates have made after all, in their order; nil for one of which none is known.
  ///
  /// Nobody waits for an answer: only a record that holds all of a create still is taken for it, that nothing
  /// accounts for and that none of the `rivals` can have made. `wasTaken` says whether the org took the same when it
  /// was sent again: else what it most likely refuses has made nothing.
  package func arrived(
    _ creates: [PendingWrite], of sobject: String, wasTaken: (_ place: Int) throws -> Bool
  ) async throws -> [UnacknowledgedCreates.Made?] {
    let describe = try await reader.describe(sobject)
    var arrived: [UnacknowledgedCreates.Made?] = creates.map { _ in nil }
    var given: Set<String> = []
    let likely = try creates.indices.filter {
      try !UnacknowledgedCreates.isRefused(creates[$0].fields, describe) || wasTaken($0)
    }
    for (user, places) in Dictionary(grouping: likely, by: { creates[$0].userID }) {
      guard let user else { continue }
      let lost = places.map { unacknowledged(creates[$0]) }
      let found = try await reader.rows(
        UnacknowledgedCreates.question(describe, of: lost, userID: user)
      ).filter { record in
        let id = UnacknowledgedCreates.id(of: record) ?? ""
        return try !given.contains(id) && !isTaken(id)
          && !rivals.contains {
            UnacknowledgedCreates.agreement(of: $0.fields, with: record) == .whole
          }
      }
      if found.isEmpty { continue }
      let fates = UnacknowledgedCreates.match(lost, found, asksPerson: false)
      for (place, fate) in zip(places, fates) {
        guard case .made(let made) = fate, made.changed.isEmpty, !made.isDeleted else { continue }
        arrived[place] = made
        given.insert(made.id)
      }
      for (place, create) in zip(places, lost) {
        guard try arrived[place] == nil && wasTaken(place),
          let made = Self.rewritten(create, found, besides: given)
        else { continue }
        arrived[place] = made
        given.insert(made.id)
      }
    }
    return arrived
  }

  /// The record that the org's rules most likely made of what a create sent; nil where none is, or several are.
  ///
  /// It is no proof: only beside a record that the create has made since is it told, for a person to compare both.
  private static func rewritten(
    _ create: UnacknowledgedCreates.Lost, _ found: [JSONObject], besides given: Set<String>
  ) -> UnacknowledgedCreates.Made? {
    let made = found.filter {
      $0["IsDeleted"]?.bool != true && UnacknowledgedCreates.isInTime(of: create, $0)
        && ArrivedWrite.holds($0, create.fields)
    }.compactMap { UnacknowledgedCreates.Made($0, sent: create.fields) }
      .filter { !given.contains($0.id) }
    return made.count == 1 ? made[0] : nil
  }
}
