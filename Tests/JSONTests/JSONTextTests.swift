import JSON
import Testing

@Suite struct PlainJSONTests {
  @Test(arguments: [
    (#"{"Id":"\u0030\u0030\u0031"}"#, #"{"Id":"001"}"#, 0),
    (#"["\u00fc\u20AC\/"]"#, #"["ü€\/"]"#, 0),
    (#"["\ud83d\uDE80"]"#, #"["🚀"]"#, 0), (#"["\u0022\u005c"]"#, #"["\"\\"]"#, 0),
    (#"["\u0000\u001F\u007f"]"#, "[\"\\u0000\\u001F\u{7F}\"]", 0),
    (#"["\ud83d"]"#, "[\"\u{FFFD}\"]", 1), (#"["\ude80\ud83dx"]"#, "[\"\u{FFFD}\u{FFFD}x\"]", 2),
    (#"["\ud83d\ud83d\ude80"]"#, "[\"\u{FFFD}🚀\"]", 1), (#"["\ud83d\n"]"#, "[\"\u{FFFD}\\n\"]", 1),
    (#"["a\\u0041\\\u0041"]"#, #"["a\\u0041\\A"]"#, 0), (#"["\u00g0"]"#, #"["\u00g0"]"#, 0),
    (#"["\u00"#, #"["\u00"#, 0), (#"["\u0041\"#, #"["A\"#, 0),
  ])
  func `unnecessary escapes become characters, and unpaired surrogates U+FFFD`(
    json: String, expected: String, halves: Int
  ) {
    // At every position of a word, and of the words that are processed together.
    for length in 0..<40 {
      let before = String(repeating: "é", count: length % 3) + String(repeating: " ", count: length)
      let plain = JSONText.plain(Array((before + json + before).utf8))
      #expect(plain.map { String(decoding: $0.bytes, as: UTF8.self) } == before + expected + before)
      #expect(plain?.replacedHalves == halves)
    }
  }

  @Test func `JSON without such escapes is not changed`() {
    for json in ["", #"{"a":"b\n\"\\ü"}"#, #"["\\u0041"]"#, #"["\"#] {
      #expect(JSONText.plain(Array(json.utf8)) == nil)
    }
  }
}

@Suite struct JSONTextTests {
  @Test func `every character that needs an escape gets one, at every position`() throws {
    let specials: [(String, String)] = [
      ("\"", "\\\""), ("\\", "\\\\"), ("\n", "\\n"), ("\u{1F}", "\\u001f"), ("\u{0}", "\\u0000"),
    ]
    for length in 0..<20 {
      for place in 0...length {
        for (special, escaped) in specials {
          for filler in ["a", " ", "\u{7F}", "é", "!"] {
            let before = String(repeating: filler, count: place)
            let after = String(repeating: filler, count: length - place)
            let quoted = JSONText.quoted(before + special + special + after)
            #expect(quoted == "\"\(before)\(escaped)\(escaped)\(after)\"")
          }
        }
      }
    }
  }
}
