import Salesforce
import Testing

@Suite struct RecordIDTests {
  @Test(arguments: [
    ("001S000001QEDnz", "IAH"), ("003S0000012hWwR", "IAU"), ("012000000000000", "AAA"),
  ])
  func `fifteen characters get the suffix that encodes their case`(short: String, suffix: String) {
    #expect(RecordID(short)?.text18 == short + suffix)
    #expect(RecordID(short + suffix)?.text18 == short + suffix)
    #expect(RecordID(short + suffix.lowercased()) == RecordID(short))
    #expect(RecordID(short)?.keyPrefix == String(short.prefix(3)))
  }

  @Test(arguments: [
    "", "001S000001QEDn", "001S000001QEDnzIA", "001S000001QEDnzIAI", "001s000001QEDnzIAH",
    "001S000001QED-z", "001S000001QEDnzIAH1", "001S000001QEDné", "local_12345678",
  ])
  func `an invalid ID is rejected`(text: String) { #expect(RecordID(text) == nil) }

  @Test func `IDs are ordered by their bytes`() throws {
    let upper = try #require(RecordID("001S000001QEDnZ"))
    let lower = try #require(RecordID("001S000001QEDnz"))
    #expect(upper < lower)
  }
}
