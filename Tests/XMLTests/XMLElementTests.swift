import Testing
import XML

@Suite struct XMLElementTests {
  private func read(_ text: String) -> XMLElement? { XMLElement(parsing: Array(text.utf8)) }

  @Test func `elements, texts and names are read with any prefixes or attributes`() throws {
    let root = try #require(
      read(
        """
        \u{FEFF}<?xml version="1.0" encoding="UTF-8"?><!-- < a > -->
        <s:Envelope xmlns:s='urn:a"b' x = "1&amp;2">
          <s:Body><r.s-1><id>a</id ><id>b</id><empty/><ids xsi:nil="true" /></r.s-1></s:Body>
        </s:Envelope> <!-- end -->
        """))
    #expect(root.name == "Envelope")
    let result = try #require(root.child("Body")?.child("r.s-1"))
    #expect(result.children.map(\.name) == ["id", "id", "empty", "ids"])
    #expect(result.children.map(\.text) == ["a", "b", "", ""])
    #expect(result.child("none") == nil)
  }

  @Test(arguments: [
    ("a &amp; &lt;b&gt; &quot;&apos;", "a & <b> \"'"), ("&#228;&#xE4;&#x1F6B2;", "ää🚲"),
    ("x<![CDATA[<&amp;>]]>y", "x<&amp;>y"), ("a<!-- no -->b", "ab"), (" é\n", " é\n"), ("", ""),
  ])
  func `references and sections in a text are decoded`(_ written: String, _ text: String) {
    #expect(read("<a>\(written)</a>")?.text == text)
  }

  @Test(arguments: [
    "", "x", "<a>", "<a></b>", "<a></a", "<a/><b/>", "<a/>x", "x<a/>", "<a b></a>", "<a b=c/>",
    "<a b='1'c='2'", "<a b='<'/>", "<a>&nbsp;</a>", "<a>&amp</a>", "<a>&#0x;</a>",
    "<a>&#xD800;</a>", "<a>&#-1;</a>", "<a>&#;</a>", "<!DOCTYPE a><a/>", "<a><?php ?></a>",
    "<a><!-- </a>", "<a><![CDATA[</a>", "<1/>", "<a>\u{1}</a>", "<?xml <a/>", "< a/>",
    "<a><b></a></b>", "<a:b></c:b>", "<a b='1'/ >",
  ])
  func `XML that is malformed, or has more than a response needs, is rejected`(_ text: String) {
    #expect(read(text) == nil)
  }

  @Test func `invalid UTF-8 and unclosed elements are rejected`() {
    #expect(XMLElement(parsing: [0x3C, 0x61, 0x3E, 0xFF, 0x3C, 0x2F, 0x61, 0x3E]) == nil)
    let depth = 100_000
    #expect(
      read(String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)) == nil)
    #expect(read(String(repeating: "<a>", count: 32) + String(repeating: "</a>", count: 32)) != nil)
  }
}
