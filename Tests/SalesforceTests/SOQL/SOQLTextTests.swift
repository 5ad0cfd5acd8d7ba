import Salesforce
import Testing

/// Rows 46–72 of the conformance table (SOQLMutatorTest, SFSDKSoqlMutatorTests).
@Suite struct SOQLTextTests {
  // SDK: testMutatorNoChange (46)
  @Test func `a query in normal form is written unchanged`() throws {
    let text =
      "select Id, Name from Account where Id in (select Id from Account) "
      + "and Name like 'A%' limit 10"
    #expect(try SOQLText(text).text == text)
  }

  // SDK: testSelectFieldPresenceWhenPresent (47), testSelectFieldPresenceWhenAbsent (48)
  // SDK: testSelectFieldPresenceWhenPresentInWhereClause (49)
  // SDK: testSelectFieldPresenceWhenPresentInSubquery (50)
  // SDK: testSelectFieldPresenceWhenPresentAsSubstring (51)
  @Test(arguments: [
    ("SELECT Id, Name FROM Account", "Name", true), ("SELECT Id,Name FROM Account", "Id", true),
    ("SELECT Id FROM Account", "Phone", false),
    ("SELECT Id FROM Account WHERE Name = 'a'", "Name", false),
    ("SELECT Name, (SELECT LastName FROM Contacts) FROM Account", "LastName", false),
    ("SELECT LastName FROM Contact", "Name", false),
    // Beyond the SDK: case, aliases, FIELDS().
    ("SELECT id FROM Account", "Id", true), ("SELECT a.Id FROM Account a", "Id", true),
    ("SELECT a.Id FROM Account AS a, a.Contacts c", "Id", true),
    ("SELECT Owner.Id FROM Account", "Id", false),
    ("SELECT FIELDS(ALL) FROM Account LIMIT 200", "LastModifiedDate", true),
    ("SELECT FIELDS(CUSTOM) FROM Account LIMIT 200", "LastModifiedDate", false),
  ])
  func `a selected field is found on the top level only`(
    _ query: String, _ field: String, _ expected: Bool
  ) throws { #expect(try SOQLText(query).selects(field) == expected) }

  @Test(arguments: [
    ("Account", true), ("Acc ount", true), ("Account AS a", true),
    ("ns__Visit__c WHERE Id != ''", true),
    ("Contact c, c.Account a, a.Owner o", true), ("Article__kav UPDATE VIEWSTAT", true),
    ("Account USING SCOPE mine", true), ("Ac-count", false), ("'Account'", false),
    ("My Object__c x y", false), ("Account WHRE Name = 'a'", false), ("c.Account a", false),
    ("Account,", false), ("Account, a.Ow-ner o", false), ("1Account", false),
    ("Account a-b", false),
  ])
  func `a FROM clause names an object`(_ from: String, _ expected: Bool) throws {
    #expect(try (SOQLText("SELECT Id FROM \(from)").wrongFrom == nil) == expected)
  }

  // SDK: testOrderByPresenceWhenPresent (52), testOrderByPresenceWhenPresentInSubquery (53)
  // SDK: testOrderByPresenceWhenAbsent (54), testOrderByPresenceWhenOrderingBySomethingElse (55)
  @Test(arguments: [
    ("SELECT Id FROM A ORDER BY LastModifiedDate", true),
    ("SELECT Id FROM A WHERE Id IN (SELECT Id FROM B ORDER BY LastModifiedDate)", false),
    ("SELECT Id FROM A", false), ("SELECT Id FROM A ORDER BY Name", false),
    ("SELECT Id FROM A ORDER BY LastModifiedDate ASC", false),
  ])
  func `ordered by a field means by that field only`(_ query: String, _ expected: Bool) throws {
    #expect(try SOQLText(query).isOrdered(by: "LastModifiedDate") == expected)
  }

  // SDK: testAddSelectField (56)
  @Test func `fields are added before the others`() throws {
    var query = try SOQLText("SELECT Description FROM Account")
    query.addField("Name")
    query.addField("Id")
    #expect(query.text == "select Id,Name,Description from Account")
  }

  // SDK: testReplaceSelectField (57)
  @Test func `the select list is replaced`() throws {
    var query = try SOQLText("SELECT Description FROM Account")
    query[.select] = "Id"
    #expect(query.text == "select Id from Account")
  }

  // SDK: testAddWherePredicateWhenWhereClausePresent (58)
  // SDK: testAddWherePredicateWhenWhereClauseAbsent (59)
  @Test func `a condition is added before the others`() throws {
    var query = try SOQLText("SELECT Id FROM A WHERE B = 'x' AND C = 'y'")
    query.addCondition("D > 1")
    #expect(query.text == "select Id from A where D > 1 and B = 'x' AND C = 'y'")
    query = try SOQLText("SELECT Id FROM A")
    query.addCondition("D > 1")
    #expect(query.text == "select Id from A where D > 1")
  }

  // The SDK leaves the OR open; here it is parenthesized.
  //
  // SDK: testAddWherePredicateToQueryWithOrClause (72)
  @Test(arguments: [
    ("B = 1 OR C = 2", "D > 1 and (B = 1 OR C = 2)"), ("NOT B = 1", "D > 1 and (NOT B = 1)"),
    ("(B = 1 or C = 2)", "D > 1 and (B = 1 or C = 2)"), ("B = ' or '", "D > 1 and B = ' or '"),
    ("B NOT IN ('x')", "D > 1 and (B NOT IN ('x'))"),
  ])
  func `an unparenthesized OR or NOT gets parentheses`(_ conditions: String, _ expected: String)
    throws
  {
    var query = try SOQLText("SELECT Id FROM A WHERE \(conditions)")
    query.addCondition("D > 1")
    #expect(query.text == "select Id from A where \(expected)")
  }

  // SDK: testReplaceOrderByWhenAbsent (60), testReplaceOrderByWhenPresent (61)
  // SDK: testReplaceOrderByWhenLimit (62), testDropOrderBy (63), testDropOrderByWhenLimit (64)
  @Test(arguments: [
    ("SELECT Id FROM A", "M", "select Id from A order by M"),
    ("SELECT Id FROM A ORDER BY N", "M", "select Id from A order by M"),
    ("SELECT Id FROM A LIMIT 10", "M", "select Id from A order by M limit 10"),
    ("SELECT Id FROM A ORDER BY N", "", "select Id from A"),
    ("SELECT Id FROM A ORDER BY N LIMIT 10", "", "select Id from A limit 10"),
  ])
  func `the order is replaced or removed`(
    _ query: String, _ order: String, _ expected: String
  ) throws {
    var query = try SOQLText(query)
    query[.orderBy] = order
    #expect(query.text == expected)
  }

  // SDK: testHasOrderByWhenPresent (65), testHasOrderByWhenPresentInSubquery (66)
  // SDK: testHasOrderByWhenPresentInValue (67), testHasOrderByWhenAbsent (68)
  @Test(arguments: [
    ("SELECT Id FROM A ORDER BY B LIMIT 10", true),
    ("SELECT Id FROM A WHERE Id IN (SELECT Id FROM B ORDER BY C) LIMIT 10", false),
    (#"SELECT Id FROM A WHERE B = ' order by \' order by \''"#, false),
    ("SELECT Id FROM A LIMIT 10", false),
    ("SELECT Id FROM A ORDER\n\tBY B", true),
  ])
  func `an order is found on the top level only`(_ query: String, _ expected: Bool) throws {
    #expect((try SOQLText(query)[.orderBy] != nil) == expected)
  }

  // SDK: testModifyQueryWithInClause (69), testModifyQueryWithComplexExpressions (70)
  @Test(arguments: [
    "Id IN ('001000000000001AAA','001000000000002AAA')",
    "((A = 'b c') or (A = 'd')) and (E like '%f%')",
  ])
  func `text in parentheses is not changed`(_ conditions: String) throws {
    var query = try SOQLText("select Name from Account where \(conditions) order by Name")
    query.addField("LastModifiedDate")
    query.addField("Id")
    query[.orderBy] = "LastModifiedDate"
    #expect(
      query.text == "select Id,LastModifiedDate,Name from Account where \(conditions) "
        + "order by LastModifiedDate")
  }

  // SDK: testModifyOrderByTwiceInComplexQuery (71)
  @Test func `replacing the order twice equals replacing it once`() throws {
    let conditions =
      "(OwnerId = '<<x>>' OR (What.Type = 'Account' AND (A.B = 'c' OR A.D.E = 'f'))) "
      + "AND (LastModifiedDate > 2019-05-15T07:52:27.000Z )"
    var query = try SOQLText(
      "select LastModifiedDate,Id, WhoId from Task where \(conditions) order by Description")
    query[.orderBy] = "LastModifiedDate"
    query[.orderBy] = "LastModifiedDate"
    #expect(
      query.text == "select LastModifiedDate,Id, WhoId from Task where \(conditions) "
        + "order by LastModifiedDate")
  }

