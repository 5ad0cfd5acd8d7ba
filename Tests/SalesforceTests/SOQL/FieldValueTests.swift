import JSON
import Salesforce
import Testing

@Suite struct FieldValueTests {
  @Test(arguments: [
    ("\"05\"", "5", true), ("\"-05\"", "-5.0", true), ("\"00\"", "0", true),
    ("\"00.5\"", "0.5", true), ("\"50\"", "5", false), ("\"05\"", "\"5\"", false),
    ("5", "\"05\"", false), ("\"0x5\"", "5", false), ("\"05\"", "null", false),
    ("\"a\"", "\"a \"", true),
  ])
  func `a numeric field keeps a number with leading zeros`(
    _ sent: String, _ held: String, _ expected: Bool
  ) throws {
    let (sent, held) = (try JSONValue(parsing: sent), try JSONValue(parsing: held))
    #expect(FieldValue.isKept(sent, as: held) == expected)
  }

  @Test(arguments: [
    ("1", "1.0", true), ("1e2", "100", true), ("12345678901234567", "12345678901234568", false),
    ("1234567890123456.77", "1234567890123456.78", false),
    ("9007199254740993.0", "9007199254740992", false),
    ("-0.50", "-5e-1", true), ("0", "-0.0", true), ("1e400", "1e401", false),
    ("\"\"", "null", true), ("\"a  \"", "\"a\"", true), ("\" a\"", "\"a\"", false),
    ("\"2026-01-01T00:00:00.000+0000\"", "\"2026-01-01T00:00:00Z\"", true),
    ("\"001000000000001\"", "\"001000000000001AAA\"", true), ("true", "\"true\"", true),
    ("\"a\\r\\nb\"", "\"a\\nb\"", true), ("false", "null", false),
    ("\"TRUE\"", "true", true), ("\"false\"", "false", true), ("\"false\"", "true", false),
    ("\"false\"", "null", false), ("\"yes\"", "true", false), ("\"1\"", "true", false),
    ("\"12.50\"", "12.5", true), ("12", "\"1.2e1\"", true), ("\"012\"", "12", false),
    ("\"12\"", "13", false), ("\"twelve\"", "12", false), ("\"true\"", "\"TRUE\"", false),
    ("\"2026-01-05T10:30:00.000+0000\"", "\"2026-01-05\"", true),
    ("\"2026-01-05T23:30:00-05:00\"", "\"2026-01-05\"", true),
    ("\"2026-01-05T10:30:00Z\"", "\"2026-01-06\"", false),
    ("\"2026-01-05\"", "\"2026-01-05T10:30:00.000+0000\"", false),
    ("\"2026-01-05T10:30:00.123Z\"", "\"2026-01-05T10:30:00.000+0000\"", true),
    ("\"2026-01-05T10:30:00.000Z\"", "\"2026-01-05T10:30:00.123+0000\"", false),
    ("\"1969-12-31T23:59:58.500Z\"", "\"1969-12-31T23:59:58.000+0000\"", true),
    ("\"2026-01-05T10:30:01.000Z\"", "\"2026-01-05T10:30:00.000+0000\"", false),
    ("\"13:30:00Z\"", "\"13:30:00.000Z\"", true), ("\"13:30:00\"", "\"13:30:00.000Z\"", true),
    ("\"13:30:00.250Z\"", "\"13:30:00.25Z\"", true),
    ("\"13:30:00.250Z\"", "\"13:30:00.000Z\"", false), ("\"13:30:00.Z\"", "\"13:30:00Z\"", false),
    ("\"13:30:01Z\"", "\"13:30:00Z\"", false), ("\"13-30-00Z\"", "\"13-30-00\"", false),
    ("\"12345678.0\"", "\"12345678\"", false),
    ("\"2026-01-05 or so, at noon\"", "\"2026-01-05\"", false),
    ("\"a \\r\\n\"", "\"a\"", true), ("\"a\\n\\r\"", "\"a\"", true), ("\"\\r\"", "null", true),
    ("\"\\r\\n\"", "null", true), ("\"\\ra\"", "\" a\"", false),
  ])
  func `values are compared as in the org`(_ one: String, _ other: String, _ same: Bool) throws {
    #expect(FieldValue.isSame(try JSONValue(parsing: one), try JSONValue(parsing: other)) == same)
  }
}
