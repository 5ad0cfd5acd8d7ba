import HTTP
import JSON
import System

/// A page of the record IDs in the briefcases of a user and a connected app.
package struct PrimingPage: Sendable, Hashable {
  /// A record in a briefcase.
  package struct Record: Sendable, Hashable {
    /// The 18-character ID.
    package let id: String
    /// The last change, in milliseconds.
    package let systemModstamp: Int64

    package init(id: String, systemModstamp: Int64) {
      self.id = id
      self.systemModstamp = systemModstamp
    }
  }

  /// The number of rules and records, in total and served so far; unreliable on real orgs.
  package struct Statistics: Sendable, Hashable {
    package let ruleCountTotal: Int
    package let recordCountTotal: Int
    package let ruleCountServed: Int
    package let recordCountServed: Int
  }

  /// The records by sObject, of all record types together.
  package let records: [String: [Record]]
  /// The token to request the next page with; nil on the last.
  package let relayToken: String?
  /// The failed rules.
  ///
  /// Their records are missing, so the absence of a record has no meaning.
  package let ruleErrors: [String]
  package let statistics: Statistics

  /// Parses a response; nil if it has another form.
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
  /// A page of the record IDs in the user's briefcases.
  ///
  /// The first page takes the date (0 or less means none), further ones the relay token: the API
  /// does not allow both. `Difference:` the SDK sends both on Android, and reads only one page on
  /// iOS.
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
      throw Self.invalidResponse("the response is not a page of priming records", call)
    }
    return page
  }
}