  // SDK: testQueryWithFromField (41)
  @Test func `a field whose name starts with FROM is a field`() throws {
    let text = "SELECT From_customer__c, Id FROM Account"
    #expect(try SOQLText(text).text == "select From_customer__c, Id from Account")
  }

  @Test func `clauses that the SDK does not know keep their position`() throws {
    var query = try SOQLText(
      "SELECT Id FROM Account USING SCOPE mine WHERE A = 1 WITH SECURITY_ENFORCED "
        + "ORDER BY B LIMIT 5 OFFSET 2 FOR VIEW")
    query.addCondition("C > 2")
    #expect(
      query.text == "select Id from Account using scope mine where C > 2 and A = 1 "
        + "with SECURITY_ENFORCED order by B limit 5 offset 2 for VIEW")
    #expect(query.limit == 5)
  }

  @Test func `tabs and line ends are white space`() throws {
    let query = try SOQLText("SELECT\n\tId,\n\tName\nFROM\n\tAccount\r\nWHERE Name = 'a\tb'")
    #expect(query.selectedFields == ["Id", "Name"])
    #expect(query.objectName == "Account")
    #expect(query[.where] == "Name = 'a\tb'")
  }

  @Test(arguments: ["", "SELECT Id", "FROM Account", "SELECT FROM Account", "SELECT Id FROM"])
  func `a query without SELECT or FROM is rejected`(_ text: String) {
    #expect(throws: SOQLError.self) { try SOQLText(text) }
  }
}
