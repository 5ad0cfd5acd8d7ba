import JSON
import MobileSync
import System
import Testing

@Suite struct UnacknowledgedCreatesTests {
  private static let user = "005000000000001AAA"
  private static let other = "005000000000002AAA"
  private static let noted: Int64 = 1_770_000_000_000

  /// A record that was made so many seconds after the noted time; touched a minute later by another,
  /// unless nobody has touched it.
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
  ) -> UnacknowledgedCreates.Lost {
    let sent = Self.noted + seconds * 1000
    return UnacknowledgedCreates.Lost(fields, sent: sent, until: sent + 900_000, isOver: isOver)
  }

  /// `1` for the record 1, `-` for not made, `?` for a person.
  private func fates(_ creates: [UnacknowledgedCreates.Lost], _ records: [JSONObject]) -> String {
    UnacknowledgedCreates.match(creates, records).map { fate in
      switch fate {
      case .made(let made): String(made.id.dropFirst(14).prefix(1))
      case .notMade: "-"
      case .unclear: "?"
      }
    }.joined()
  }

  private let a: JSONObject = ["Name": "A", "Phone": "1"]
  private let b: JSONObject = ["Name": "B", "Phone": "1", "Fax": "2"]

  @Test func `a record that agrees in all that can be read is what the create made`() {
    #expect(fates([lost(a), lost(b)], [record(2, b), record(1, a)]) == "12")
    #expect(fates([lost(a)], []) == "-")
  }

  @Test func `equal creates share the records that there are, in any order`() {
    #expect(fates([lost(a), lost(a)], [record(1, a), record(2, a)]) == "12")
    #expect(fates([lost(a), lost(a)], [record(1, a)]) == "1-")
    #expect(fates([lost(a)], [record(1, a), record(2, a)]) == "?")
  }

  @Test func `the only record of the only create is it, whatever was corrected since`() {
    let corrected: JSONObject = ["Name": "A", "Phone": "9"]
    #expect(fates([lost(a)], [record(1, corrected, touched: true)]) == "1")
    #expect(fates([lost(a)], [record(1, corrected)]) == "1")
    #expect(fates([lost(a)], [record(1, ["Name": "Z", "Phone": "9"], touched: true)]) == "1")
    let deleted = record(1, a, ["IsDeleted": true])
    #expect(fates([lost(a)], [deleted]) == "1")
  }

  @Test func `a record that nobody touched and that is unlike it is for a person to look at`() {
    let unlike = record(1, ["Name": "Z", "Phone": "9"])
    #expect(fates([lost(a)], [unlike]) == "?")
    #expect(UnacknowledgedCreates.match([lost(a)], [unlike], asksPerson: false) == [.notMade])
  }

  @Test func `of records that hold what was sent the one that is still there will do`() {
    let deleted = record(2, a, ["IsDeleted": true])
    #expect(fates([lost(a)], [deleted, record(1, a)]) == "1")
    #expect(fates([lost(a), lost(a)], [deleted, record(1, a)]) == "21")
  }

  @Test func `of records that may be it the likeliest are named first, and the rest counted`() {
    func record(_ number: Int, _ fields: JSONObject, after seconds: Int64) -> JSONObject {
      self.record(
        1, fields, after: seconds, touched: true,
        ["Id": .string("0010000000000\(number)AAA")])
    }
    var create = lost(["Name": "A", "Phone": "1", "Fax": "7"])
    create.isPresumed = true
    create.isRevised = true
    // Of nothing in common but by whom and when they were made, from the oldest to the newest.
    let unlike = (10...21).map { number in
      record(number, ["Name": "Z"], after: Int64(number))
    }
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

  @Test func `what has become of the record since is told`() throws {
    func words(_ record: JSONObject) -> String? {
      guard case .made(let made)? = UnacknowledgedCreates.match([lost(a)], [record]).first else {
        return ""
      }
      return made.words
    }
    #expect(words(record(1, a)) == nil)
    #expect(words(record(1, a, ["IsDeleted": true]))?.contains("deleted since") == true)
    let merged = record(1, a, ["IsDeleted": true, "MasterRecordId": "001000000000009AAA"])
    #expect(words(merged)?.contains("merged into 001000000000009AAA") == true)
    let given = record(1, a, touched: true, ["OwnerId": .string(Self.other)])
    #expect(words(given)?.contains("another owner") == true)
    #expect(words(record(1, ["Name": "A", "Phone": "9"]))?.contains("in Phone") == true)
  }

  @Test func `of several records the one that fits is taken where no other does`() {
    let unlike = record(2, ["Name": "Z", "Phone": "9"])
    #expect(fates([lost(a)], [unlike, record(1, a)]) == "1")
    #expect(fates([lost(a)], [unlike, record(1, ["Name": "A", "Phone": "9"])]) == "1")
    #expect(fates([lost(a)], [unlike, record(1, ["Name": "Y", "Phone": "8"])]) == "?")
  }

  @Test func `a value that several creates have sent tells nothing of which is which`() {
    let corrected = record(1, ["Name": "Z", "Phone": "1"], touched: true)
    #expect(fates([lost(a), lost(b)], [corrected]) == "??")
    let telling = record(1, ["Name": "A", "Phone": "9"], touched: true)
    #expect(fates([lost(a), lost(b)], [telling]) == "1-")
  }

  @Test func `a create that sent less does not take the record of one that sent more`() {
    #expect(fates([lost(["Phone": "1"]), lost(a)], [record(1, a)]) == "-1")
    #expect(fates([lost([:]), lost(a)], [record(1, a)]) == "-1")
  }

  @Test func `a record that is dated before the noted time has to resemble the create`() {
    #expect(fates([lost(a)], [record(1, a, after: -200)]) == "1")
    #expect(fates([lost(a)], [record(1, ["Name": "A", "Phone": "9"], after: -200)]) == "1")
    #expect(fates([lost(a)], [record(1, ["Name": "Z"], after: -200, touched: true)]) == "-")
    #expect(fates([lost(a)], [record(1, a, after: -400)]) == "-")
  }

  @Test func `a record that came long after has to agree as a whole`() {
    #expect(fates([lost(a)], [record(1, a, after: 5000)]) == "1")
    #expect(fates([lost(a)], [record(1, ["Name": "A", "Phone": "9"], after: 5000)]) == "-")
  }

  @Test func `within the quiet window only what agrees as a whole is taken`() {
    #expect(fates([lost(a, isOver: false)], [record(1, a)]) == "1")
    #expect(fates([lost(a, isOver: false)], [record(1, ["Name": "A", "Phone": "9"])]) == "?")
    #expect(fates([lost(a, isOver: false)], []) == "?")
  }

  @Test func `what an org trims agrees all the same`() {
    #expect(UnacknowledgedCreates.agreement(of: ["Name": "A  "], with: record(1, a)) == .whole)
    #expect(UnacknowledgedCreates.agreement(of: ["Secret": "A"], with: record(1, a)) == .partial)
    #expect(UnacknowledgedCreates.agreement(of: [:], with: record(1, a)) == .whole)
  }

  @Test func `what a create of another hour has sent too is no likeness either`() {
    let unlike = record(1, ["Name": "Z", "Phone": "1"])
    #expect(fates([lost(a), lost(b, after: 7200)], [unlike]) == "?-")
  }

  @Test func `that two records belong to one parent makes them no likeness`() {
    let parent: JSONValue = "001000000000005AAA"
    let unlike = record(1, ["Name": "Z", "ParentId": parent])
    #expect(fates([lost(["Name": "A", "ParentId": parent])], [unlike]) == "?")
  }
}
