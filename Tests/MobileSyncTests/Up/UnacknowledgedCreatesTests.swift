import JSON
import MobileSync
import System
import Testing

@Suite struct UnacknowledgedCreatesTests {
  private static let user = "005000000000001AAA"
  private static let other = "005000000000002AAA"
  private static let noted: Int64 = 1_770_000_000_000

  /// A record created the given number of seconds after the recorded time, and changed a minute
  /// later by another user unless untouched.
  private func record(
    _ number: Int, _ fields: JSONObject, after seconds: Int64 = 1, touched: Bool = false,
    _ more: JSONObject = [:]
  ) -> JSONObject {
    let created = Self.noted + seconds * 1000
    var record: JSONObject = [
      "Id": .string("00100000000000\(number)AAA"),
      "CreatedDate": .string(Dates.salesforce(created)), "CreatedById": .string(Self.user),
      "LastModifiedDate": .string(Dates.salesforce(created + (touched ? 60_000 : 0))),
      "LastModifiedById": .string(touched ? Self.other : Self.user),
      "OwnerId": .string(Self.user), "IsDeleted": false,
    ]
    for (name, value) in fields { record[name] = value }
    for (name, value) in more { record[name] = value }
    return record
  }

  private func lost(
    _ fields: JSONObject, after seconds: Int64 = 0, isOver: Bool = true
  ) -> PendingWrite {
    let sent = Self.noted + seconds * 1000
    var write = PendingWrite(
      .create, "Account", userID: nil, fields: fields, since: sent, sent: sent)
    (write.until, write.isOver) = (sent + 900_000, isOver)
    return write
  }

  /// `1` for the record 1, `-` for not made, `?` for an operator's decision.
  private func fates(_ creates: [PendingWrite], _ records: [JSONObject]) -> String {
    UnacknowledgedCreates.match(creates, records).map { fate in
      switch fate {
      case .done(let done): done.id.map { String($0.dropFirst(14).prefix(1)) } ?? ""
      case .notDone: "-"
      case .unclear, .atWork: "?"
      }
    }.joined()
  }

  private let a: JSONObject = ["Name": "A", "Phone": "1"]
  private let b: JSONObject = ["Name": "B", "Phone": "1", "Fax": "2"]

  @Test func `a record that matches in all readable fields is the created one`() {
    #expect(fates([lost(a), lost(b)], [record(2, b), record(1, a)]) == "12")
    #expect(fates([lost(a)], []) == "-")
  }

  @Test func `equal creates share the existing records, in any order`() {
    #expect(fates([lost(a), lost(a)], [record(1, a), record(2, a)]) == "12")
    #expect(fates([lost(a), lost(a)], [record(1, a)]) == "1-")
    #expect(fates([lost(a)], [record(1, a), record(2, a)]) == "?")
  }

  @Test func `the only record of the only create is its result, despite later corrections`() {
    let corrected: JSONObject = ["Name": "A", "Phone": "9"]
    #expect(fates([lost(a)], [record(1, corrected, touched: true)]) == "1")
    #expect(fates([lost(a)], [record(1, corrected)]) == "1")
    #expect(fates([lost(a)], [record(1, ["Name": "a.", "Phone": "9"], touched: true)]) == "1")
    let deleted = record(1, a, ["IsDeleted": true])
    #expect(fates([lost(a)], [deleted]) == "1")
  }

  @Test func `a record that has nothing of the create needs an operator's decision`() {
    let unlike: JSONObject = ["Name": "Z", "Phone": "9"]
    let own = record(1, unlike)
    #expect(fates([lost(a)], [own]) == "?")
    #expect(UnacknowledgedCreates.match([lost(a)], [own], asksPerson: false) == [.notDone()])
    #expect(fates([lost(a)], [record(1, unlike, touched: true)]) == "?")
    #expect(fates([lost(a)], [record(1, unlike, ["IsDeleted": true])]) == "?")
  }

  @Test func `of records with the sent values, an existing one is chosen`() {
    let deleted = record(2, a, ["IsDeleted": true])
    #expect(fates([lost(a)], [deleted, record(1, a)]) == "1")
    #expect(fates([lost(a), lost(a)], [deleted, record(1, a)]) == "21")
  }

