import JSON
import Salesforce
import System

/// Finds out which records of the org are those that creates without an answer have made.
package enum LostCreates {
  /// How far a record agrees with what was sent.
  package enum Agreement: Sendable, Hashable {
    /// In every field that could be compared.
    case whole
    /// In most.
    case partial
    /// In few or none.
    case none
  }

  /// What became of a create.
  package enum Fate: Sendable, Hashable {
    /// It made the record of this id.
    case made(String)
    /// It made none.
    case notMade
    /// Only a person can tell.
    case unclear(String)
  }

  /// Compares what was sent with a record; fields that the record lacks are not compared, and an org
  /// may have trimmed a value.
  package static func agreement(
    of payload: JSONObject, with record: JSONObject
  ) -> Agreement {
    let compared = payload.filter { record[$0.name] != nil }
    guard !compared.isEmpty else { return payload.isEmpty ? .whole : .partial }
    let same = compared.count { FieldValue.isSame($0.value, record[$0.name]) }
    if same == compared.count { return .whole }
    return same * 2 > compared.count ? .partial : .none
  }

  /// Gives records that nobody else claims to creates; one fate for each payload.
  ///
  /// Equal creates are interchangeable: as many records as creates are theirs. Where the numbers
  /// differ, or a record agrees in part, a person has to look.
  package static func match(_ payloads: [JSONObject], _ candidates: [JSONObject]) -> [Fate] {
    var fates = [Fate](repeating: .notMade, count: payloads.count)
    var free = candidates
    var unmatched: [Int] = []
    let groups = Dictionary(grouping: payloads.indices) { JSONValue.object(payloads[$0]) }
    for group in groups.values.sorted(by: { $0[0] < $1[0] }) {
      let agreeing = free.filter { agreement(of: payloads[group[0]], with: $0) == .whole }
      let ids = agreeing.compactMap { id(of: $0) }
      if ids.count == group.count {
        for (index, id) in zip(group, ids) { fates[index] = .made(id) }
        free.removeAll { id(of: $0).map(ids.contains) ?? false }
      } else if ids.isEmpty {
        unmatched += group
      } else {
        let words = "\(ids.count) records may be what \(group.count) creates made"
        for index in group { fates[index] = .unclear(words) }
      }
    }
    for index in unmatched
    where free.contains(where: { agreement(of: payloads[index], with: $0) == .partial }) {
      fates[index] = .unclear("a record created at that time agrees in part with it")
    }
    return fates
  }

  /// The 18-character id of a record.
  package static func id(of record: JSONObject) -> String? {
    record["Id"]?.string.flatMap { RecordID($0)?.text18 }
  }

  /// Asks for what a user has created since a moment, with those of the fields that can be read.
  ///
  /// Long text cannot be filtered, so that the fields are compared here.
  package nonisolated(nonsending) static func candidates(
    _ session: Session, _ describe: Describe, fields: some Sequence<String>, userID: String,
    since: Int64
  ) async throws(OrgError) -> [JSONObject] {
    let names = readable(fields, describe, and: ["CreatedDate"])
    // A user's id is letters and digits: RecordID has read it.
    let soql =
      "SELECT \(names.joined(separator: ", ")) FROM \(describe.name) "
      + "WHERE CreatedById = '\(userID)' "
      + "AND CreatedDate >= \(Dates.utcSeconds(since)) ORDER BY Id"
    return try await session.queryAllRecords(soql).compactMap(\.object)
  }

  /// Those of the fields that the user may read, with `Id` and `others`.
  package static func readable(
    _ fields: some Sequence<String>, _ describe: Describe, and others: [String]
  ) -> [String] {
    let names = Set(fields).union(others)
    return ["Id"]
      + Set(names.compactMap { describe.field($0)?.name }).filter { $0 != "Id" }.sorted()
  }
}
