import LocalOrg
import Testing

@Suite struct QueryTableTests {
  /// Read-only: shared by all cases.
  static let shared = Result { try QueryTests.filled() }

  static let cases: [(String, [String])] = [
    ("", ["Alpha", "beta", "Gamma_1", "O'Neill"]), ("WHERE Name = 'ALPHA'", ["Alpha"]),
    ("WHERE Name != 'alpha'", ["beta", "Gamma_1", "O'Neill"]),
    ("where industry != 'Energy'", ["beta", "Gamma_1"]),
    ("WHERE NOT Industry = 'Energy'", ["beta", "Gamma_1"]), ("WHERE Industry = null", ["Gamma_1"]),
    ("WHERE Industry != null AND NumberOfEmployees = NULL", ["O'Neill"]),
    ("WHERE Industry = ''", ["Gamma_1"]), ("WHERE Name LIKE '%A'", ["Alpha", "beta"]),
    ("WHERE Name LIKE 'gamma\\_%'", ["Gamma_1"]), ("WHERE (NOT Name LIKE '%a%')", ["O'Neill"]),
    ("WHERE Name = 'O\\'Neill'", ["O'Neill"]),
    ("WHERE Name IN ('alpha', 'O\\'Neill', 'nobody')", ["Alpha", "O'Neill"]),
    ("WHERE Industry IN ('Retail', null)", ["beta", "Gamma_1"]),
    ("WHERE Industry NOT IN ('Retail')", ["Alpha", "Gamma_1", "O'Neill"]),
    ("WHERE NumberOfEmployees > 10", ["beta"]),
    ("WHERE NumberOfEmployees >= 10 AND NumberOfEmployees<200", ["Alpha"]),
    ("WHERE NOT (NumberOfEmployees > 10)", ["Alpha", "Gamma_1", "O'Neill"]),
    ("WHERE NOT (NumberOfEmployees > 10 OR Name = 'alpha')", ["Gamma_1", "O'Neill"]),
    ("WHERE (Name = 'alpha' OR Name = 'beta') AND Industry = 'Retail'", ["beta"]),
    ("WHERE Parent.Name = 'alpha'", ["O'Neill"]),
    ("WHERE Parent.Name != 'x'", ["Alpha", "beta", "Gamma_1", "O'Neill"]),
    ("WHERE Parent.Owner.Username = 'admin@example.com'", ["O'Neill"]),
    ("WHERE Id IN (SELECT AccountId FROM Contact WHERE LastName = 'young')", ["Alpha"]),
    (
      "WHERE Id NOT IN (SELECT AccountId FROM Contact WHERE AccountId != null)",
      ["beta", "Gamma_1", "O'Neill"]
    ),
    ("WHERE CreatedDate = TODAY", ["Alpha", "beta", "Gamma_1", "O'Neill"]),
    ("WHERE CreatedDate < TODAY", []),
    ("WHERE CreatedDate >= LAST_N_DAYS:3 AND CreatedDate != YESTERDAY AND Name < 'b'", ["Alpha"]),
    ("WHERE CreatedDate = THIS_WEEK AND CreatedDate > LAST_MONTH AND Name = 'beta'", ["beta"]),
    ("WHERE LastModifiedDate > 2023-11-14T22:13:22.000Z", ["Gamma_1", "O'Neill"]),
    ("WHERE LastModifiedDate <= 2023-11-14T23:13:21.000+01:00", ["Alpha"]),
    ("WHERE LastModifiedDate <= 2023-11-14T15:13:21-0700", ["Alpha"]),
    ("ORDER BY Name DESC", ["O'Neill", "Gamma_1", "beta", "Alpha"]),
    ("ORDER BY Industry, Name DESC", ["Gamma_1", "O'Neill", "Alpha", "beta"]),
    ("ORDER BY Industry DESC NULLS LAST, Name", ["beta", "Alpha", "O'Neill", "Gamma_1"]),
    ("ORDER BY Parent.Name NULLS LAST, Id DESC", ["O'Neill", "Gamma_1", "beta", "Alpha"]),
    ("ORDER BY Name LIMIT 2", ["Alpha", "beta"]),
    ("ORDER BY Name LIMIT 2 OFFSET 1", ["beta", "Gamma_1"]),
    ("USING SCOPE mine WHERE Name = 'beta' LIMIT 1 FOR VIEW", ["beta"]),
    ("a WHERE a.Name = 'beta'", ["beta"]), ("WHERE Account.Name = 'beta'", ["beta"]),
    ("WHERE Name  =\n'beta'\tALL ROWS", ["beta"]),
  ]

  @Test(arguments: cases)
  func `a query returns the matching records, in order`(rest: String, names: [String]) throws {
    let soql = "SELECT Name FROM Account " + rest
    #expect(try Self.shared.get().column(soql) == names, "\(soql)")
  }

  static let failures: [(String, String, String)] = [
    ("SELECT Nme FROM Account", "INVALID_FIELD", "Row:1:Column:8\nNo such column 'Nme' on entity"),
    ("SELECT Name FROM Acount", "INVALID_TYPE", "sObject type 'Acount' is not supported"),
    ("SELECT Name, FROM Account", "MALFORMED_QUERY", "unexpected token: 'FROM'"),
    ("SELECT Name FROM Account WHERE", "MALFORMED_QUERY", "unexpected token: '<EOF>'"),
    (
      "SELECT Id FROM Account WHERE Name = 'a' AND Name = 'b' OR Name = 'c'", "MALFORMED_QUERY",
      "unexpected token: 'OR'"
    ),
    ("SELECT Id FROM Account WHERE Name IN ('a',)", "MALFORMED_QUERY", "unexpected token: ')'"),
    ("SELECT Id FROM Account WHERE Name = 'a", "MALFORMED_QUERY", "<EOF>"),
    ("SELECT Id FROM Account WHERE Name = \"a\"", "MALFORMED_QUERY", "character '\"'"),
    ("SELECT Id FROM Account WHERE Name = 5", "INVALID_FIELD", "should be enclosed in quotes"),
    ("SELECT Id FROM Account WHERE IsDeleted = 'x'", "INVALID_FIELD", "of type boolean"),
    ("SELECT Id FROM Account WHERE Foo.Name = 'x'", "INVALID_FIELD", "relationship 'Foo'"),
    ("SELECT Id, (SELECT Id FROM Foos) FROM Account", "INVALID_FIELD", "relationship 'Foos'"),
    ("SELECT Id FROM Account WHERE Id = 'x'", "INVALID_QUERY_FILTER_OPERATOR", "invalid ID field"),
    ("SELECT Id FROM Account WHERE Description = 'x'", "INVALID_FIELD", "can not be filtered"),
    ("SELECT Id, id FROM Account", "INVALID_FIELD", "duplicate field selected"),
    ("SELECT Id FROM Account OFFSET 2001", "NUMBER_OUTSIDE_VALID_RANGE", "2000"),
    ("SELECT FIELDS(ALL) FROM Account", "MALFORMED_QUERY", "at most 200"),
  ]

  @Test(arguments: failures) func `an invalid query is refused with an org's message`(
    soql: String, code: String, words: String
  ) throws {
    let sample = try Self.shared.get()
    let error = #expect(throws: OrgError.self) { _ = try sample.records(soql) }
    #expect(error?.code == code)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }
}
