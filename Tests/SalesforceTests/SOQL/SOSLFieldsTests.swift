import Salesforce
import Testing

@Suite struct SOSLFieldsTests {
  @Test(arguments: [
    "FIND {Acme} RETURNING Account(Id, Name)": ["Id", "Name"],
    "find {a(b,c)} in all fields returning Account(Id,Name), Contact(Id , LastName)": [
      "Id", "Name", "LastName",
    ], "FIND {x} RETURNING Account(Id WHERE Name = 'a,(b)' ORDER BY Name LIMIT 3) LIMIT 9": ["Id"],
    #"FIND {\}(x)} RETURNING Case(toLabel(Status), Subject)"#: ["Subject"],
    "FIND {x} RETURNING Account USING LISTVIEW = Recent": [],
    "FIND {x}": [],
  ])
  func `the fields are those in the parentheses of RETURNING`(_ search: String, _ names: [String]) {
    #expect(SOSLFields.names(in: search) == names)
  }
}
