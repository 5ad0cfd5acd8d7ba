import Salesforce
import Testing

@Suite struct SOQLVariablesTests {
  @Test(arguments: [
    ("WHERE OwnerId = :userId", "WHERE OwnerId = '005'"),
    ("WHERE (A = :userId OR B=:region)", "WHERE (A = '005' OR B='North')"),
    ("WHERE A = ':userId' AND D > LAST_N_DAYS:30", "WHERE A = ':userId' AND D > LAST_N_DAYS:30"),
    ("WHERE D > LAST_N_DAYS:userId", "WHERE D > LAST_N_DAYS:userId"),
    ("WHERE D > 2024-01-31T12:34:56Z", "WHERE D > 2024-01-31T12:34:56Z"),
    (#"WHERE A = 'it\'s :userId'"#, #"WHERE A = 'it\'s :userId'"#),
  ])
  func `a variable outside quotes becomes its literal`(_ query: String, _ expected: String) throws {
    let variables = ["userId": "'005'", ":region": "'North'"]
    #expect(try SOQLVariables.substitute(variables, in: query) == expected)
  }

  @Test func `a text is one literal, whatever it contains`() {
    #expect(SOQLLiteral.text("O'Neil") == #"'O\'Neil'"#)
    #expect(SOQLLiteral.text(#"a\' OR Name != 'b"#) == #"'a\\\' OR Name != \'b'"#)
    #expect(SOQLLiteral.text("a\nb\tc\r") == #"'a\nb\tc\r'"#)
  }

  @Test func `a variable without a value is rejected by name`() {
    #expect { try SOQLVariables.substitute([:], in: "WHERE A = :missing") } throws: {
      "\($0)".contains(":missing")
    }
  }
}