  @Test func `of candidate records, the best matches are listed first, and the rest are counted`() {
    func record(_ number: Int, _ fields: JSONObject, after seconds: Int64) -> JSONObject {
      self.record(
        1, fields, after: seconds, touched: true, ["Id": .string("0010000000000\(number)AAA")])
    }
    var create = lost(["Name": "A", "Phone": "1", "Fax": "7"])
    create.isPresumed = true
    create.isRevised = true
    // With nothing in common but their creator and time, from the oldest to the newest.
    let unlike = (10...21).map { number in record(number, ["Name": "Z"], after: Int64(number)) }
    let half = record(80, ["Name": "A", "Phone": "9"], after: 1)
    let most = record(90, ["Name": "A", "Phone": "1", "Fax": "9"], after: 1)
    let newer = record(70, ["Name": "A", "Phone": "8"], after: 5)
    let fates = UnacknowledgedCreates.match([create], unlike + [half, most, newer])
    guard case .unclear(let words, let ids)? = fates.first else {
      Issue.record("\(fates)")
      return
    }
    let numbers = ids.compactMap { Int($0.dropFirst(13).prefix(2)) }
    #expect(numbers == [90, 70, 80] + (10...21).reversed())
    #expect(words.hasSuffix(ids.prefix(10).joined(separator: ", ") + " and 5 more"))
  }

  @Test func `later changes of the record are reported`() throws {
    func words(_ record: JSONObject) -> String? {
      guard let fate = UnacknowledgedCreates.match([lost(a)], [record]).first else { return "" }
      return fate.made.map(\.words) ?? ""
    }
    #expect(words(record(1, a)) == nil)
    #expect(words(record(1, a, ["IsDeleted": true]))?.contains("it has been deleted") == true)
    let merged = record(1, a, ["IsDeleted": true, "MasterRecordId": "001000000000009AAA"])
    #expect(words(merged)?.contains("merged into 001000000000009AAA") == true)
    let given = record(1, a, touched: true, ["OwnerId": .string(Self.other)])
    #expect(words(given)?.contains("another owner") == true)
    #expect(words(record(1, ["Name": "A", "Phone": "9"]))?.contains("in Phone") == true)
  }

  @Test func `of several records the matching one is chosen if no other matches`() {
    let unlike = record(2, ["Name": "Z", "Phone": "9"])
    #expect(fates([lost(a)], [unlike, record(1, a)]) == "1")
    #expect(fates([lost(a)], [unlike, record(1, ["Name": "A", "Phone": "9"])]) == "1")
    #expect(fates([lost(a)], [unlike, record(1, ["Name": "Y", "Phone": "8"])]) == "?")
  }

  @Test func `a value that several creates sent does not distinguish them`() {
    let corrected = record(1, ["Name": "Z", "Phone": "1"], touched: true)
    #expect(fates([lost(a), lost(b)], [corrected]) == "??")
    let telling = record(1, ["Name": "A", "Phone": "9"], touched: true)
    #expect(fates([lost(a), lost(b)], [telling]) == "1-")
  }

  @Test func `a create that sent less does not take the record of one that sent more`() {
    #expect(fates([lost(["Phone": "1"]), lost(a)], [record(1, a)]) == "-1")
    #expect(fates([lost([:]), lost(a)], [record(1, a)]) == "-1")
  }

  @Test func `a record dated before the recorded time must resemble the create`() {
    #expect(fates([lost(a)], [record(1, a, after: -200)]) == "1")
    #expect(fates([lost(a)], [record(1, ["Name": "A", "Phone": "9"], after: -200)]) == "1")
    #expect(fates([lost(a)], [record(1, ["Name": "Z"], after: -200, touched: true)]) == "-")
    #expect(fates([lost(a)], [record(1, a, after: -400)]) == "-")
  }

  @Test func `a record that arrived long after must agree in full`() {
    #expect(fates([lost(a)], [record(1, a, after: 5000)]) == "1")
    #expect(fates([lost(a)], [record(1, ["Name": "A", "Phone": "9"], after: 5000)]) == "-")
  }

  @Test func `during the wait for an answer only a full match counts`() {
    #expect(fates([lost(a, isOver: false)], [record(1, a)]) == "1")
    #expect(fates([lost(a, isOver: false)], [record(1, ["Name": "A", "Phone": "9"])]) == "?")
    #expect(fates([lost(a, isOver: false)], []) == "?")
  }

  @Test func `a value that an org trims agrees anyway`() {
    #expect(WriteEvidence.isWhole(["Name": "A  "], in: record(1, a)))
    #expect(!WriteEvidence.isWhole(["Secret": "A"], in: record(1, a)))
    #expect(WriteEvidence.isWhole([:], in: record(1, a)))
  }

  @Test func `a value that a create of another hour sent too does not match either`() {
    let unlike = record(1, ["Name": "Z", "Phone": "1"])
    #expect(fates([lost(a), lost(b, after: 7200)], [unlike]) == "?-")
  }

  @Test func `a common parent of two records is not a match`() {
    let parent: JSONValue = "001000000000005AAA"
    let unlike = record(1, ["Name": "Z", "ParentId": parent])
    #expect(fates([lost(["Name": "A", "ParentId": parent])], [unlike]) == "?")
  }
}
