import HTTP
import JSON
import System

/// A page of the ids that the briefcases of a user and a connected app hold.
package struct PrimingPage: Sendable, Hashable {
  /// One record of a briefcase.
  package struct Record: Sendable, Hashable {
    /// The 18-character id.
    package let id: String
    /// When it last changed, in milliseconds.
    package let systemModstamp: Int64

    package init(id: String, systemModstamp: Int64) {
      self.id = id
      self.systemModstamp = systemModstamp
    }
  }

  /// How much the rules found, and how much of it came so far; not reliable on real orgs.
  package struct Statistics: Sendable, Hashable {
    /// Rules in all.
    package let ruleCountTotal: Int
    /// Records in all.
    package let recordCountTotal: Int
    /// Rules that were answered.
    package let ruleCountServed: Int
    /// Records that were answered.
    package let recordCountServed: Int
  }

  /// The records of each sObject, those of all its record types together.
  package let records: [String: [Record]]
  /// What to ask the next page with; nil on the last.
  package let relayToken: String?
  /// The rules that failed: records are missing, so nothing may be concluded from an absence.
  package let ruleErrors: [String]
  /// How much there is.
  package let statistics: Statistics

  /// Reads an answer; nil if it is of another shape.
  init?(_ value: JSONValue) {
    guard let types = value["primingRecords"]?.object, let errors = value["ruleErrors"]?.array
    else {
      return nil
    }
    var records: [String: [Record]] = [:]
    for (type, recordTypes) in types {
      guard let recordTypes = recordTypes.object else { return nil }
      for (_, list) in recordTypes {
        guard let list = list.array else { return nil }
        let read = list.compactMap { Record($0) }
        guard read.count == list.count else { return nil }
        records[type, default: []] += read
      }
    }
    self.records = records
    relayToken = value["relayToken"]?.string
    ruleErrors = errors.map { $0["ruleId"]?.string ?? $0.text }
    func count(_ name: String) -> Int { Int(value["stats"]?[name]?.int ?? 0) }
    statistics = Statistics(
      ruleCountTotal: count("ruleCountTotal"), recordCountTotal: count("recordCountTotal"),
      ruleCountServed: count("ruleCountServed"), recordCountServed: count("recordCountServed"))
  }
}

extension PrimingPage.Record {
  fileprivate init?(_ value: JSONValue) {
    guard let id = value["id"]?.string.flatMap({ RecordID($0) }),
      let date = value["systemModstamp"]?.string.flatMap({ Dates.milliseconds(iso8601: $0) })
    else { return nil }
    self.id = id.text18
    systemModstamp = date
  }
}

extension Session {
  /// A page of the ids in the user's briefcases.
  ///
  /// The first page takes the date (0 and less is none), further ones the relay token: the API
  /// forbids both. `Difference:` the SDK sends both on Android, and reads one page only on iOS.
  package func primingRecords(
    changedAfter: Int64? = nil, relayToken: String? = nil
  ) async throws(OrgError) -> PrimingPage {
    var path = path("connect/briefcase/priming-records")
    if let relayToken {
      path += "?" + HTTPQuery.string([("relayToken", relayToken)])
    } else if let changedAfter, changedAfter > 0 {
      path += "?" + HTTPQuery.string([("changedAfterTimestamp", Dates.utc(changedAfter))])
    }
    let call = OrgCall(.primingRecords, "GET", path)
    guard let page = PrimingPage(try await json(call)) else {
      throw Self.invalidResponse("the answer is not a page of priming records", call)
    }
    return page
  }
}
