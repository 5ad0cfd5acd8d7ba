import JSON
import Salesforce

// Creates that were resolved as not done, and whose requests may have arrived since.
extension InDoubtResolver {
  /// Returns the records that the creates have made after all, in order; nil for those without a
  /// known record.
  ///
  /// These creates no longer wait for a response. A record matches only if it still has everything
  /// that was sent, nothing else accounts for it, and none of the `rivals` can have made it.
  /// `wasTaken` tells whether the org accepted the same create when it was sent again; otherwise a
  /// create that the org most likely refuses has made nothing.
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

  /// Returns the record that the org's automation most likely made from a create; nil if there is
  /// none, or several.
  ///
  /// This is no proof. It is reported only in addition to a record that the create has made since,
  /// so that an operator can compare both.
  private static func rewritten(
    _ create: PendingWrite, _ found: [JSONObject], besides given: Set<String>
  ) -> UnacknowledgedCreates.Made? {
    let made = found.filter {
      $0["IsDeleted"]?.bool != true && UnacknowledgedCreates.isInTime(of: create, $0)
        && ArrivedWrite.holds($0, create.fields)
    }.compactMap { UnacknowledgedCreates.Made($0, sent: create.fields) }
      .filter { !given.contains($0.id) }
    return made.count == 1 ? made[0] : nil
  }
}
