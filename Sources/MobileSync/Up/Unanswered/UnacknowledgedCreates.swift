import JSON
import Salesforce
import System

/// Determines which of the org's records were made by creates without a response.
///
/// The absence of a match proves nothing: a user may have corrected the record, changed its owner
/// or deleted it since, and an org's automation does so at once. Every record that the sender
/// created at that time and that nothing else accounts for may therefore be the result.
package enum UnacknowledgedCreates {
  /// The record that a lost create has made, in its current state.
  package struct Made: Sendable, Hashable {
    /// The record's 18-character ID.
    package var id: String
    package var record: JSONObject
    /// The names of sent fields that have another value now.
    package var changed: [String] = []

    /// Whether it is in the recycle bin.
    package var isDeleted: Bool { record["IsDeleted"]?.bool ?? false }
    /// The record into which it was merged.
    package var masterID: String? { Self.id(record["MasterRecordId"]) }
    package var ownerID: String? { Self.id(record["OwnerId"]) }
    package var creatorID: String? { Self.id(record["CreatedById"]) }

    /// Creates it from a record, with its changes since it was sent; nil for a record without an
    /// ID.
    package init?(_ record: JSONObject, sent: JSONObject) {
      guard let id = UnacknowledgedCreates.id(of: record) else { return nil }
      self.id = id
      self.record = record
      changed = sent.names.filter { name in
        guard let value = record[name] else { return false }
        return !FieldValue.isSame(sent[name], value)
      }.sorted()
    }

    private static func id(_ value: JSONValue?) -> String? {
      value?.string?.recordID18
    }

    /// A description of later changes; nil if the record is unchanged since it was sent.
    package var words: String? {
      let parts = becameOf
      guard !parts.isEmpty else { return nil }
      return "no response arrived; the record was found, and " + parts.joined(separator: "; ")
    }

    /// The same description as parts of a sentence.
    package var becameOf: [String] {
      var parts: [String] = []
      if let masterID {
        parts.append("it has been merged into \(masterID)")
      } else if isDeleted {
        parts.append("it has been deleted")
      }
      if !changed.isEmpty {
        let names = changed.joined(separator: ", ")
        parts.append("the org has other values than were sent in \(names)")
      }
      if let ownerID, let creatorID, ownerID != creatorID, !changed.contains("OwnerId") {
        parts.append("it has another owner")
      }
      return parts
    }
  }

  /// The maximum difference between an org's clocks, in milliseconds.
  ///
  /// The time of a request comes from the server that sent the previous response, and another
  /// server dates the record. Five minutes is also the tolerance that an org grants a login
  /// assertion.
  package static let slackMilliseconds: Int64 = 300_000

  /// How long after the wait an unanswered request may still arrive, in milliseconds.
  ///
  /// A proxy delays a request by hours at most. A record from that time must agree in full.
  package static let lateMilliseconds: Int64 = 24 * 60 * 60 * 1000

  /// Assigns records that nothing else accounts for to creates; returns an outcome for each create.
  ///
  /// A record that only its creator has changed and that has nothing of what was sent is most
  /// likely the sender's separate work. With `asksPerson` an operator decides; otherwise it counts
  /// as separate work.
  ///
  /// A record from the day after the wait is adopted only if it agrees in full. With the object's
  /// `describe`, an operator decides about one that was changed since (`mayBe`).
  package static func match(
    _ creates: [PendingWrite], _ candidates: [JSONObject], _ describe: Describe? = nil,
    asksPerson: Bool = true
  ) -> [InDoubtResolver.Resolution] {
    var matching = UnacknowledgedCreatesMatching(
      creates, candidates, describe, asksPerson: asksPerson)
    return matching.fates()
  }

  /// Whether a record may be what a create made, although values were changed since.
  ///
  /// It must have been changed after it was created, and still have half of the distinctive values
  /// that were sent. With `isLikely`, it must have more than half of them, or half of them with its
  /// whole name. A sender who creates similar records repeats references, choices, and perhaps a
  /// city or a date, but seldom more.
  static func mayBe(
    _ record: JSONObject, _ sent: JSONObject, _ describe: Describe, isLikely: Bool = false
  ) -> Bool {
    let isChanged =
      record["LastModifiedById"] != record["CreatedById"]
      || record["LastModifiedDate"] != record["CreatedDate"]
    var (total, kept, names, keptNames) = (0, 0, 0, 0)
    for (name, value) in sent {
      guard let held = record[name], let field = describe.field(name),
        WriteEvidence.isDistinctive(value, held), !field.type.hasSuffix("picklist")
      else { continue }
      let isName = field.name == "Name" || field.compoundFieldName == "Name"
      let isKept = FieldValue.isSame(value, held)
      total += 1
      kept += isKept ? 1 : 0
      names += isName ? 1 : 0
      keptNames += isName && isKept ? 1 : 0
    }
    let isEnough = !isLikely || (names > 0 && keptNames == names)
    return isChanged && kept > 0 && (kept * 2 > total || (isEnough && kept * 2 == total))
  }

  /// The 18-character ID of a record.
  package static func id(of record: JSONObject) -> String? {
    record["Id"]?.string?.recordID18
  }

  /// The 18-character ID of a record that was read; nil if there was none.
  package static func id(ofSeen record: JSONValue?) -> String? { record?.object.flatMap(id(of:)) }

  /// The fields that show who owns and created a record and what happened to it since.
  package static let auditFields = [
    "CreatedDate", "CreatedById", "LastModifiedDate", "LastModifiedById", "OwnerId", "IsDeleted",
    "MasterRecordId",
  ]

  /// Whether a record was created at a time at which the create can have made it.
  package static func isInTime(of create: PendingWrite, _ record: JSONObject) -> Bool {
    guard let date = record["CreatedDate"]?.string, let created = Dates.milliseconds(iso8601: date)
    else { return false }
    return isInTime(of: create, created, lateBy: lateMilliseconds)
  }

  /// Whether a record is dated before a create was sent, and has nothing distinctive of what was
  /// sent.
  ///
  /// Another clock of the org may have dated it, so the date alone does not decide.
  static func isLikelyOlder(than create: PendingWrite, _ record: JSONObject) -> Bool {
    guard let date = record["CreatedDate"]?.string, let created = Dates.milliseconds(iso8601: date)
    else { return true }
    return created < create.since / 1000 * 1000
      && !create.fields.contains { name, value in
        WriteEvidence.isDistinctive(value, record[name]) && FieldValue.isSame(value, record[name])
      }
  }

  static func isInTime(of create: PendingWrite, _ created: Int64, lateBy late: Int64) -> Bool {
    created >= create.since - slackMilliseconds && created <= create.until + late
  }

  /// Returns the query for the records that a user created in the time of the creates, including
  /// deleted ones, with those of the sent fields that the reader may see.
  ///
  /// Long text cannot be filtered, so fields are compared here.
  package static func question(
    _ describe: Describe, of creates: [PendingWrite], userID: String
  ) -> RecordReader.Question {
    let names = readable(creates.flatMap(\.fields.names), describe, and: auditFields)
    let from = (creates.map { $0.since - $0.ahead }.min() ?? 0) - slackMilliseconds
    let to = (creates.map(\.until).max() ?? 0) + lateMilliseconds
    let others = Set(creates.flatMap(\.otherSenders)).subtracting([userID]).sorted()
    let texts = ([userID] + others).map(SOQLLiteral.text)
    let senders = others.isEmpty ? "= " + texts[0] : "IN (" + texts.joined(separator: ", ") + ")"
    return .search(
      describe, fields: names,
      where: "CreatedById \(senders) "
        + "AND CreatedDate >= \(SOQLLiteral.second(max(0, from))) "
        + "AND CreatedDate <= \(SOQLLiteral.second(to)) ORDER BY Id", all: true)
  }

  /// Lists the first IDs and the number of further ones.
  static func named(_ ids: [String]) -> String {
    let shown = ids.prefix(10).joined(separator: ", ")
    return ids.count > 10 ? "\(shown) and \(ids.count - 10) more" : shown
  }

  /// The number of fields in which a record has what was sent.
  static func likeness(of fields: JSONObject, with record: JSONObject) -> Int {
    fields.count { name, value in
      !FieldValue.isSame(value, nil) && FieldValue.isSame(value, record[name])
    }
  }

  /// Returns the IDs of the records that a create may have made, the most likely first: by the
  /// number of matching fields, then the newest.
  ///
  /// An operator reads the first of them.
  static func byLikeness(
    _ records: [(id: String, record: JSONObject, created: Int64)], to fields: JSONObject
  ) -> [String] {
    records.map { (id: $0.id, like: likeness(of: fields, with: $0.record), created: $0.created) }
      .sorted { ($0.like, $0.created, $1.id) > ($1.like, $1.created, $0.id) }.map(\.id)
  }

  /// Returns the outcome of a create that the org most likely refused, given the records that
  /// nothing accounts for.
  ///
  /// A record with everything that was sent may be its result, but is never assigned to it without
  /// an operator's decision.
  static func fate(
    ofRefused create: PendingWrite, _ records: [JSONObject]
  ) -> InDoubtResolver.Resolution {
    fate(
      of: create, records,
      because: "a required field was sent empty, and the org's automation may have filled it"
    )
  }

  /// Returns the outcome of a create without a matching record, if the dates of the org's responses
  /// cannot be trusted because they may come from a proxy.
  static func fate(
    ofMisdated create: PendingWrite, _ records: [JSONObject]
  ) -> InDoubtResolver.Resolution {
    if create.ahead <= 0 { return .notDone() }
    var earlier = create
    earlier.since -= create.ahead
    return fate(
      of: earlier, records,
      because:
        "the org's responses are dated \(create.ahead / 60_000) minutes ahead of this machine, "
        + "and its records may not be")
  }

  private static func fate(
    of create: PendingWrite, _ records: [JSONObject], because words: String
  ) -> InDoubtResolver.Resolution {
    let ids = records.filter { record in
      isInTime(of: create, record) && WriteEvidence.isWhole(create.fields, in: record)
        && create.fields.contains { !FieldValue.isSame($0.value, nil) && record[$0.name] != nil }
    }.compactMap(id(of:)).sorted()
    if ids.isEmpty { return .notDone() }
    let count = CountText.of(ids.count, "record")
    return .unclear("\(words); \(count) may be its result: \(named(ids))", ids: ids)
  }

  /// Whether an org most likely refuses such a create: a field that its describe marks as required
  /// has no value.
  ///
  /// This is no proof: an org requires the field only after its automation has run, and a contact's
  /// name consists of other fields.
  package static func isRefused(_ payload: JSONObject, _ describe: Describe) -> Bool {
    describe.fields.contains { field in
      field.isCreateable && !field.isNillable && !field.isDefaultedOnCreate
        && field.type != "boolean" && FieldValue.isSame(payload[field.name], nil)
    }
  }

  /// Returns those of the fields that the user may read, with `Id` and `others`.
  package static func readable(
    _ fields: some Sequence<String>, _ describe: Describe, and others: [String]
  ) -> [String] {
    let names = Set(fields).union(others)
    return ["Id"]
      + Set(names.compactMap { describe.field($0)?.name }).filter { $0 != "Id" }.sorted()
  }
}
