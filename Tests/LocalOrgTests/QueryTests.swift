import JSON
import LocalOrg
import Testing

@Suite struct QueryTests {
  let sample: SampleOrg
  init() throws { sample = try Self.filled() }

  static func filled() throws -> SampleOrg {
    let sample = try SampleOrg()
    let alpha = try sample.make(
      "Account",
      [
        "Name": "Alpha", "Industry": "Energy", "NumberOfEmployees": 10, "AnnualRevenue": 1000,
        "BillingCity": "Lund", "BillingCountry": "Sweden",
      ])  // 1 s after the start
    try sample.make("Account", ["Name": "beta", "Industry": "Retail", "NumberOfEmployees": 200])
    try sample.make("Account", ["Name": "Gamma_1", "Description": "100% \"quoted\"\n\\"])
    try sample.make(
      "Account", ["Name": "O'Neill", "ParentId": .string(alpha), "Industry": "Energy"])
    try sample.make(
      "Contact",
      [
        "FirstName": "Eva", "LastName": "Young", "AccountId": .string(alpha),
        "Birthdate": "1980-02-29", "DoNotCall": true,
      ])
    try sample.make("Contact", ["LastName": "Solo"])
    return sample
  }

  @Test func `a record has attributes, every selected field and parents as objects`() throws {
    let soql =
      "SELECT id, name, Account.Name, Account.Parent.Name, Birthdate, DoNotCall, Title FROM contact"
    let records = try sample.records(soql)
    let id = try #require(records[0]["Id"]?.string)
    #expect(
      records[0].text
        == #"{"attributes":{"type":"Contact","url":"/services/data/v66.0/sobjects/Contact/\#(id)"}"#
        + #","Id":"\#(id)","Name":"Eva Young","Account":{"attributes":{"type":"Account","url":"#
        + #""/services/data/v66.0/sobjects/Account/0015g0000000001AAA"},"Name":"Alpha","#
        + #""Parent":null},"Birthdate":"1980-02-29","DoNotCall":true,"Title":null}"#)
    #expect(records[1]["Account"] == .null)
    #expect(records[1]["Name"] == "Solo")
  }

  @Test(arguments: [
    ("SELECT c.LastName, a.Name FROM Contact c, c.Account a WHERE a.Name = 'Alpha'", "Young"),
    ("SELECT LastName, A.Name FROM Contact, Contact.Account a WHERE a.name = 'Alpha'", "Young"),
    (
      "SELECT LastName FROM Contact c, c.Account a, a.Owner o, o.Profile p "
        + "WHERE p.Name = 'System Administrator' AND a.Industry != null ORDER BY a.Name", "Young"
    ),
    ("SELECT LastName FROM Contact c, c.Account.Owner o WHERE o.Username != null", "Young"),
    (
      "SELECT LastName FROM Contact WHERE AccountId IN (SELECT Id FROM Account x, x.Owner o "
        + "WHERE o.Username = 'admin@example.com')", "Young"
    ),
    (
      "SELECT a.Name LastName, COUNT(Id) FROM Contact c, c.Account a GROUP BY a.Name HAVING "
        + "COUNT(Id) > 0 AND a.Name != null", "Alpha"
    ),
    (
      "SELECT Account.Name LastName FROM Contact c, c.Account a WHERE a.Name != null GROUP BY "
        + "a.Name", "Alpha"
    ),
    (
      "SELECT LastName FROM Contact c, c.Account a, a.Parent p WHERE p.Name = null AND a.Name != null",
      "Young"
    ),
  ])
  func `FROM names parents`(_ soql: String, _ name: String) throws {
    #expect(try sample.column(soql, "LastName") == [name])
  }

  @Test func `a named parent is written as the parent, also in a subquery`() throws {
    let record = try sample.records(
      "SELECT a.Name FROM Contact c, c.Account a WHERE a.Name != null")
    #expect(record.first?["Account"]?["Name"] == "Alpha")
    let nested = try sample.records(
      "SELECT Name, (SELECT o.Username FROM Contacts c, c.Owner o) FROM Account WHERE Name = 'Alpha'"
    )
    #expect(nested.first?["Contacts"]?["records"]?[0]?["Owner"]?["Username"]?.string != nil)
  }

  @Test(arguments: [
    ("SELECT Id FROM Contact c, Account a", "MALFORMED_QUERY"),
    ("SELECT Id FROM Contact c, x.Account a", "MALFORMED_QUERY"),
    ("SELECT Id FROM Contact c, c.Account", "MALFORMED_QUERY"),
    ("SELECT Id FROM Contact c, c.Account c", "MALFORMED_QUERY"),
    ("SELECT Id FROM Contact c, c.Account a, c.Owner A", "MALFORMED_QUERY"),
    ("SELECT Id FROM Contact c,", "MALFORMED_QUERY"),
    ("SELECT Id FROM Contact c, c.Boss b", "INVALID_FIELD"),
    ("SELECT a.Nmae FROM Contact c, c.Account a", "INVALID_FIELD"),
    ("SELECT a.Name, Account.Name FROM Contact c, c.Account a", "INVALID_FIELD"),
  ])
  func `FROM names relationships of its object only, each by another name`(
    _ soql: String, _ code: String
  ) throws {
    let error = #expect(throws: OrgError.self) { try sample.records(soql) }
    #expect(error?.code == code)
  }

