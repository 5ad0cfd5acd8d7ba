import JSON
import Reconciliation
import Salesforce
import Testing

struct CorrelationFieldTests {
  private func problem(_ change: JSONObject = [:]) throws -> String? {
    var field: JSONObject = [
      "name": "Key__c", "type": "string", "length": .number("48"), "unique": true,
      "externalId": true, "createable": true,
    ]
    for (name, value) in change { field[name] = value }
    let describe = try #require(Describe(["name": "Contact", "fields": .array([.object(field)])]))
    return CorrelationField(sobject: "Contact", name: "Key__c").problem(describe)
  }

  @Test func `only a unique external ID long enough for the value is accepted`() throws {
    #expect(try problem() == nil)
    #expect(try problem(["length": .number("47")])?.contains("is 47 characters long") == true)
    #expect(try problem(["unique": false])?.contains("not unique") == true)
    #expect(try problem(["externalId": false])?.contains("not an external ID") == true)
    #expect(try problem(["createable": false])?.contains("may not set") == true)
    #expect(try problem(["type": "email"])?.contains("not a text field") == true)
    #expect(try problem(["name": "Other__c"])?.contains("there is no field") == true)
  }
}
