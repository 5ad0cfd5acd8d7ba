import HTTP
import Testing

@Suite struct HTTPQueryTests {
  @Test func `everything except the unreserved set is encoded`() {
    #expect(HTTPQuery.encode("AZaz09-._~") == "AZaz09-._~")
    #expect(HTTPQuery.encode("a+b c/é'%") == "a%2Bb%20c%2F%C3%A9%27%25")
    #expect(HTTPQuery.string([("q", "SELECT Id"), ("b", "1&2")]) == "q=SELECT%20Id&b=1%262")
  }

  @Test func `decoding a form reverses its encoding`() {
    let pairs = [("q", "a+b = c&d"), ("empty", ""), ("é", "%41")]
    let decoded = HTTPQuery.decode(form: HTTPQuery.string(pairs))
    #expect(decoded.map(\.0) == pairs.map(\.0))
    #expect(decoded.map(\.1) == pairs.map(\.1))
    #expect(HTTPQuery.decode(form: "a=b+c&d&&e=%4").map(\.1) == ["b c", "", "%4"])
  }

  @Test func `header field lookup is case-insensitive, and fields keep their order`() {
    var headers: HTTPHeaders = ["Content-Type": "text/plain", "X-A": "1"]
    headers.add("x-a", "2")
    #expect(headers["content-type"] == "text/plain")
    #expect(headers.values("X-a") == ["1", "2"])
    headers["x-A"] = "3"
    #expect(headers.all.map(\.name) == ["Content-Type", "x-A"])
    headers["Content-type"] = nil
    #expect(headers.all.map(\.value) == ["3"])
  }
}