  @Test func `children, numbers, dates, addresses and escapes are written as by an org`() throws {
    let record = try sample.records(
      "SELECT NumberOfEmployees, AnnualRevenue, CreatedDate, BillingAddress, ShippingAddress, "
        + "(SELECT LastName FROM Contacts), (SELECT Id FROM Cases) FROM Account LIMIT 1")[0]
    #expect(record["NumberOfEmployees"]?.text == "10")
    #expect(record["AnnualRevenue"]?.text == "1000.0")
    #expect(record["CreatedDate"] == "2023-11-14T22:13:21.000+0000")
    #expect(record["BillingAddress"]?["city"] == "Lund")
    #expect(record["BillingAddress"]?["street"] == .null)
    #expect(record["ShippingAddress"] == .null)
    #expect(record["Contacts"]?["totalSize"]?.int == 1)
    #expect(record["Contacts"]?["records"]?[0]?["LastName"] == "Young")
    #expect(record["Cases"] == .null)
    let text = try sample.records("SELECT Description FROM Account WHERE Name LIKE 'gamma%'")
    #expect(text[0]["Description"] == "100% \"quoted\"\n\\")
  }

  @Test func `COUNT and aggregates return numbers`() throws {
    let count = try sample.org.query(
      "SELECT count() FROM Account WHERE Industry='energy'", as: sample.admin)
    #expect(count.totalSize == 2 && count.done && count.records == Array("[]".utf8))
    let groups = try sample.records(
      "SELECT Industry, COUNT(Id) n, MAX(NumberOfEmployees) FROM Account GROUP BY Industry")
    #expect(groups.map { $0["n"]?.int } == [1, 2, 1])
    #expect(groups[1]["Industry"] == "Energy" && groups[1]["expr0"]?.int == 10)
  }

  @Test func `a deleted record is found only on request`() throws {
    let id = try sample.make("Account", ["Name": "Gone"])
    #expect(sample.org.delete(nil, id: id, as: sample.admin) == .success(id: id, created: false))
    #expect(try sample.column("SELECT Name FROM Account WHERE Name = 'gone'").isEmpty)
    let soql = "SELECT Name, IsDeleted FROM Account WHERE Name = 'gone'"
    #expect(try sample.records(soql, all: true)[0]["IsDeleted"] == .bool(true))
    #expect(try sample.column(soql + " ALL ROWS") == ["Gone"])
  }

  @Test func `any page of a cursor can be read again until it expires`() throws {
    for n in 1...7 { try sample.make("Product2", ["Name": .string("P\(n)")]) }
    let soql = "SELECT Name FROM Product2 ORDER BY Name DESC"
    let first = try sample.org.query(soql, as: sample.ada, batchSize: 3)
    #expect(first.totalSize == 7 && first.count == 3)
    let locator = try #require(first.locator)
    #expect(locator.hasSuffix("-3"))
    let cursor = locator.split(separator: "-")[0]
    let last = try sample.org.queryMore("\(cursor)-6", as: sample.ada, batchSize: 3)
    #expect(last.done && last.count == 1)
    let second = try sample.org.queryMore(locator, as: sample.ada, batchSize: 3)
    let names = try #require(try JSONValue(parsing: second.records).array).map {
      $0["Name"]?.string
    }
    #expect(names == ["P4", "P3", "P2"] && second.locator == "\(cursor)-6")
    for user in [sample.ben, sample.admin] {
      #expect(throws: OrgError.self) { try sample.org.queryMore(locator, as: user) }
    }
    try sample.org.expireCursors()
    let error = #expect(throws: OrgError.self) { try sample.org.queryMore(locator, as: sample.ada) }
    #expect(error?.code == "INVALID_QUERY_LOCATOR")
  }

  @Test func `the eleventh open cursor of a user closes the first`() throws {
    for n in 1...3 { try sample.make("Product2", ["Name": .string("P\(n)")]) }
    let locators = try (0..<11).map { _ in
      try #require(
        sample.org.query("SELECT Id FROM Product2", as: sample.ada, batchSize: 1).locator)
    }
    #expect(throws: OrgError.self) { try sample.org.queryMore(locators[0], as: sample.ada) }
    #expect(try sample.org.queryMore(locators[1], as: sample.ada, batchSize: 1).count == 1)
  }
}
