import JSON
import Salesforce
import Testing

@Suite struct RowAnswerTests {
  private static let id = "001000000000001AAA"

  private func collection(_ json: String, _ recordID: String?) throws -> RowAnswer {
    RowAnswer(try #require(SaveResult(try JSONValue(parsing: json))), recordID: recordID)
  }

  @Test func `a success names its record`() throws {
    let done = #"{"id":"001000000000001AAA","success":true,"errors":[],"created":true}"#
    #expect(try collection(done, nil) == .done(id: Self.id, created: true))
    #expect(try collection(done, "001000000000001") == .done(id: Self.id, created: true))
    guard case .unknown = try collection(done, "001000000000002AAA") else {
      Issue.record("another record was accepted")
      return
    }
    guard case .unknown = try collection(#"{"success":true,"errors":[]}"#, nil) else {
      Issue.record("a new record without an ID was accepted")
      return
    }
  }

  @Test(arguments: [
    ("ENTITY_IS_DELETED", "[]", "absent"), ("INVALID_CROSS_REFERENCE_KEY", "[]", "absent"),
    ("INVALID_CROSS_REFERENCE_KEY", #"["Id"]"#, "absent"),
    ("INVALID_CROSS_REFERENCE_KEY", #"["AccountId"]"#, "refused"),
    ("UNABLE_TO_LOCK_ROW", "[]", "locked"), ("STRING_TOO_LONG", #"["Name"]"#, "refused"),
  ])
  func `a code that names fields means the record they refer to`(
    _ code: String, _ fields: String, _ expected: String
  ) throws {
    let error = #"{"statusCode":"\#(code)","message":"m","fields":\#(fields)}"#
    let answer = try collection(#"{"success":false,"errors":[\#(error)]}"#, Self.id)
    switch answer {
    case .absent(let refusal):
      #expect(expected == "absent")
      #expect(refusal.raw == error)
    case .locked: #expect(expected == "locked")
    case .refused(let refusal):
      #expect(expected == "refused")
      #expect(refusal.code == code && refusal.raw == error)
    default: Issue.record("\(answer)")
    }
  }

  @Test func `a single row is decided by its status`() {
    let body = Array(#"[{"errorCode":"NOT_FOUND","message":"m"}]"#.utf8)
    let gone = RowAnswer(status: 404, body: body, recordID: Self.id)
    #expect(
      gone
        == .absent(
          RowRefusal(code: "NOT_FOUND", message: "m", raw: String(decoding: body, as: UTF8.self))))
    #expect(RowAnswer(status: 412, body: [], recordID: Self.id) == .changed)
    #expect(RowAnswer(status: 204, body: [], recordID: Self.id) == .done(id: Self.id, created: nil))
    guard case .refused(let refusal) = RowAnswer(status: 400, body: [], recordID: nil) else {
      Issue.record("it was accepted")
      return
    }
    #expect(refusal.code == "HTTP_400")
    #expect(refusal.raw == nil)
  }

  @Test func `a row of a composite keeps only the first error`() throws {
    let body = try JSONValue(parsing: #"[{"errorCode":"A","message":"a"},{"errorCode":"B"}]"#)
    let result = CompositeResult(referenceId: "r", status: 400, headers: [:], body: body)
    guard case .refused(let refusal) = RowAnswer(result, recordID: nil) else {
      Issue.record("it was accepted")
      return
    }
    #expect(refusal.raw == #"{"errorCode":"A","message":"a"}"#)
  }

  @Test func `all errors of a row are reported, and the first determines the kind`() throws {
    let errors =
      #"{"statusCode":"INVALID_CROSS_REFERENCE_KEY","message":"gone","fields":[]},"#
      + #"{"statusCode":"REQUIRED_FIELD_MISSING","message":"say a name","fields":["LastName"]},"#
      + #"{"statusCode":"REQUIRED_FIELD_MISSING","message":"say a name","fields":["LastName"]}"#
    guard
      case .absent(let refusal) = try collection(
        #"{"success":false,"errors":[\#(errors)]}"#, Self.id)
    else {
      Issue.record("it was read as another kind")
      return
    }
    #expect(refusal.code == "INVALID_CROSS_REFERENCE_KEY")
    #expect(refusal.message == "gone; say a name")
    #expect(refusal.fields == ["LastName"])
    let body = Array(
      #"[{"errorCode":"A","message":"a","fields":["X"]},{"errorCode":"B","message":"b"}]"#.utf8)
    guard case .refused(let single) = RowAnswer(status: 400, body: body, recordID: nil) else {
      Issue.record("it was accepted")
      return
    }
    #expect(single.message == "a; b" && single.code == "A" && single.fields == ["X"])
  }
}
