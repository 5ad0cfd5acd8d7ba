import Foundation
import JSON
import Testing

@Suite struct JSONHeadTests {
  static let page =
    #"{"totalSize":5,"o":{"a":[1]},"done":false,"nextRecordsUrl":"/a\u002fb","records":[{"#

  static func answer(_ name: String, _ text: String) -> JSONHead.Answer {
    Array(text.utf8).withUnsafeBytes { JSONHead.stringMember(name, in: $0) }
  }

  @Test func `the next page's address is found as soon as its closing quote has arrived`() throws {
    let end = try #require(Self.page.range(of: #"2fb""#)?.upperBound)
    for index in Self.page.indices {
      let answer = Self.answer("nextRecordsUrl", String(Self.page[..<index]))
      #expect(answer == (index < end ? .absentSoFar : .found("/a/b")))
    }
    #expect(Self.answer("nextRecordsUrl", "") == .absentSoFar)
  }

  @Test func `a Boolean is found, and the start of the records ends the search`() {
    #expect(Self.answer("done", Self.page) == .found("false"))
    #expect(Self.answer("other", Self.page) == .arrayReached)
    #expect(Self.answer("other", #"{"a":1}"#) == .arrayReached)
    #expect(Self.answer("other", #"{"a":null,"#) == .absentSoFar)
    #expect(Self.answer("other", "not JSON") == .absentSoFar)
  }
}
