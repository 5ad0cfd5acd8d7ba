import JSON
import Salesforce
import Testing

@Suite struct ExternalIDQueryTests {
  private func condition(_ type: String, _ values: String...) throws -> String? {
    let field: JSONObject = ["name": "Key__c", "type": .string(type), "filterable": true]
    let describe = try #require(Describe(["name": "Contact", "fields": .array([.object(field)])]))
    return ExternalIDQuery.condition(describe, field: "key__c", values: values)
  }

  @Test func `text is quoted, and its content cannot end the quotes`() throws {
    #expect(try condition("string", "a", "o'b") == "Key__c IN ('a', 'o\\'b')")
  }

  @Test(arguments: ["double", "int", "currency"])
  func `only a number is accepted for a number field`(_ type: String) throws {
    #expect(try condition(type, "1) OR (Name != ''", "12", "nan", "0x1F") == "Key__c IN (12)")
    #expect(try condition(type, "1 OR Id != null") == nil)
  }

  @Test func `case and the form of a number do not matter, as in an org`() {
    #expect(ExternalIDQuery.isSame("Ab-1", "aB-1"))
    #expect(!ExternalIDQuery.isSame("Ab-1", "Ab-2"))
    #expect(ExternalIDQuery.isSame(.number("12.0"), "12"))
    #expect(ExternalIDQuery.isSame(.number("1.2E1"), "12"))
    #expect(!ExternalIDQuery.isSame(.number("123456789012345678"), "123456789012345679"))
    #expect(!ExternalIDQuery.isSame(.number("0"), ""))
    #expect(!ExternalIDQuery.isSame(nil, ""))
  }
}
