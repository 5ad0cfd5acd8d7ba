import JSON
import Salesforce

// Creates that were resolved as not done, and whose requests may have arrived since.
extension InDoubtResolver {
  /// Returns the records that the creates have made after all, in order; nil for those without a
  /// known record.
  ///
  /// These creates no longer wait for a response. A record matches only if its sender created it in
  /// their time, nothing else accounts for it, and none of the `rivals` can have made it. It must
  /// still have everything that was sent. If `isResolved`, because the org accepted the same create
  /// when it was sent again or an operator discarded it, later changes by others do not matter
  /// (`mayBe`). Otherwise a create that the org most likely refuses has made nothing.
  package func arrived(
    _ creates: [PendingWrite], of sobject: String, isResolved: (_ place: Int) throws -> Bool
  ) async throws -> [UnacknowledgedCreates.Made?] {
    let describe = try await reader.describe(sobject)
    var arrived: [UnacknowledgedCreates.Made?] = creates.map { _ in nil }
    var given: Set<String> = []
    let likely = try creates.indices.filter {
      try !UnacknowledgedCreates.isRefused(creates[$0].fields, describe) || isResolved($0)
    }
    for (user, places) in Dictionary(grouping: likely, by: { creates[$0].userID }) {
      guard let user else { continue }
      let lost = places.map { unacknowledged(creates[$0]) }
      let found = try await reader.rows(
        UnacknowledgedCreates.question(describe, of: lost, userID: user)
      ).filter { record in
        let id = UnacknowledgedCreates.id(of: record) ?? ""
        return try !given.contains(id) && !isTaken(id)
          && !rivals.contains { WriteEvidence.isWhole($0.fields, in: record) }
      }
      if found.isEmpty { continue }
      let fates = UnacknowledgedCreates.match(lost, found, asksPerson: false)
      for (place, fate) in zip(places, fates) {
        guard let made = fate.made, made.changed.isEmpty, !made.isDeleted else { continue }
        arrived[place] = made
        given.insert(made.id)
      }
      for (place, create) in zip(places, lost) {
        guard try arrived[place] == nil && isResolved(place),
          let made = Self.likeliest(of: create, found, describe, besides: given)
        else { continue }
        arrived[place] = made
        given.insert(made.id)
      }
    }
    return arrived
  }

  /// Returns the record that a create most likely made and that the org's automation or a user
  /// changed since; nil if there is none.
  ///
  /// This is no proof. It is only reported, so that an operator can compare the records.
  private static func likeliest(
    of create: PendingWrite, _ found: [JSONObject], _ describe: Describe,
    besides given: Set<String>
  ) -> UnacknowledgedCreates.Made? {
    found.filter {
      $0["IsDeleted"]?.bool != true && UnacknowledgedCreates.isInTime(of: create, $0)
        && (WriteEvidence.holds($0, create.fields)
          || UnacknowledgedCreates.mayBe($0, create.fields, describe, isLikely: true))
    }.compactMap { UnacknowledgedCreates.Made($0, sent: create.fields) }
      .filter { !given.contains($0.id) }
      .min {
        UnacknowledgedCreates.likeness(of: create.fields, with: $0.record)
          > UnacknowledgedCreates.likeness(of: create.fields, with: $1.record)
      }
  }
}
