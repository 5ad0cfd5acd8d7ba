import Salesforce
import Testing

/// Rows 73–78 of the conformance table (SOQLMutatorTest, SFSDKSoqlMutatorTests).
@Suite struct SOQLTokensTests {
  private func joined(_ text: String) -> String { SOQLTokens.tokenize(text).joined(separator: "#") }

  // SDK: testTokenizeBasic (73)
  @Test func `words and runs of white space are tokens`() {
    #expect(joined("hello world") == "hello# #world")
    #expect(joined("a bb:  c   d") == "a# #bb:#  #c#   #d")
  }

  // SDK: testTokenizeWithOrderGroupBy (74)
  @Test func `order by and group by are one token with any white space between`() {
    #expect(joined("a order by b") == "a# #order by# #b")
    #expect(joined("a GROUP  BY b") == "a# #group by# #b")
    #expect(joined("a other by b") == "a# #other# #by# #b")
    #expect(joined("a order\n by b order") == "a# #order by# #b# #order")
  }

  // SDK: testTokenizeWithQuotes (75)
  @Test func `a quoted value is one token, including escaped quotes`() {
    #expect(joined("a 'b c'") == "a# #'b c'")
    #expect(joined(#"a 'b \' c' d"#) == #"a# #'b \' c'# #d"#)
    #expect(joined(#"a 'b\\' d"#) == #"a# #'b\\'# #d"#)
  }

  // SDK: testTokenizeWithParentheses (76)
  @Test func `a group is one token with its nested content`() {
    #expect(joined("a (b c)") == "a# #(b c)")
    #expect(joined("a (b (c d) e),(f g)") == "a# #(b (c d) e)#,#(f g)")
  }

  // SDK: testTokenizeWithQuotesInParentheses (77)
  @Test func `a quoted value in a group belongs to it`() {
    #expect(joined("a (b 'c') d") == "a# #(b 'c')# #d")
    #expect(joined("a (b (c ')' d)) e") == "a# #(b (c ')' d))# #e")
  }

  // SDK: testTokenizeWithParenthesesInQuotes (78)
  @Test func `parentheses in a quoted value are text`() {
    #expect(joined("a '( ) )))' b") == "a# #'( ) )))'# #b")
  }

  @Test func `an incomplete text is kept completely`() {
    #expect(joined("a 'b") == "a# #'b")
    #expect(joined("a (b") == "a# #(b")
    #expect(joined(#"a 'b\"#) == #"a# #'b\"#)
    #expect(joined("") == "")
  }
}
