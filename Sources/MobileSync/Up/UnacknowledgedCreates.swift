import JSON
import Salesforce
import System

/// Finds out which records of the org are those that creates without an answer have made.
///
/// Absence of a likeness proves nothing: somebody may have corrected the record since, given it to
/// another owner or deleted it, and an org's automation does so at once. So every record that the
/// sender has made at that time and that nothing else accounts for may be what was made.
package enum UnacknowledgedCreates {
  /// How far a record agrees with what was sent.
  package enum Agreement: Sendable, Hashable {
    /// In every field that could be compared.
    case whole
    /// In most.
    case partial
    /// In few or none.
    case none
  }

  /// A create without an answer.
  package struct Lost: Sendable {
    /// What was sent.
    package var fields: JSONObject
    /// When it was noted to be sent, in milliseconds of the org's time.
    package var sent: Int64
    /// When the last of it can have arrived, in milliseconds of the org's time.
    package var until: Int64
    /// Whether that moment has passed; before, only what agrees as a whole is taken for it.
    package var isOver: Bool
    /// Whether nobody knows that it was sent at all: in all that time its sender has made records by himself,
    /// so that only what holds all that would have been sent is taken for it.
    package var isPresumed = false
    /// Others who may have sent it.
    package var otherSenders: [String] = []
    /// Whether another state of it may have been sent: then what its sender has made may be that.
    package var isRevised = false
    /// How far `sent` may be ahead of the dates of the org's records, in milliseconds; 0 where the org's answers
    /// and its records are dated alike.
    package var ahead: Int64 = 0

    /// A create.
    package init(_ fields: JSONObject, sent: Int64, until: Int64, isOver: Bool = true) {
      self.fields = fields
      self.sent = sent
      self.until = until
      self.isOver = isOver
    }
  }

  /// What a lost create has made, as it stands in the org now.
  package struct Made: Sendable, Hashable {
    /// The record's 18-character id.
    package var id: String
    /// The record.
    package var record: JSONObject
    /// The names of sent fields that hold another value now.
    package var changed: [String] = []

    /// Whether it is in the recycle bin.
    package var isDeleted: Bool { record["IsDeleted"]?.bool ?? false }
    /// The record that it was merged into.
    package var masterID: String? { Self.id(record["MasterRecordId"]) }
    /// The record's owner.
    package var ownerID: String? { Self.id(record["OwnerId"]) }
    /// Who made it.
    package var creatorID: String? { Self.id(record["CreatedById"]) }

    /// A record with what has changed in it since it was sent; nil for one without an id.
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

    /// What has become of it since, in words; nil where it stands as it was sent.
    package var words: String? {
      let parts = becameOf
      guard !parts.isEmpty else { return nil }
      return "no answer came back; the record was found, and " + parts.joined(separator: "; ")
    }

    /// The same as parts of a sentence.
    package var becameOf: [String] {
      var parts: [String] = []
      if let masterID {
        parts.append("it was merged into \(masterID) since")
      } else if isDeleted {
        parts.append("it was deleted since")
      }
      if !changed.isEmpty {
        let names = changed.joined(separator: ", ")
        parts.append("the org holds other values than were sent in \(names)")
      }
      if let ownerID, let creatorID, ownerID != creatorID, !changed.contains("OwnerId") {
        parts.append("it belongs to another owner")
      }
      return parts
    }
  }

  /// What became of a create.
  package enum Fate: Sendable, Hashable {
    /// It made this record.
    case made(Made)
    /// It made none.
    case notMade
    /// Only a person can tell; the ids are those of the records that it may have made.
    case unclear(String, ids: [String])

    /// The record that it made.
    var madeID: String? {
      if case .made(let made) = self { made.id } else { nil }
    }
  }

  /// How far an org's clocks may lie apart, in milliseconds.
  ///
  /// The time of a request is noted by the clock of the server that answered the one before, and
  /// another server dates the record. Five minutes is what an org allows a login assertion.
  package static let slackMilliseconds: Int64 = 300_000

  /// How long after the quiet window a request may still have arrived, in milliseconds.
  ///
  /// A proxy that holds one holds it for hours at most. Such a record has to agree as a whole.
  package static let lateMilliseconds: Int64 = 24 * 60 * 60 * 1000

  /// Compares what was sent with a record; fields that the record lacks are not compared, and an org
  /// may have trimmed a value.
  package static func agreement(of payload: JSONObject, with record: JSONObject) -> Agreement {
    let compared = payload.filter { record[$0.name] != nil }
    guard !compared.isEmpty else { return payload.isEmpty ? .whole : .partial }
    let same = compared.count { FieldValue.isSame($0.value, record[$0.name]) }
    if same == compared.count { return .whole }
    return same * 2 > compared.count ? .partial : .none
  }

  /// Gives records that nothing else accounts for to creates; one fate for each.
  ///
  /// A record that only its maker has touched and that holds nothing of what was sent is most likely
  /// the sender's own work at that time. With `asksPerson` a person is asked; where nobody can be, it
  /// is taken for that.
  package static func match(
    _ creates: [Lost], _ candidates: [JSONObject], asksPerson: Bool = true
  ) -> [Fate] {
    var matching = UnacknowledgedCreatesMatching(creates, candidates, asksPerson: asksPerson)
    return matching.fates()
  }

  /// The 18-character id of a record.
  package static func id(of record: JSONObject) -> String? {
    record["Id"]?.string?.recordID18
  }

  /// The fields that tell whose a record is, and what has become of it.
  package static let auditFields = [
    "CreatedDate", "CreatedById", "LastModifiedDate", "LastModifiedById", "OwnerId", "IsDeleted",
    "MasterRecordId",
  ]

  /// Says whether a record was made at a time at which a create can have made it.
  package static func isInTime(of create: Lost, _ record: JSONObject) -> Bool {
    guard let date = record["CreatedDate"]?.string, let created = Dates.milliseconds(iso8601: date)
    else { return false }
    return isInTime(of: create, created, lateBy: lateMilliseconds)
  }

  static func isInTime(of create: Lost, _ created: Int64, lateBy late: Int64) -> Bool {
    created >= create.sent - slackMilliseconds && created <= create.until + late
  }

  /// The question for what a user has created in the time of some creates, deleted records too, with those
  /// of the sent fields that the asker may read.
  ///
  /// Long text cannot be filtered, so that the fields are compared here.
  package static func question(
    _ describe: Describe, of creates: [Lost], userID: String
  ) -> RecordReader.Question {
    let names = readable(creates.flatMap(\.fields.names), describe, and: auditFields)
    let from = (creates.map { $0.sent - $0.ahead }.min() ?? 0) - slackMilliseconds
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

  /// The first of some ids, in words, and how many more there are.
  static func named(_ ids: [String]) -> String {
    let shown = ids.prefix(10).joined(separator: ", ")
    return ids.count > 10 ? "\(shown) and \(ids.count - 10) more" : shown
  }

  /// In how many fields a record holds what was sent.
  static func likeness(of fields: JSONObject, with record: JSONObject) -> Int {
    fields.count { name, value in
      !FieldValue.isSame(value, nil) && FieldValue.isSame(value, record[name])
    }
  }

  /// The ids of records that may be what a create made, the likeliest first: by the fields that hold what was
  /// sent, and then the newest.
  ///
  /// A person reads the first of them.
  static func byLikeness(
    _ records: [(id: String, record: JSONObject, created: Int64)], to fields: JSONObject
  ) -> [String] {
    records.map { (id: $0.id, like: likeness(of: fields, with: $0.record), created: $0.created) }
      .sorted { ($0.like, $0.created, $1.id) > ($1.like, $1.created, $0.id) }.map(\.id)
  }

  /// What became of a create that the org most likely refused, beside the records that nothing accounts for.
  ///
  /// One that holds all that was sent may be what it made: it is never taken for that without a person.
  static func fate(ofRefused create: Lost, _ records: [JSONObject]) -> Fate {
    fate(
      of: create, records,
      because: "a field that the org asks for was sent empty, and its automation may have filled it"
    )
  }

  /// What became of a create that has made none of the records of its time, where the dates of the org's answers
  /// cannot be trusted: they may be those of something that stands between.
  static func fate(ofMisdated create: Lost, _ records: [JSONObject]) -> Fate {
    if create.ahead <= 0 { return .notMade }
    var earlier = create
    earlier.sent -= create.ahead
    return fate(
      of: earlier, records,
      because:
        "the org's answers are dated \(create.ahead / 60_000) minutes ahead of this machine, "
        + "and its records perhaps not")
  }

  private static func fate(
    of create: Lost, _ records: [JSONObject], because words: String
  ) -> Fate {
    let ids = records.filter { record in
      isInTime(of: create, record) && agreement(of: create.fields, with: record) == .whole
        && create.fields.contains { !FieldValue.isSame($0.value, nil) && record[$0.name] != nil }
    }.compactMap(id(of:)).sorted()
    if ids.isEmpty { return .notMade }
    let count =
      ids.count == 1 ? "1 record may be what it made" : "\(ids.count) records may be what it made"
    return .unclear("\(words); \(count): \(named(ids))", ids: ids)
  }

  /// Says whether an org most likely refuses such a create: a field that its describe asks for has no value.
  ///
  /// It is no proof: an org asks for it when its automation has run, and a person's name is made of others.
  package static func isRefused(_ payload: JSONObject, _ describe: Describe) -> Bool {
    describe.fields.contains { field in
      field.isCreateable && !field.isNillable && !field.isDefaultedOnCreate
        && field.type != "boolean" && FieldValue.isSame(payload[field.name], nil)
    }
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
