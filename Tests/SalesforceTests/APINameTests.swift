import Salesforce
import Testing

@Suite struct APINameTests {
  @Test(arguments: ["Account", "My_Object__c", "ns__Visit2__c", String(repeating: "a", count: 80)])
  func `letters, digits and underscores are a valid name`(text: String) {
    #expect(APIName.isValid(text))
  }

  @Test(arguments: [
    "", "_Name", "2Name", "Näme", "Ünit", "Name c", "Name'", "Account.Name", "Name/..",
    "Nam\u{301}e",
    String(repeating: "a", count: 81),
  ])
  func `a name that an org would not accept is invalid`(text: String) {
    #expect(!APIName.isValid(text))
  }
}
