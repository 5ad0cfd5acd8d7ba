import Testing

import JSON

@Suite struct JSONNumbersTests {
  private func areSame(_ one: String, _ other: String) -> Bool {
    Array(one.utf8).withUnsafeBytes { one in
      Array(other.utf8).withUnsafeBytes { JSONNumbers.areSameButForSpelling(one, $0) }
    }
  }

  @Test(arguments: [
    ("10000000", "1.0E7", true), ("1.0e+7", "10000000.00", true), ("0.00010", "1E-4", true),
    ("-0", "0.0", true), ("-12.5", "-1.25E1", true), ("0e9", "0", true),
    ("12345678901234567", "12345678901234568", false), ("1E400", "1E401", false),
    ("-1", "1", false), ("1", "1.01", false), ("10", "1", false), ("01", "1", false),
    ("1E99999999999999999999", "1", false),
  ])
  func `numbers are compared by value, exactly`(one: String, other: String, isSame: Bool) {
    for (one, other) in [(one, other), (other, one)] {
      #expect(areSame(one, other) == isSame)
      #expect(areSame(#"{"a":[\#(one)],"b":true}"#, #"{"a":[\#(other)],"b":true}"#) == isSame)
      #expect(!areSame(#"{"a":[\#(one)],"b":true}"#, #"{"a":[\#(other)],"b":false}"#))
    }
  }

  @Test(arguments: [
    (#"{"a":"1.0E7"}"#, #"{"a":"10000000"}"#), (#"{"1.0":1}"#, #"{"1":1}"#),
    (#"{"a":"\"1.0"}"#, #"{"a":"\"1"}"#), (#"{"a":1}"#, #"{"a":1,"b":2}"#),
    (#"{"a":1}"#, #"{"a":"1"}"#), (#"{"a":"\\","b":1.0}"#, #"{"a":"\\","b":2.0}"#),
  ])
  func `digits in texts and names are not numbers`(one: String, other: String) {
    #expect(!areSame(one, other))
    #expect(areSame(one, one))
  }
}
