import Salesforce
import Testing

@Suite struct APIVersionTests {
  static let all = (20...70).map { "\($0).0" }

  private func chosen(
    _ asked: String?, of versions: [String], for features: Set<APIFeature> = [.records]
  ) -> String {
    do {
      return try APIVersion.choose(asked: asked, from: versions, for: features).description
    } catch { return "\(error.kind): \(error.message)" }
  }

  @Test func `the newest common version is used unless one is specified`() {
    #expect(chosen(nil, of: ["58.0", "60.0", "59.0"]) == "60.0")
    #expect(chosen(nil, of: Self.all) == "66.0")
    #expect(chosen(nil, of: ["99.0", "100.0"]) == "99.0")
    #expect(chosen("58.0", of: Self.all) == "58.0")
    #expect(chosen("70.0", of: Self.all) == "70.0")
  }

  @Test func `an unavailable version, or one without a needed feature, is reported`() {
    #expect(
      chosen("67.0", of: ["58.0", "66.0"])
        == "configuration: the org has no API version 67.0: it has 58.0 to 66.0")
    #expect(
      chosen("66", of: ["66.0"])
        == "configuration: the org has no API version 66: it has 66.0 to 66.0")
    #expect(
      chosen("56.0", of: Self.all, for: [.records, .briefcases])
        == "configuration: briefcases need API version 57.0, and the requested version is 56.0")
    #expect(
      chosen(nil, of: ["45.0", "56.0"], for: [.records, .briefcases])
        == "configuration: briefcases need API version 57.0, and the org's newest version is 56.0")
    #expect(chosen("56.0", of: Self.all) == "56.0")
    #expect(
      chosen(nil, of: ["45.0"])
        == "configuration: collections of records need API version 46.0, and the org's newest version is 45.0"
    )
    #expect(chosen(nil, of: ["new"]) == "invalidResponse: the response lists no version")
  }
}
