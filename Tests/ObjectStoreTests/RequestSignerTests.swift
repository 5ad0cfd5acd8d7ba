import HTTP
import ObjectStore
import System
import Testing

/// The examples of "Signature Calculations for the Authorization Header" and "Using Query
/// Parameters" in the reference of Amazon S3.
@Suite struct RequestSignerTests {
  private let host = "examplebucket.s3.amazonaws.com"
  private let signer = RequestSigner(
    S3Credentials(
      accessKeyID: "AKIAIOSFODNN7EXAMPLE",
      secret: Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")), region: "us-east-1")
  private static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

  private func time() throws -> Int64 {
    try #require(Dates.milliseconds(iso8601: "2013-05-24T00:00:00Z"))
  }

  private struct Example: Sendable {
    var method = "GET"
    var path = "/"
    var query: [(String, String)] = []
    var headers: HTTPHeaders = [:]
    var sha256 = RequestSignerTests.empty
    var names = "host;x-amz-content-sha256;x-amz-date"
    var signature: String
  }

  private static let examples = [
    Example(
      path: "/test.txt", headers: ["Range": "bytes=0-9"],
      names: "host;range;x-amz-content-sha256;x-amz-date",
      signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
    Example(
      method: "PUT", path: "/test%24file.text",
      headers: [
        "Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY",
      ], sha256: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
      names: "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
      signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
    Example(
      query: [("lifecycle", "")],
      signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
    Example(
      query: [("prefix", "J"), ("max-keys", "2")],
      signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
  ]

  @Test(arguments: examples.indices)
  func `the examples of AWS have their published signatures`(_ index: Int) throws {
    let example = Self.examples[index]
    let headers = signer.signed(
      example.method, host: host, path: example.path, query: example.query,
      headers: example.headers, payloadSHA256: example.sha256, at: try time())
    #expect(
      headers["Authorization"] == "AWS4-HMAC-SHA256 "
        + "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        + "SignedHeaders=\(example.names),Signature=\(example.signature)")
  }

  @Test func `the presigned address of AWS has its published signature`() throws {
    let query = signer.presigned(
      "GET", host: host, path: "/test.txt", seconds: 86400, at: try time())
    #expect(
      query == "X-Amz-Algorithm=AWS4-HMAC-SHA256"
        + "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
        + "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
        + "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404")
  }

  @Test func `a session token is signed, in headers and addresses`() throws {
    let signer = RequestSigner(
      S3Credentials(accessKeyID: "A", secret: Secret("s"), sessionToken: Secret("to/ken")),
      region: "r")
    let headers = signer.signed(
      "GET", host: host, path: "/", headers: [:], payloadSHA256: Self.empty, at: try time())
    #expect(headers["x-amz-security-token"] == "to/ken")
    #expect(headers["Authorization"]?.contains("x-amz-date;x-amz-security-token,") == true)
    let query = signer.presigned("PUT", host: host, path: "/a", seconds: 60, at: try time())
    #expect(query.contains("&X-Amz-Security-Token=to%2Fken&"))
  }

  @Test func `Google's variant signs with its own names`() throws {
    let signer = RequestSigner(
      S3Credentials(accessKeyID: "GOOG1", secret: Secret("s")), region: "auto", scheme: .google)
    let headers = signer.signed(
      "GET", host: "storage.googleapis.com", path: "/b/a", headers: [:],
      payloadSHA256: Self.empty, at: try time())
    #expect(
      headers["Authorization"]?.hasPrefix(
        "GOOG4-HMAC-SHA256 Credential=GOOG1/20130524/auto/storage/goog4_request,"
          + "SignedHeaders=host;x-goog-content-sha256;x-goog-date,Signature=") == true)
    let query = signer.presigned("GET", host: host, path: "/a", seconds: 60, at: try time())
    #expect(query.hasPrefix("X-Goog-Algorithm=GOOG4-HMAC-SHA256&X-Goog-Credential=GOOG1%2F"))
  }
}
