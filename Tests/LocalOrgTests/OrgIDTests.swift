import LocalOrg
import Testing

@Suite struct OrgIDTests {
  @Test(arguments: [
    ("001S000001QEDnz", "IAH"), ("003S0000012hWwR", "IAU"), ("012000000000000", "AAA"),
  ])
  func `the checksum equals that of published ids`(id: String, checksum: String) {
    #expect(OrgID.normalize(id) == id + checksum)
    #expect(OrgID.normalize(id + checksum) == id + checksum)
  }

  @Test func `an id without its case is repaired, a wrong checksum is refused`() {
    #expect(OrgID.normalize("001S000001QEDnzIAH".lowercased()) == "001S000001QEDnzIAH")
    #expect(OrgID.normalize("001S000001QEDnzIAA") == nil)
    for wrong in ["", "001", "001S000001QEDn-", "001S000001QEDnzIA", "001S000001QEDnz999"] {
      #expect(OrgID.normalize(wrong) == nil, "\(wrong)")
    }
  }

  @Test func `ids are generated in order`() {
    let ids = [1, 2, 9, 10, 35, 36, 61, 62, 63, 4000, 1_000_000].map {
      OrgID.make(prefix: "001", sequence: $0)
    }
    #expect(ids == ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    #expect(ids.allSatisfy { OrgID.normalize($0) == $0 && $0.count == 18 })
  }
}
