import MobileSync
import Testing

@Suite struct BriefcaseListingTests {
  @Test func `a record of two rules is listed once, with its latest stamp`() {
    var listing = BriefcaseListing()
    listing.add(type: "Account", id: "001000000000001AAA", stamp: 2)
    listing.add(type: "Contact", id: "003000000000001AAA", stamp: 2)
    listing.add(type: "Account", id: "001000000000002AAA", stamp: 2)
    listing.add(type: "account", id: "001000000000001", stamp: 3)
    listing.add(type: "Account", id: "001000000000002AAA", stamp: 1)
    #expect(
      listing.entries(of: "Account") == [
        .init(id: "001000000000001AAA", stamp: 3), .init(id: "001000000000002AAA", stamp: 2),
      ])
    #expect(listing.entries(of: "Case").isEmpty)
    #expect(listing.count(ofTypesOtherThan: ["account"]) == 1)
  }

  @Test func `relay tokens are followed to the end, and never twice`() throws {
    var listing = BriefcaseListing()
    for token in ["a", "b", nil] {
      let followed = try listing.follow(token)
      #expect(followed == token)
    }
    #expect(throws: SyncError.self) { try listing.follow("a") }
  }
}
